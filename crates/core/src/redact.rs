//! What must never reach a durable surface: keys, and the payload of the terminal tool.
//!
//! Recordings, logs and traces all go through here, so that they share one placeholder and one
//! notion of a secret: a variable whose name says so, or a text with the shape of a credential. What
//! the caller asked for on stdout does not: it is the answer itself.

mod shape;

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use serde_json::{Value, json};

use shape::credentials;

/// What stands for a secret.
pub const MASK: &str = "[masked]";

/// Shorter values are too common to be masked wherever they stand: `true`, a port, a user name.
const SECRET_MIN_CHARS: usize = 8;

/// Shorter values are not masked at all, for every text is full of them. From here on they are where they
/// stand by themselves, if a name says that they are secrets.
const SHORT_SECRET_MIN_CHARS: usize = 4;

/// Words that are no secrets, whatever the name of their variable says.
const COMMON_WORDS: [&str; 10] = [
    "auto", "default", "enabled", "false", "none", "null", "optional", "required", "true", "unset",
];

/// Enough for every variable of an environment, little enough to build in a moment.
const SECRETS_LIMIT: usize = 256;

/// A variable holds a secret if a word of its name, between underscores, ends like this.
const SECRET_WORDS: [&str; 2] = ["KEY", "TOKEN"];

/// A variable holds a secret if this is the last word of its name, but not the only one: `PWD` is
/// the shell's own.
const SECRET_LAST_WORDS: [&str; 8] =
    ["AUTH", "DSN", "HEADERS", "KEYS", "PASS", "PAT", "PWD", "TOKENS"];

/// A variable holds a secret, or says where one is, if its name contains this.
const SECRET_PARTS: [&str; 9] = [
    "APIKEY",
    "AUTHORIZATION",
    "CREDENTIAL",
    "PASSFILE",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "WEBHOOK",
];

/// Claims that a variable of this name holds a secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_last = |(_, last): (&str, &str)| SECRET_LAST_WORDS.contains(&last);
    name.split('_').any(|word| SECRET_WORDS.iter().any(|ending| word.ends_with(ending)))
        || name.rsplit_once('_').is_some_and(is_last)
        || SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Claims that a value is too short or too common to be masked, although a name says that it is a secret.
///
/// A number or a word of JSON that is masked would make JSON unreadable.
pub fn is_unmaskable(secret: &str) -> bool {
    secret.chars().count() < SHORT_SECRET_MIN_CHARS
        || secret.chars().count() < SECRET_MIN_CHARS
            && (secret.parse::<f64>().is_ok()
                || COMMON_WORDS.iter().any(|word| secret.eq_ignore_ascii_case(word)))
}

/// Claims that something in `text` has the shape of a credential.
pub fn holds_secret(text: &str) -> bool {
    credentials(text).next().is_some()
}

/// Returns `text` with everything masked that has the shape of a credential.
pub fn mask_tokens(text: &str) -> Cow<'_, str> {
    mask_ranges(text, credentials(text).collect())
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
    /// Finds the known secrets. Absent only if that cannot be built, and then everything is masked.
    known: Option<AhoCorasick>,
    /// Finds those that are masked only where they stand by themselves, if there are any.
    short: Option<AhoCorasick>,
}

impl Redactor {
    /// Makes a redactor for the known `secrets` and for everything shaped like a token.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let is_long = |secret: &&str| secret.chars().count() >= SECRET_MIN_CHARS;
        Self { known: finder(secrets.into_iter().filter(is_long)), short: None }
    }

    /// Masks these short secrets, too, where they stand by themselves: they are known by their names.
    #[must_use]
    pub fn and_short<'s>(self, secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let is_short =
            |secret: &&str| secret.chars().count() < SECRET_MIN_CHARS && !is_unmaskable(secret);
        let short: Vec<&str> = secrets.into_iter().filter(is_short).collect();
        if short.is_empty() {
            return self;
        }
        match finder(short) {
            Some(short) => Self { short: Some(short), ..self },
            None => Self { known: None, ..self },
        }
    }

    /// Returns `text` with every secret masked.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(known) = &self.known else {
            return Cow::Borrowed(MASK);
        };
        let known = known.find_overlapping_iter(text).map(|found| found.range());
        let short = self.short.iter().flat_map(|short| short.find_overlapping_iter(text));
        let short = short.map(|found| found.range()).filter(|found| stands_alone(text, found));
        mask_ranges(text, known.chain(short).chain(credentials(text)).collect())
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

/// Returns what finds `secrets` however they are written.
fn finder<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Option<AhoCorasick> {
    let written = secrets.into_iter().take(SECRETS_LIMIT).flat_map(|secret| {
        let [upper, lower] = percent_encoded(secret);
        [secret.to_owned(), escaped(secret), upper, lower]
    });
    AhoCorasick::new(written).ok()
}

/// Claims that what stands at `place` is no part of a longer word.
fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let is_inside = |next: char| next.is_alphanumeric() || next == '_';
    let before = text.get(..place.start).unwrap_or_default();
    let behind = text.get(place.end..).unwrap_or_default();
    let begins = !before.ends_with(is_inside) || ends_with_escape(before);
    begins && !behind.starts_with(is_inside)
}

