//! What a client sends: JSON, of a bounded size, in bounded time.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::problem::Problem;

/// The largest request: a long conversation and a contract of the largest size, and no more than a
/// thousand of them need memory for at once.
pub(crate) const LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// How long a request may take to come in: minutes are for those who want to hold connections.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads the JSON that was sent.
pub(crate) async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    if !is_kind(headers, "application/json") {
        // Web pages of others can send every other type without being asked for permission.
        let message = "send JSON, and say so: `Content-Type: application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message));
    }
    in_time(collect(body)).await
}

/// Reads the form that one of our own pages sent; the guard has seen to it that it is one of ours.
pub(crate) async fn read_form(headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    if !is_kind(headers, "application/x-www-form-urlencoded") {
        let message = "send a form: `Content-Type: application/x-www-form-urlencoded`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "no_form", message));
    }
    in_time(collect(body)).await
}

async fn in_time(reading: impl Future<Output = Result<Bytes, Problem>>) -> Result<Bytes, Problem> {
    timeout(PATIENCE, reading).await.unwrap_or_else(|_| {
        let message = format!("the request did not come in within {} s", PATIENCE.as_secs());
        Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message))
    })
}

async fn collect(body: Body) -> Result<Bytes, Problem> {
    let mut collected = BytesMut::new();
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Problem::request("the request broke off"))?;
        if collected.len() + piece.len() > LIMIT_BYTES {
            let message = format!("the request is over {LIMIT_BYTES} bytes");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
        }
        collected.extend_from_slice(&piece);
    }
    Ok(collected.freeze())
}

fn is_kind(headers: &HeaderMap, wanted: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case(wanted)
}
