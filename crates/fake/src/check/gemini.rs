//! Gemini `generateContent`.

use axum::http::{HeaderMap, Uri};
use serde_json::Value;

use super::{Refusal, entries, filled, text};

pub(super) fn check(headers: &HeaderMap, uri: &Uri, body: &Value) -> Result<(), Refusal> {
    let in_query = uri.query().unwrap_or_default().split('&').any(|pair| pair.starts_with("key="));
    if !headers.contains_key("x-goog-api-key")
        && !headers.contains_key("authorization")
        && !in_query
    {
        return Err(Refusal::no_key("Method doesn't allow unregistered callers."));
    }
    let mut calls = 0;
    for content in filled(body, "contents")? {
        if entries(content, "parts").next().is_none() {
            return Err(Refusal::bad("contents.parts must not be empty."));
        }
        if !matches!(text(content, "role"), "" | "user" | "model" | "function") {
            return Err(Refusal::bad("Please use a valid role: user, model."));
        }
        paired(calls, count(content, "functionResponse"))?;
        calls = count(content, "functionCall");
    }
    paired(calls, 0)
}

fn paired(calls: usize, results: usize) -> Result<(), Refusal> {
    if calls == results {
        return Ok(());
    }
    Err(Refusal::bad(format!(
        "Please ensure that the number of function response parts is equal to the number of \
         function call parts of the function call turn. ({results} for {calls})"
    )))
}

fn count(content: &Value, kind: &str) -> usize {
    entries(content, "parts").filter(|part| part.get(kind).is_some()).count()
}
