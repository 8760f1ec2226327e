//! Which kind of client a request comes from: each reads errors in its own shape.

use axum::http::HeaderMap;

/// Which kind of client a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// A program that speaks `OpenAI`'s formats.
    OpenAi,
    /// A program that speaks Anthropic's.
    Anthropic,
    /// A program that speaks ours.
    Api,
}

impl Door {
    /// Returns the door that `path` leads to.
    pub(crate) fn of(path: &str, headers: &HeaderMap) -> Self {
        let is_anthropic =
            path.starts_with("/v1/messages") || headers.contains_key("anthropic-version");
        match path.starts_with("/v1/") {
            true if is_anthropic => Self::Anthropic,
            true => Self::OpenAi,
            false => Self::Api,
        }
    }
}
