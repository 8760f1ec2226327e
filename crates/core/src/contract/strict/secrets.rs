//! Values that look like credentials.

use serde_json::Value;

/// How keys of common services start.
const PREFIXES: [&str; 14] = [
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
];

/// Shorter words are too often names.
const SHORTEST: usize = 20;

/// Claims that some string in `value` looks like a credential.
pub(super) fn is_in(value: &Value) -> bool {
    match value {
        Value::String(text) => is_in_text(text),
        Value::Array(items) => items.iter().any(is_in),
        Value::Object(members) => members.values().any(is_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_in_text(text: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----")
        || text.split(|character| !is_word(character)).any(is_key)
}

fn is_key(word: &str) -> bool {
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_token = word.starts_with("eyJ") && word.matches('.').count() == 2;
    let is_prefixed = PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    word.len() >= SHORTEST && (is_token || is_prefixed && (has_digit || !word.contains('.')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use test_case::test_case;

    #[test_case(&json!("use sk-proj-abc123abc123abc123 here"), true; "in a sentence")]
    #[test_case(&json!([{"key": "AKIAIOSFODNN7EXAMPLE"}]), true; "nested")]
    #[test_case(&json!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), true; "token")]
    #[test_case(&json!("-----BEGIN RSA PRIVATE KEY-----\nMII"), true; "private key")]
    #[test_case(&json!("sk-short"), false; "too short")]
    #[test_case(&json!("a risk-based approach to everything"), false; "prose")]
    #[test_case(&json!(12), false; "number")]
    fn credentials_are_recognised(value: &Value, expected: bool) {
        assert_eq!(is_in(value), expected);
    }
}
