//! Rules, and contracts of different drafts.

use super::*;

pub(super) fn rules() -> Vec<Row> {
    let range = |rules: Value| json!({"type": "object", "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}}, "required": ["start", "end"], "x-rules": rules});
    let rule = |message: &str| json!([{"rule": "self.end >= self.start", "message": message}]);
    vec![
        ("a rule more", range(json!([])), range(rule("m")), No, Yes),
        ("a rule less", range(rule("m")), range(json!([])), Yes, No),
        ("another message", range(rule("m")), range(rule("n")), Yes, Yes),
        (
            "a rule that nothing shows",
            member(json!({"type": "string", "maxLength": 3})),
            member(
                json!({"type": "string", "maxLength": 3, "x-rules": [{"rule": "self != 'zzz'"}]}),
            ),
            Unknown,
            Yes,
        ),
        (
            "beside a rule, a bound",
            member(
                json!({"type": "string", "maxLength": 3, "x-rules": [{"rule": "self != 'zzz'"}]}),
            ),
            member(
                json!({"type": "string", "maxLength": 4, "x-rules": [{"rule": "self != 'zzz'"}]}),
            ),
            Yes,
            No,
        ),
        (
            "closed: a property with a rule more",
            closed(json!({"a": text()}), json!([])),
            closed(
                json!({"a": text(), "b": {"type": "string", "x-rules": [{"rule": "size(self) > 1"}]}}),
                json!([]),
            ),
            Yes,
            No,
        ),
        (
            "it must be quoted",
            member(text()),
            member(json!({"type": "string", "x-grounded": true})),
            No,
            Yes,
        ),
        (
            "it need not be quoted",
            member(json!({"type": "string", "x-grounded": true})),
            member(text()),
            Yes,
            No,
        ),
    ]
}

pub(super) fn drafts() -> Vec<Row> {
    let seven = |mut schema: Value| {
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema
    };
    vec![
        ("another draft", seven(member(text())), member(text()), Yes, Yes),
        (
            "another draft and a bound",
            seven(member(text())),
            member(json!({"type": "string", "maxLength": 5})),
            No,
            Yes,
        ),
        (
            "a draft that reads it differently",
            seven(json!({"type": "array", "items": [text()]})),
            json!({"type": "array", "prefixItems": [text()]}),
            Unknown,
            Unknown,
        ),
    ]
}
