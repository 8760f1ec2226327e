//! What must never reach a durable surface: keys, and the payload of the terminal tool.
//!
//! Recordings, logs and traces all go through here, so that they share one placeholder and one
//! notion of a secret. What the caller asked for on stdout does not: it is the answer itself.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

/// What stands for a secret.
pub const MASK: &str = "[masked]";

/// Shorter values are too common to be masked: `true`, a port, a user name.
const SECRET_MIN_CHARS: usize = 8;

/// Enough for every variable of an environment, little enough to build in a moment.
const SECRETS_LIMIT: usize = 256;

/// Shapes that nothing but a credential has, by issuer.
const SHAPES: [&str; 12] = [
    r"sk-ant-[A-Za-z0-9_-]{16,}",
    r"sk-[A-Za-z0-9_-]{20,}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"hf_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----",
    r"(?i:bearer)\s+[A-Za-z0-9._~+/-]{16,}=*",
];

/// Returns what stands for the arguments of the terminal tool.
pub fn terminal_arguments() -> Value {
    json!({ "__redacted": "structured_output payload (see stdout result)" })
}

/// Returns what stands for what a subagent came back with, which may be an answer of its own.
pub fn subagent_result() -> Value {
    json!({ "__redacted": "result of a subagent" })
}

/// Masks secrets in text and JSON.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// Absent only if the pattern cannot be built, and then everything is masked.
    pattern: Option<Regex>,
}

impl Redactor {
    /// Makes a redactor for the known `secrets` and for everything shaped like a token.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let mut known: Vec<String> = secrets
            .into_iter()
            .filter(|secret| secret.chars().count() >= SECRET_MIN_CHARS)
            .take(SECRETS_LIMIT)
            .flat_map(|secret| [secret.to_owned(), escaped(secret)])
            .collect();
        // A secret that begins with another one must win over it.
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        let alternatives: Vec<String> = known
            .iter()
            .map(|secret| regex::escape(secret))
            .chain(SHAPES.map(str::to_owned))
            .collect();
        let pattern = RegexBuilder::new(&alternatives.join("|")).size_limit(64 << 20).build().ok();
        Self { pattern }
    }

    /// Returns `text` with every secret masked.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.pattern {
            Some(pattern) => pattern.replace_all(text, MASK),
            None => Cow::Borrowed(MASK),
        }
    }

    /// Masks every secret in the strings and names of `value`.
    pub fn mask_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            Value::Object(members) => {
                let owned = std::mem::take(members);
                members.extend(owned.into_iter().map(|(name, mut member)| {
                    self.mask_value(&mut member);
                    (self.mask(&name).into_owned(), member)
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns `secret` as it stands inside a JSON string.
fn escaped(secret: &str) -> String {
    let quoted = Value::from(secret).to_string();
    quoted.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_and_token_shapes_are_masked() {
        let redactor = Redactor::new(["hunter2-hunter2", "short", "quo\"ted-secret"]);
        for (text, masked) in [
            ("key hunter2-hunter2.", "key [masked]."),
            ("short stays", "short stays"),
            (r#"{"a":"quo\"ted-secret"}"#, r#"{"a":"[masked]"}"#),
            (&format!("sk-ant-{}", "x".repeat(24)), "[masked]"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[masked]"),
            ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: [masked]"),
            ("AKIAABCDEFGHIJKLMNOP", "[masked]"),
            ("skim-milk and a task", "skim-milk and a task"),
        ] {
            assert_eq!(redactor.mask(text), masked);
        }
    }

    #[test]
    fn the_longer_of_two_secrets_wins() {
        let redactor = Redactor::new(["abcdefgh", "abcdefgh-more"]);
        assert_eq!(redactor.mask("abcdefgh-more"), MASK);
    }

    #[test]
    fn values_are_masked_in_names_and_strings_at_any_depth() {
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let mut value = json!({ "hunter2-hunter2": [{ "a": "x hunter2-hunter2", "b": 1 }] });
        redactor.mask_value(&mut value);
        assert_eq!(value, json!({ "[masked]": [{ "a": "x [masked]", "b": 1 }] }));
    }
}
