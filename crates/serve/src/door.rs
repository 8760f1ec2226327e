//! Which kind of client a request comes from: each reads errors in its own shape.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// Which kind of client a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// A program that speaks `OpenAI`'s formats.
    OpenAi,
    /// A program that speaks Anthropic's.
    Anthropic,
    /// A program that speaks ours.
    Api,
    /// A browser, for a person.
    Page,
}

impl Door {
    /// Returns the door that `path` leads to.
    pub(crate) fn of(path: &str, headers: &HeaderMap) -> Self {
        let is_anthropic =
            path.starts_with("/v1/messages") || headers.contains_key("anthropic-version");
        match path.starts_with("/v1/") {
            true if is_anthropic => Self::Anthropic,
            true => Self::OpenAi,
            false if !path.starts_with("/api/") && reads_pages(headers) => Self::Page,
            false => Self::Api,
        }
    }
}

/// Claims that whoever asks reads HTML, and says so.
fn reads_pages(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(','));
    kinds.any(|kind| kind.split(';').next().is_some_and(|it| it.trim() == "text/html"))
}
