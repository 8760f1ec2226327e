//! The body of an error: JSON in one of many shapes, or a page that some proxy wrote.

use std::time::Duration;

use serde_json::Value;

use super::FailureKind;
use crate::codec::fields::Fields;
use crate::{excerpt, redact};

/// The most of a message that is kept: enough for every documented error, and for a log line.
const MESSAGE_LIMIT_CHARS: usize = 2_000;

/// The most of a page that is kept: what it says is in its title, and no more than a line.
const HEADLINE_LIMIT_CHARS: usize = 120;

/// The most of a body that is looked at; error bodies are small, pages of proxies are not.
const BODY_LIMIT_BYTES: usize = 64 * 1024;

/// What an error says about itself.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) kind: Option<FailureKind>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) retry_after: Option<Duration>,
}

impl Said {
    pub(super) fn read(body: &[u8]) -> Self {
        let body = body.get(..BODY_LIMIT_BYTES).unwrap_or(body);
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(items)) => items.first().map(Self::of_body).unwrap_or_default(),
            Ok(value) => Self::of_body(&value),
            Err(_) => {
                let text = String::from_utf8_lossy(body);
                let page = text.trim_start_matches('\u{feff}').trim_start();
                let message = if page.starts_with('<') { headline(page) } else { plain(&text) };
                Self { message, ..Self::default() }
            }
        }
    }

    fn of_body(body: &Value) -> Self {
        let error = body.member("error");
        Self::of_error(if error.is_null() { body } else { error })
    }

    /// Reads the object with `message` and `type`, `code` or `status`, or the bare message.
    pub(super) fn of_error(error: &Value) -> Self {
        if let Some(message) = error.as_str() {
            return Self { message: plain(message), ..Self::default() };
        }
        let details = error.items("details");
        let reason = details.iter().find_map(|detail| detail.text("reason"));
        // The most exact word first: OpenAI's code says more than its type.
        let words = [error.words("code"), error.words("status"), error.words("type")];
        let status = error.count("code").and_then(|code| u16::try_from(code).ok());
        let kind = match reason {
            Some("API_KEY_INVALID") => Some(FailureKind::Auth),
            _ => words
                .iter()
                .flatten()
                .find_map(|word| FailureKind::of_code(word))
                .or_else(|| status.map(FailureKind::of_status)),
        };
        let code = words.into_iter().flatten().next().map(|word| bounded(word, 100));
        let message = error.words("message").or_else(|| error.words("detail")).and_then(plain);
        let retry_after = details.iter().find_map(|detail| seconds(detail.text("retryDelay")?));
        Self { kind, code, message, retry_after }
    }
}

/// Reads Google's way to write a duration: `34.07s`.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns one short line for a page that some proxy wrote: its title, else how it begins.
fn headline(page: &str) -> Option<String> {
    // Lower case of ASCII alone has the same places in both.
    let small = page.to_ascii_lowercase();
    let title = small.find("<title").and_then(|start| {
        let start = start + small.get(start..)?.find('>')? + 1;
        page.get(start..start + small.get(start..)?.find("</title")?)
    });
    let line = title.and_then(plain).or_else(|| plain(&without_tags(page)))?;
    if line.chars().count() <= HEADLINE_LIMIT_CHARS {
        return Some(line);
    }
    Some(format!("{}…", bounded(&line, HEADLINE_LIMIT_CHARS)))
}

/// Removes the tags of a page, and what is not meant to be read.
fn without_tags(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let end = ["style", "script"]
            .iter()
            .find(|name| starts_with_ignoring_case(tag, name))
            .and_then(|name| tag.find(&format!("</{name}")).and_then(|at| tag.get(at..)));
        rest = end.unwrap_or(tag).split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Makes one bounded line without control characters and keys; `None` if nothing remains.
fn plain(text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    // Careless servers repeat the key that they refuse.
    let line = bounded(&redact::mask_tokens(&words.join(" ")), MESSAGE_LIMIT_CHARS);
    (!line.is_empty()).then_some(line)
}

fn bounded(text: &str, limit: usize) -> String {
    excerpt(text, limit, "").into_owned()
}
