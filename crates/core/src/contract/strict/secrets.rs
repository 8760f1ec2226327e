//! Values that look like credentials.

use serde_json::Value;

use crate::redact;

/// Claims that some string in `value` looks like a credential.
pub(super) fn is_in(value: &Value) -> bool {
    match value {
        Value::String(text) => redact::holds_secret(text),
        Value::Array(items) => items.iter().any(is_in),
        Value::Object(members) => members.values().any(is_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
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
