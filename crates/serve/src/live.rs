//! What happens now, as it happens: one stream for each run, and one for everything.
//!
//! ```text
//! ledger ─► follower (one for each subject, polls) ─► ring of 256 ─► viewers
//!    └──────────── replay, from the number that a viewer has ────────►┘
//! ```
//!
//! The rule it protects: a viewer sees every event once, in order, or is told which ones it missed; and
//! the end of a run only once it is on record. A viewer joins the ring before it reads the ledger, and
//! drops by number what it has read. What a viewer does not read waits nowhere but in the ring, so those
//! that stall cost nothing. The ledger is polled, so that runs of other processes are seen, too.

mod board;
mod follower;
mod frame;
mod hub;
mod pace;
#[cfg(test)]
mod tests;
mod viewer;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};

use crate::problem::Problem;

pub(crate) use hub::{Hub, Subject};

/// Where a browser says which event it saw last when it connects again.
const LAST_EVENT_ID: &str = "last-event-id";

/// Returns the number that a viewer goes on after: what it saw last counts more than what it asked for
/// first.
pub(crate) fn goes_on_after(
    headers: &HeaderMap,
    asked: Option<i64>,
) -> Result<Option<i64>, Problem> {
    let refused = || {
        let message = "`Last-Event-ID` and `after` are numbers of events: 0 or more";
        Problem::request(message).at("after")
    };
    let said = match headers.get(LAST_EVENT_ID) {
        None => None,
        Some(value) if value.is_empty() => None,
        Some(value) => {
            let number = value.to_str().ok().and_then(|text| text.trim().parse::<i64>().ok());
            Some(number.ok_or_else(refused)?)
        }
    };
    match said.or(asked) {
        Some(number) if number < 0 => Err(refused()),
        number => Ok(number),
    }
}

/// Streams what happens to `subject` to one viewer.
pub(crate) async fn stream(
    hub: &Hub,
    subject: Subject,
    after: Option<i64>,
) -> Result<Response, Problem> {
    let viewer = hub.join(subject, after).await.map_err(crate::act::Refusal::from)?;
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    let mut response = ([(CONTENT_TYPE, kind)], Body::from_stream(viewer.frames())).into_response();
    // Proxies that collect an answer before they pass it on would undo the streaming (S5).
    let (name, no) = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response.headers_mut().insert(name, no);
    Ok(response)
}
