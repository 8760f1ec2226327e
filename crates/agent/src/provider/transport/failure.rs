//! What can go wrong below the provider's own words.
//!
//! Of a URL, messages hold the host and the port, which say what to check. The rest of it is left
//! out: other people's gateways take keys in it.

use std::error::Error as _;
use std::time::Duration;

use airtight_core::codec::{FailureKind, ProviderFailure};
use airtight_core::wire::sse::SseError;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};

use crate::clock;
use crate::provider::retry_after;

fn of(kind: FailureKind, message: impl Into<String>) -> ProviderFailure {
    ProviderFailure { kind, status: None, code: None, message: message.into(), retry_after: None }
}

/// The connection to the server of `url` could not be made, or broke.
pub(super) fn of_transport(error: reqwest::Error, url: &Url) -> ProviderFailure {
    let error = error.without_url();
    let (kind, what) = if error.is_connect() {
        (FailureKind::Unreachable, "no connection to")
    } else {
        (FailureKind::Network, "lost the connection to")
    };
    of(kind, format!("{what} {}: {}", place(url), reason(&error)))
}

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Returns the last cause, the one that people know: "Connection refused", "certificate expired".
pub(super) fn reason(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

pub(super) fn stalled(awaited: &str) -> ProviderFailure {
    of(FailureKind::Network, format!("no {awaited} in time"))
}

pub(super) fn too_slow() -> ProviderFailure {
    of(FailureKind::Network, "the answer took longer than a request may")
}

pub(super) fn cut() -> ProviderFailure {
    of(FailureKind::Network, "the stream ended before the answer did")
}

pub(super) fn endless(limit_bytes: usize) -> ProviderFailure {
    of(FailureKind::Malformed, format!("the stream is over the {limit_bytes}-byte limit"))
}

pub(super) fn unreadable(error: &SseError) -> ProviderFailure {
    of(FailureKind::Malformed, format!("the stream cannot be read: {error}"))
}

/// Returns what the head alone says is wrong: a redirect, or something that is no event stream.
pub(super) fn of_head(response: &Response) -> Option<ProviderFailure> {
    let status = response.status();
    if status.is_redirection() {
        let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let host = target.and_then(|target| Url::parse(target).ok());
        let host = host.as_ref().and_then(Url::host_str).unwrap_or("another address");
        let message = format!("it redirects to {host}; the base URL must name it directly");
        let status = Some(status.as_u16());
        return Some(ProviderFailure { status, ..of(FailureKind::Request, message) });
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok())?;
    let kind = kind.split(';').next().unwrap_or(kind).trim().to_ascii_lowercase();
    // Servers that name no type, or plain text, are heard out; a page is not an answer.
    let is_page = matches!(kind.as_str(), "text/html" | "application/json" | "application/xml");
    (status.is_success() && is_page).then(|| {
        let message = format!("{kind} instead of an event stream");
        ProviderFailure { status: Some(status.as_u16()), ..of(FailureKind::Malformed, message) }
    })
}

/// Returns the pause that the provider asks for.
pub(super) fn asked_pause(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let exact = text("retry-after-ms").and_then(|value| value.trim().parse().ok());
    exact
        .map(Duration::from_millis)
        .or_else(|| retry_after(text(RETRY_AFTER.as_str())?, clock::now()))
}
