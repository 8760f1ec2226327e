//! From bytes to a schema: the first two steps of preflight, without I/O.

use serde_json::Value;

use super::diagnostic::Diagnostic;
use crate::json::{Document, Kind, Limits, Node, ParseError, ParseErrorKind, Path, Pointer};

/// How many bytes a contract may have. A schema travels to the provider with every request, so
/// one of this size is a mistake; seed systems use the same number.
pub const SOURCE_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// How deep a schema may nest, which bounds every recursion over it.
pub(super) const DEPTH_LIMIT: usize = 128;

/// How many findings of one kind are reported.
pub(super) const FINDING_LIMIT: usize = 20;

/// Where a contract's text came from, which decides what an error may repeat of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Typed by whoever sees the error.
    Inline,
    /// Read from a file, which may be the wrong one: its content is never repeated.
    File,
}

/// Reads a schema, or says all that is wrong with its text.
pub(super) fn read(bytes: &[u8], origin: Origin) -> Result<Value, Vec<Diagnostic>> {
    if bytes.len() > SOURCE_LIMIT_BYTES {
        let size = bytes.len();
        let message = format!("contract is {size} bytes, over the limit of {SOURCE_LIMIT_BYTES}");
        return Err(vec![Diagnostic::error(Pointer::root(), "too_large", message)]);
    }
    let limits = Limits { bytes: SOURCE_LIMIT_BYTES, depth: DEPTH_LIMIT, ..Limits::default() };
    let document =
        Document::parse_bytes(bytes, &limits).map_err(|error| vec![unparsable(&error, origin)])?;
    if document.root().kind() != Kind::Object {
        return Err(vec![not_an_object(document.root().kind().name())]);
    }
    let mut findings: Vec<Diagnostic> =
        document.duplicates(FINDING_LIMIT).into_iter().map(|it| repeated(it.pointer)).collect();
    find_inexact(document.root(), &Path::Root, &mut findings);
    if findings.is_empty() { Ok(document.to_value()) } else { Err(findings) }
}

