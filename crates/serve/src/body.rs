//! What a client sends: JSON, of a bounded size, in bounded time.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use tokio::time::timeout;

use crate::problem::Problem;

/// The largest request: a long conversation and a contract of the largest size, and no more than a
/// thousand of them need memory for at once.
pub(crate) const LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// How long a request may take to come in: minutes are for those who want to hold connections.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the JSON that was sent.
pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    if !is_json(headers) {
        // Web pages of others can send every other type without being asked for permission.
        let message = "send JSON, and say so: `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message));
    }
    match timeout(PATIENCE, to_bytes(body, LIMIT_BYTES)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_large(&error) => {
            let message = format!("the request is over {LIMIT_BYTES} bytes");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
        }
        Ok(Err(_)) => Err(Problem::request("the request broke off")),
        Err(_) => {
            let message = format!("the request did not come in within {} s", PATIENCE.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message))
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        // The type is of a crate that axum does not hand on; its words are its only mark.
        if error.to_string() == "length limit exceeded" {
            return true;
        }
        next = error.source();
    }
    false
}
