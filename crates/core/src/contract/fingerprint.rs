//! What identifies a contract: a hash that survives reformatting.

use std::fmt::{self, Write as _};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The SHA-256 of a schema's canonical form.
///
/// The order of keys, white space, the escapes of strings and the way that numbers are written do
/// not change it; everything else does, also annotations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of(schema: &Value) -> Self {
        let mut text = String::new();
        write_canonical(schema, &mut text);
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns the first 12 digits, enough to tell the contracts of one ledger apart.
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Fingerprint({})", self.short())
    }
}

impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Appends the one text that stands for `value`. Stored fingerprints depend on it, so it is
/// written out here and never changes with a library.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(boolean) => out.push_str(if *boolean { "true" } else { "false" }),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (position, (key, member)) in sorted.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
    }
}

fn write_number(number: &serde_json::Number, out: &mut String) {
    // Writing to a string cannot fail.
    let _: fmt::Result = match number.as_f64() {
        // Rust writes a float's shortest digits without an exponent, and a whole one without a
        // point, so `1.0` and `1` meet here.
        Some(float) if number.is_f64() => write!(out, "{}", if float == 0.0 { 0.0 } else { float }),
        _ => write!(out, "{number}"),
    };
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                let _: fmt::Result = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use crate::arbitrary::case;
    use proptest::prelude::*;
    use test_case::test_case;

    fn print(text: &str) -> Fingerprint {
        Fingerprint::of(&Document::parse(text).unwrap().to_value())
    }

    #[test_case(r#"{"a":1,"b":[1.0,100,0]}"#, "{ \"b\" : [1, 1e2, -0.0], \"a\": 1.0 }"; "order space and numbers")]
    #[test_case(r#"{"a":"é\n/"}"#, r#"{"\u0061":"\u00e9\u000a\/"}"#; "escapes")]
    fn writing_it_differently_changes_nothing(left: &str, right: &str) {
        assert_eq!(print(left), print(right));
    }

    #[test_case(r#"{"a":1}"#, r#"{"a":"1"}"#)]
    #[test_case(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#; "order of items")]
    #[test_case(r#"{"a":"b\",\"c"}"#, r#"{"a":"b","c":""}"#; "quotes")]
    #[test_case(r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992}"#; "large integers")]
    #[test_case("{}", r#"{"title":""}"#; "annotations")]
    fn saying_something_else_changes_it(left: &str, right: &str) {
        assert_ne!(print(left), print(right));
    }

    #[test]
    fn the_form_is_stable_across_releases() {
        let text = print(r#"{"type":"object","minimum":1.5}"#).to_string();
        assert_eq!(text.len(), 64);
        insta::assert_snapshot!(text, @"0ec378e6af58490f404e5b1646d3ced403e87348a79b25160a2bca27248a7864");
    }

    proptest! {
        #[test]
        fn reversing_every_object_changes_nothing(case in case()) {
            fn reversed(value: &Value) -> Value {
                match value {
                    Value::Object(members) => members.iter().rev().map(|(key, it)| (key.clone(), reversed(it))).collect(),
                    Value::Array(items) => items.iter().map(reversed).collect(),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
                }
            }
            prop_assert_eq!(Fingerprint::of(&case.schema), Fingerprint::of(&reversed(&case.schema)));
        }
    }
}