/// Claims that the last letters are no letters but a character that JSON spells out: `\n`, `\u001b`.
fn ends_with_escape(text: &str) -> bool {
    let tail =
        text.get(text.floor_char_boundary(text.len().saturating_sub(6))..).unwrap_or_default();
    let is_code = |code: &str| code.len() == 5 && code.starts_with('u');
    tail.rsplit_once('\\')
        .is_some_and(|(_, code)| matches!(code, "n" | "t" | "r" | "b" | "f") || is_code(code))
}

/// Puts one mask in place of all `secrets` that overlap.
fn mask_ranges(text: &str, mut secrets: Vec<Range<usize>>) -> Cow<'_, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    secrets.sort_unstable_by_key(|secret| secret.start);
    let mut masked = String::with_capacity(text.len());
    let mut end = 0;
    for secret in secrets {
        if secret.start >= end {
            masked.push_str(text.get(end..secret.start).unwrap_or_default());
            masked.push_str(MASK);
        }
        end = end.max(secret.end);
    }
    masked.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(masked)
}

/// Returns `secret` as it stands inside a JSON string.
fn escaped(secret: &str) -> String {
    let quoted = Value::from(secret).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Returns how a secret stands in a URL, with the digits in capitals and in small letters.
fn percent_encoded(secret: &str) -> [String; 2] {
    let encode = |byte: u8, code: String| {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_plain { char::from(byte).to_string() } else { code }
    };
    let upper = secret.bytes().map(|byte| encode(byte, format!("%{byte:02X}")));
    let lower = secret.bytes().map(|byte| encode(byte, format!("%{byte:02x}")));
    [upper.collect(), lower.collect()]
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    /// CO-109: a secret in a URL is one, too.
    #[test]
    fn co_109_a_secret_is_masked_in_a_url() {
        let redactor = Redactor::new(["p@ss/word+1"]);
        for text in ["a=p%40ss%2Fword%2B1&b", "a=p%40ss%2fword%2b1&b"] {
            assert_eq!(redactor.mask(text), format!("a={MASK}&b"));
        }
    }

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
            (&format!("sk_live_{}", "a1".repeat(12)), "[masked]"),
            (&format!("rk_test_{}", "a1".repeat(12)), "[masked]"),
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

    /// CO-109: a short secret that is known by its name is masked where it stands by itself.
    #[test]
    fn co_109_a_short_secret_is_masked_where_it_stands_by_itself() {
        let redactor = Redactor::new(["hunter2-hunter2"]).and_short([
            "root",
            "p@ss",
            "hunt2",
            "abc",
            "true",
            "4096",
            "1e10",
            "longer-than-that",
        ]);
        for (text, masked) in [
            ("login root:hunt2@db", "login [masked]:[masked]@db"),
            ("a=p%40ss&b", "a=[masked]&b"),
            (r#"{"a":"x\nroot","b":"\u001bhunt2"}"#, r#"{"a":"x\n[masked]","b":"\u001b[masked]"}"#),
            ("rooted chroot root_2", "rooted chroot root_2"),
            (r#"{"abc":true,"n":4096,"m":1e10}"#, r#"{"abc":true,"n":4096,"m":1e10}"#),
            ("longer-than-that hunter2-hunter2", "longer-than-that [masked]"),
        ] {
            assert_eq!(redactor.mask(text), masked);
        }
        assert_eq!(Redactor::new(["root"]).mask("root"), "root", "nobody said that it is one");
    }

    /// CO-109: what is not masked can be told.
    #[test_case("abc" => true; "three letters")]
    #[test_case("1234" => true; "a number")]
    #[test_case("True" => true; "a common word")]
    #[test_case("" => true; "nothing")]
    #[test_case("root" => false; "four letters")]
    #[test_case("12345678" => false; "a long number")]
    fn co_109_some_secrets_cannot_be_masked(secret: &str) -> bool {
        is_unmaskable(secret)
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
    #[test_case("SLACK_WEBHOOK" => true; "whoever knows a webhook can write to it")]
    #[test_case("webhookUrl" => true)]
    #[test_case("WEB_HOOKS_DIR" => false)]
    #[test_case("PATH" => false)]
    #[test_case("SSH_AUTH_SOCK" => false)]
    fn a_name_says_that_it_is_of_a_secret(name: &str) -> bool {
        names_secret(name)
    }

    #[test]
    fn secrets_that_overlap_are_masked_whole() {
        let token = format!("sk-ant-{}", "x".repeat(24));
        let around = format!("before {token} after");
        let redactor = Redactor::new([around.as_str(), "xxxxxxxx"]);
        assert_eq!(redactor.mask(&format!("<{around}> <{token}>")), "<[masked]> <[masked]>");
        let redactor = Redactor::new(["abcdefghij", "ghijklmnop"]);
        assert_eq!(redactor.mask("<abcdefghijklmnop>"), "<[masked]>");
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
