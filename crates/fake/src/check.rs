//! What each vendor refuses before it asks the model.
//!
//! Only rules that a client breaks by mistake: the key, what must be there, and that calls and
//! results match. Schemas are not judged here.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;

use crate::endpoint::Wire;

/// Why a vendor would refuse a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Refusal {
    fn bad(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, message: message.into() }
    }

    fn no_key(message: &str) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, message: message.to_owned() }
    }
}

/// Refuses what the vendor would refuse.
pub(crate) fn check(
    wire: Wire,
    headers: &HeaderMap,
    uri: &Uri,
    body: &Value,
) -> Result<(), Refusal> {
    if !body.is_object() {
        return Err(Refusal::bad("the request body is not a JSON object"));
    }
    match wire {
        Wire::Anthropic => anthropic::check(headers, body),
        Wire::Responses => responses::check(headers, body),
        Wire::Chat => chat::check(body),
        Wire::Gemini => gemini::check(headers, uri, body),
    }
}

/// Returns a list that must have something in it.
fn filled<'b>(body: &'b Value, key: &str) -> Result<&'b [Value], Refusal> {
    match body.get(key).and_then(Value::as_array) {
        Some(entries) if !entries.is_empty() => Ok(entries),
        _ => Err(Refusal::bad(format!("{key}: a list with at least one entry is required"))),
    }
}

/// Demands a string with something in it.
fn demand_text(body: &Value, key: &str) -> Result<(), Refusal> {
    match body.get(key).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(()),
        _ => Err(Refusal::bad(format!("{key}: Field required"))),
    }
}

/// Returns the entries of a list that may be absent.
fn entries<'b>(value: &'b Value, key: &str) -> impl Iterator<Item = &'b Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// Returns a string that may be absent.
fn text<'b>(value: &'b Value, key: &str) -> &'b str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Claims that a tool's name is one that Anthropic and `OpenAI` accept, up to `most` characters.
fn is_tool_name(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
