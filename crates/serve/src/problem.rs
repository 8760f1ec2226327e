//! What a client is told that cannot have what it asked for.
//!
//! Codes are stable: programs may act on them. Messages are for people, and say what to do next.

use airtight_store::StoreError;
use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::act::Refusal;
use crate::door::Door;
use crate::pages;

/// The header that vendors' clients heed when they decide whether to send a request again.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// How long whoever asks too often is to wait, in seconds: what may happen is counted by the second.
const PAUSE_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// Why a client cannot have what it asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The member of the request that is to blame.
    pub(crate) parameter: Option<&'static str>,
    /// More, for programs, under names of their own.
    pub(crate) more: Vec<(&'static str, Value)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), parameter: None, more: Vec::new() }
    }

    /// Makes the answer to a request that makes no sense.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// Names the member of the request that is to blame.
    pub(crate) fn at(self, parameter: &'static str) -> Self {
        Self { parameter: Some(parameter), ..self }
    }

    /// Adds something for programs.
    pub(crate) fn with(mut self, name: &'static str, value: Value) -> Self {
        self.more.push((name, value));
        self
    }

    /// Returns it in the shape that the clients of `door` read.
    pub(crate) fn body(&self, door: Door) -> Value {
        let mut error = match door {
            Door::Api | Door::Page => json!({ "code": self.code, "message": self.message }),
            Door::OpenAi => json!({
                "message": self.message,
                "type": self.family(),
                "param": self.parameter,
                "code": self.code,
            }),
            Door::Anthropic => json!({
                "type": self.family(),
                "message": self.message,
                "code": self.code,
            }),
        };
        if let Value::Object(members) = &mut error {
            members.extend(self.more.iter().map(|(name, it)| ((*name).to_owned(), it.clone())));
        }
        match door {
            Door::Api | Door::Page | Door::OpenAi => json!({ "error": error }),
            Door::Anthropic => json!({ "type": "error", "error": error }),
        }
    }

    /// Returns the whole answer.
    pub(crate) fn response(&self, door: Door) -> Response {
        let mut response = match door {
            Door::Page => pages::fault(self),
            Door::Api | Door::OpenAi | Door::Anthropic => {
                (self.status, Json(self.body(door))).into_response()
            }
        };
        // What failed was paid for: no client must pay again by itself.
        let again = if self.is_passing() { "true" } else { "false" };
        let headers = response.headers_mut();
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(again));
        if self.is_passing() {
            headers.insert(RETRY_AFTER, PAUSE_SECONDS);
        }
        response
    }

    /// Claims that the same request may do better soon, and has cost nothing: a run that ends with the
    /// server may have been paid for.
    fn is_passing(&self) -> bool {
        self.code == "rate_limited"
    }

    /// Returns the word that vendors have for this kind of error.
    fn family(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "authentication_error",
            403 | 421 => "permission_error",
            404 | 405 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.response(Door::Api)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::from(Refusal::from(error))
    }
}
