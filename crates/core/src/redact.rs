//! What must never reach a durable surface: keys, and the payload of the terminal tool.
//!
//! Recordings, logs and traces all go through here, so that they share one placeholder and one
//! notion of a secret: a variable whose name says so, or a text with the shape of a credential. What
//! the caller asked for on stdout does not: it is the answer itself.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

/// What stands for a secret.
pub const MASK: &str = "[masked]";

/// Shorter values are too common to be masked: `true`, a port, a user name.
const SECRET_MIN_CHARS: usize = 8;

/// Enough for every variable of an environment, little enough to build in a moment.
const SECRETS_LIMIT: usize = 256;

/// A variable holds a secret if a word of its name, between underscores, ends like this.
const SECRET_WORDS: [&str; 2] = ["KEY", "TOKEN"];

/// A variable holds a secret if this is the last word of its name, but not the only one: `PWD` is
/// the shell's own.
const SECRET_LAST_WORDS: [&str; 8] =
    ["AUTH", "DSN", "HEADERS", "KEYS", "PASS", "PAT", "PWD", "TOKENS"];

/// A variable holds a secret, or says where one is, if its name contains this.
const SECRET_PARTS: [&str; 8] = [
    "APIKEY",
    "AUTHORIZATION",
    "CREDENTIAL",
    "PASSFILE",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
];

/// Shapes that nothing but a credential has, by issuer. `sk-` must begin a word: `risk-based` does
/// not.
const SHAPES: [&str; 16] = [
    r"sk-ant-[A-Za-z0-9_-]{16,}",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"\bg?sk_[A-Za-z0-9]{20,}",
    r"\bxai-[A-Za-z0-9]{20,}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"hf_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}",
    // Up to the next line of dashes, whether that ends the key or not: what is read is masked, so that
    // a text full of beginnings is read once.
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^-]|-[^-])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    r"(?i:bearer)\s+[A-Za-z0-9._~+/-]{16,}=*",
    // A URL's user and password.
    r#"://[^/?#\s:@"'<>,\\]*:[^/?#\s@"'<>,\\]+@"#,
];

/// Knows the shapes alone.
static TOKENS: LazyLock<Redactor> = LazyLock::new(|| Redactor::new([]));

/// Claims that a variable of this name holds a secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_last = |(_, last): (&str, &str)| SECRET_LAST_WORDS.contains(&last);
    name.split('_').any(|word| SECRET_WORDS.iter().any(|ending| word.ends_with(ending)))
        || name.rsplit_once('_').is_some_and(is_last)
        || SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Claims that something in `text` has the shape of a credential.
pub fn holds_secret(text: &str) -> bool {
    TOKENS.finds(text)
}

/// Returns `text` with everything masked that has the shape of a credential.
pub fn mask_tokens(text: &str) -> Cow<'_, str> {
    TOKENS.mask(text)
}

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

    /// Claims that there is a secret in `text`.
    fn finds(&self, text: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
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
    use test_case::test_case;

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
            ("a risk-based-approach-to-everything", "a risk-based-approach-to-everything"),
            (&format!("gsk_{}", "x1".repeat(20)), "[masked]"),
            ("postgres://ada:s3cret@db/x", "postgres[masked]db/x"),
            ("redis://:s3cret@db", "redis[masked]db"),
            ("https://host:8080/a:b@c", "https://host:8080/a:b@c"),
            (r#"{"at":"http://h:80","to":"a@b"}"#, r#"{"at":"http://h:80","to":"a@b"}"#),
            ("-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----.", "[masked]."),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow", "[masked]"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMI-----END RSA PRIVATE KEY----- end",
                "[masked] end",
            ),
        ] {
            assert_eq!(redactor.mask(text), masked);
        }
    }

    #[test]
    fn a_text_full_of_keys_is_read_once() {
        let begins = "-----BEGIN PRIVATE KEY-----!".repeat(100_000);
        assert_eq!(Redactor::new([]).mask(&begins), MASK.repeat(100_000));
    }

    #[test_case("OPENAI_API_KEY" => true)]
    #[test_case("anthropic_api_key" => true; "whatever its case")]
    #[test_case("OPENAIKEY" => true)]
    #[test_case("OPENAI_KEY_2" => true; "one of several")]
    #[test_case("AWS_ACCESS_KEY_ID" => true)]
    #[test_case("TOKEN" => true)]
    #[test_case("GITHUB_TOKEN" => true)]
    #[test_case("AUTH_TOKENS" => true)]
    #[test_case("OTEL_EXPORTER_OTLP_HEADERS" => true)]
    #[test_case("PGPASSWORD" => true)]
    #[test_case("PGPASSFILE" => true)]
    #[test_case("MYSQL_PWD" => true)]
    #[test_case("GH_PAT" => true)]
    #[test_case("GOOGLE_APPLICATION_CREDENTIALS" => true)]
    #[test_case("KEYBOARD" => false)]
    #[test_case("TOKENIZERS_PARALLELISM" => false)]
    #[test_case("PWD" => false)]
    #[test_case("OLDPWD" => false)]
    #[test_case("PATH" => false)]
    #[test_case("SSH_AUTH_SOCK" => false)]
    fn a_name_says_that_it_is_of_a_secret(name: &str) -> bool {
        names_secret(name)
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