/// Checks what [`read`] guarantees, for a schema that was never text.
pub(super) fn inspect(schema: &Value) -> Result<(), Diagnostic> {
    let name = match schema {
        Value::Object(_) => None,
        Value::Null => Some("null"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
    };
    if let Some(name) = name {
        return Err(not_an_object(name));
    }
    let mut open = vec![(schema, 1)];
    while let Some((value, depth)) = open.pop() {
        if depth > DEPTH_LIMIT && (value.is_object() || value.is_array()) {
            let kind = ParseErrorKind::TooDeep { limit: DEPTH_LIMIT };
            return Err(Diagnostic::error(
                Pointer::root(),
                "too_deep",
                format!("contract has {kind}"),
            ));
        }
        match value {
            Value::Object(members) => open.extend(members.values().map(|it| (it, depth + 1))),
            Value::Array(items) => open.extend(items.iter().map(|it| (it, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

fn unparsable(error: &ParseError, origin: Origin) -> Diagnostic {
    let (code, hint) = match error.kind {
        ParseErrorKind::Empty => {
            let message = "contract cannot be empty";
            return Diagnostic::error(Pointer::root(), "empty", message);
        }
        ParseErrorKind::TooDeep { .. } => ("too_deep", "move nested schemas to `$defs`"),
        ParseErrorKind::TooLarge { .. } | ParseErrorKind::TooManyNodes { .. } => {
            ("too_large", "a contract travels with every request; make it smaller")
        }
        ParseErrorKind::TrailingData => ("trailing_data", "a contract is one JSON object"),
        ParseErrorKind::InvalidUtf8 => ("invalid_utf8", "save the contract as UTF-8"),
        ParseErrorKind::ByteOrderMark => {
            ("byte_order_mark", "save the contract as UTF-8 without a byte order mark")
        }
        ParseErrorKind::Truncated
        | ParseErrorKind::Unexpected { .. }
        | ParseErrorKind::InvalidEscape
        | ParseErrorKind::LoneSurrogate
        | ParseErrorKind::ControlCharacter
        | ParseErrorKind::InvalidNumber => ("not_json", "write strict JSON, without comments"),
        ParseErrorKind::NumberOutOfRange => {
            ("not_json", "use numbers up to 1.79e308, or leave the bound out")
        }
    };
    let place = format!("line {} column {}", error.line, error.column);
    let message = match (code, origin) {
        // Sound as far as it was read.
        ("too_deep" | "too_large", _) => format!("contract has {}", error.kind),
        (_, Origin::Inline) => format!("contract is not valid JSON: {error}"),
        (_, Origin::File) => format!("contract is not valid JSON at {place}"),
    };
    Diagnostic::error(Pointer::root(), code, message).with_hint(hint)
}

fn not_an_object(found: &str) -> Diagnostic {
    let message = format!("contract must be a JSON object, not {}", with_article(found));
    Diagnostic::error(Pointer::root(), "not_an_object", message)
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "array" | "object" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}

fn repeated(pointer: Pointer) -> Diagnostic {
    let message = "this key occurs twice in its object, so readers disagree about its value";
    Diagnostic::error(pointer, "duplicate_key", message).with_hint("keep one of them")
}

/// Refuses numbers that a machine would round, since the rounded one would judge.
fn find_inexact(node: Node<'_>, path: &Path<'_>, findings: &mut Vec<Diagnostic>) {
    if findings.len() >= FINDING_LIMIT {
        return;
    }
    if let Some(number) = node.as_number() {
        let machine = number.to_machine().to_string();
        if number.compare(&crate::json::Number::new(&machine)).is_ne() {
            let message = format!("this number cannot be kept exactly; the nearest is {machine}");
            findings.push(Diagnostic::error(path.pointer(), "inexact_number", message));
        }
    }
    for (key, value) in node.members() {
        find_inexact(value, &Path::Key(path, key), findings);
    }
    for (index, item) in node.items().enumerate() {
        find_inexact(item, &Path::Index(path, index), findings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn code_of(text: &[u8]) -> &'static str {
        read(text, Origin::Inline).unwrap_err()[0].code
    }

    #[test_case(b"", "empty"; "nothing")]
    #[test_case(b" \n\t", "empty"; "only space")]
    #[test_case(b"{", "not_json"; "truncated")]
    #[test_case(b"{} {}", "trailing_data")]
    #[test_case(b"\xef\xbb\xbf{}", "byte_order_mark")]
    #[test_case(b"{\"\xff\":1}", "invalid_utf8")]
    #[test_case(b"[]", "not_an_object"; "array")]
    #[test_case(b"\"{}\"", "not_an_object"; "string")]
    #[test_case(b"true", "not_an_object"; "boolean schema")]
    #[test_case(br#"{"type":"object","type":"array"}"#, "duplicate_key")]
    #[test_case(br#"{"const":12345678901234567890123}"#, "inexact_number"; "beyond 64 bits")]
    #[test_case(br#"{"minimum":0.10000000000000001}"#, "inexact_number"; "fraction")]
    fn every_bad_text_has_its_own_code(text: &[u8], expected: &str) {
        assert_eq!(code_of(text), expected);
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = |depth: usize| {
            let text = "{\"not\":".repeat(depth) + "{}" + &"}".repeat(depth);
            read(text.as_bytes(), Origin::Inline)
        };
        assert!(nested(127).is_ok());
        for depth in [128, 5_000, 100_000] {
            let refused = &nested(depth).unwrap_err()[0];
            assert_eq!(refused.code, "too_deep");
            assert_eq!(refused.message, "contract has more than 128 nested levels");
        }
        let padded = |size: usize| format!("{{}}{}", " ".repeat(size - 2)).into_bytes();
        assert!(read(&padded(SOURCE_LIMIT_BYTES), Origin::File).is_ok());
        assert_eq!(code_of(&padded(SOURCE_LIMIT_BYTES + 1)), "too_large");
    }

    #[test]
    fn file_errors_name_the_position_and_never_the_content() {
        let secret = b"{\n  \"a\": hunter2}";
        let message = |origin| read(secret, origin).unwrap_err()[0].message.clone();
        assert_eq!(message(Origin::File), "contract is not valid JSON at line 2 column 8");
        let inline =
            "contract is not valid JSON: unexpected `h`, expected a value at line 2 column 8";
        assert_eq!(message(Origin::Inline), inline);
    }

    #[test]
    fn many_duplicates_are_reported_within_a_limit() {
        let text = format!("{{{}\"a\":1}}", "\"a\":1,".repeat(200_000));
        assert_eq!(read(text.as_bytes(), Origin::File).unwrap_err().len(), FINDING_LIMIT);
    }

    #[test]
    fn duplicates_under_a_long_key_are_not_all_named() {
        // Their names would take 200 GB.
        let long = "k".repeat(1_000_000);
        let text = format!("{{\"{long}\":{{{}\"a\":1}}}}", "\"a\":1,".repeat(200_000));
        let found = read(text.as_bytes(), Origin::File).unwrap_err();
        assert!(found.iter().all(|finding| finding.code == "duplicate_key"));
        assert!((1..FINDING_LIMIT).contains(&found.len()), "{}", found.len());
    }

    #[test]
    fn exact_numbers_are_kept() {
        let text =
            br#"{"enum":[9007199254740993,18446744073709551615,0.1,1e300,-0.0,1.50,100e-1]}"#;
        assert!(read(text, Origin::Inline).is_ok());
    }

    #[test]
    fn built_schemas_are_held_to_the_same_limits() {
        let mut schema = serde_json::json!({});
        for _ in 0..200 {
            schema = serde_json::json!({ "not": schema });
        }
        assert_eq!(inspect(&schema).unwrap_err().code, "too_deep");
        assert_eq!(inspect(&Value::Bool(true)).unwrap_err().code, "not_an_object");
    }
}
