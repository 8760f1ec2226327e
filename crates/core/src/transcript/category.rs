//! What kind of failure a program reports.
//!
//! A status decides before the program's own word for the error, and that before keywords in its
//! text: a real 401 of claude says `Invalid API key · Fix external API key`, without a number in it.

use serde::Serialize;

use crate::codec::FailureKind;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Category {
    /// Too many requests.
    #[serde(rename = "rate_limit")]
    RateLimit,
    /// The key is missing, wrong or not allowed.
    #[serde(rename = "auth")]
    Auth,
    /// Anything else that the program reports.
    #[serde(rename = "api")]
    Api,
    /// The model asked the user something, and nobody answered. Advisory.
    #[serde(rename = "interactive")]
    Interactive,
    /// The program ended while background work was going on. Advisory.
    #[serde(rename = "background-task")]
    BackgroundTask,
    /// The process failed, and said nothing.
    #[serde(rename = "subprocess")]
    Subprocess,
    /// The process took too long.
    #[serde(rename = "timeout")]
    Timeout,
}

/// What decides on the category of a failure, the best first.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence<'e> {
    /// The HTTP status.
    pub(super) status: Option<u64>,
    /// The program's own word.
    pub(super) word: Option<&'e str>,
}

/// Words that mean a rate limit; they decide before those of [`AUTH`].
const RATE_LIMIT: [&str; 6] =
    ["rate limit", "rate-limit", "rate_limit", "too many requests", "quota", "resource_exhausted"];

/// Words that mean a key.
const AUTH: [&str; 14] = [
    "unauthorized",
    "unauthenticated",
    "authentication",
    "auth error",
    "anthropic_api_key",
    "openai_api_key",
    "gemini_api_key",
    "invalid api key",
    "incorrect api key",
    "api key not valid",
    "invalid_api_key",
    "not logged in",
    "permission_denied",
    // What codex says of a model that needs a key: `… when using Codex with a ChatGPT account`.
    "with a chatgpt account",
];

impl Category {
    /// Decides what a failure is, by its status, its word, or its text.
    pub(super) fn of(text: &str, evidence: Evidence<'_>) -> Self {
        let by_status = evidence.status.and_then(|status| u16::try_from(status).ok());
        if let Some(status) = by_status {
            return match FailureKind::of_status(status) {
                FailureKind::RateLimit => Self::RateLimit,
                FailureKind::Auth => Self::Auth,
                FailureKind::Overload
                | FailureKind::Request
                | FailureKind::Unreachable
                | FailureKind::Network
                | FailureKind::Stalled
                | FailureKind::Malformed
                | FailureKind::Program
                | FailureKind::Unfit
                | FailureKind::Rejected
                | FailureKind::TurnCap
                | FailureKind::Budget => Self::Api,
            };
        }
        match evidence.word {
            Some("rate_limit") => Self::RateLimit,
            Some("authentication_failed" | "oauth_org_not_allowed") => Self::Auth,
            Some("server_error" | "invalid_request" | "model_not_found" | "billing_error") => {
                Self::Api
            }
            _ => Self::of_text(text),
        }
    }

    fn of_text(text: &str) -> Self {
        let text = text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&RATE_LIMIT) || holds_number(&text, "429") {
            return Self::RateLimit;
        }
        if says(&AUTH) || holds_number(&text, "401") || holds_number(&text, "403") {
            return Self::Auth;
        }
        Self::Api
    }
}

/// Claims that `number` stands in `text` and is no part of a longer one.
fn holds_number(text: &str, number: &str) -> bool {
    let is_digit = |character: Option<char>| character.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(number).any(|(start, found)| {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let behind = text.get(start + found.len()..).and_then(|behind| behind.chars().next());
        !is_digit(before) && !is_digit(behind)
    })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("API Error: Request rejected (429) · slow down" => Category::RateLimit)]
    #[test_case("Rate Limit exceeded" => Category::RateLimit)]
    #[test_case("rate-limit" => Category::RateLimit)]
    #[test_case("401 and 429" => Category::RateLimit; "both families")]
    #[test_case("Resource has been exhausted (e.g. check quota)." => Category::RateLimit)]
    #[test_case("API Error: 401" => Category::Auth)]
    #[test_case("(403)" => Category::Auth)]
    #[test_case("Authentication failed" => Category::Auth)]
    #[test_case("set Anthropic_API_Key" => Category::Auth)]
    #[test_case("Invalid API key · Fix external API key" => Category::Auth)]
    #[test_case("Not logged in · Please run /login" => Category::Auth)]
    #[test_case("The 'm' model is not supported when using Codex with a ChatGPT account." => Category::Auth)]
    #[test_case("ask ChatGPT about it" => Category::Api)]
    #[test_case("request 14290 of user a401" => Category::Api; "numbers within others")]
    #[test_case("boom" => Category::Api)]
    fn text_decides_where_nothing_else_is_told(text: &str) -> Category {
        Category::of(text, Evidence::default())
    }

    #[test]
    fn a_status_decides_before_a_word_and_a_word_before_the_text() {
        let of = |status, word| Category::of("429", Evidence { status, word });
        assert_eq!(of(Some(401), Some("rate_limit")), Category::Auth);
        assert_eq!(of(Some(529), None), Category::Api);
        assert_eq!(of(None, Some("authentication_failed")), Category::Auth);
        assert_eq!(of(None, Some("server_error")), Category::Api);
        assert_eq!(of(None, Some("unknown")), Category::RateLimit);
    }
}
