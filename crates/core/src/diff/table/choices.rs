//! Choices and conditions, and changes that only mean something together.

use super::*;

pub(super) fn choices() -> Vec<Row> {
    let kind = |name: &str, rest: Value| json!({"type": "object", "properties": {"kind": {"const": name}, "x": rest}, "required": ["kind", "x"]});
    let any = |branches: Value| json!({"anyOf": branches});
    vec![
        (
            "a branch more",
            any(json!([kind("a", text())])),
            any(json!([kind("a", text()), kind("b", text())])),
            Yes,
            No,
        ),
        (
            "a branch less",
            any(json!([kind("a", text()), kind("b", text())])),
            any(json!([kind("b", text())])),
            No,
            Yes,
        ),
        (
            "a branch is narrower",
            any(json!([kind("a", text()), kind("b", text())])),
            any(json!([kind("a", text()), kind("b", json!({"type": "string", "maxLength": 3}))])),
            No,
            Yes,
        ),
        (
            "one of more branches",
            json!({"oneOf": [{"type": "string"}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
            Yes,
            No,
        ),
        (
            "more is excluded",
            json!({"type": "string", "not": {"enum": ["a"]}}),
            json!({"type": "string", "not": {"enum": ["a", "b"]}}),
            No,
            Yes,
        ),
        (
            "a condition more",
            open(json!({"a": text()}), json!([])),
            json!({"type": "object", "properties": {"a": text()}, "required": [], "if": {"required": ["a"]}, "then": {"required": ["b"]}}),
            No,
            Yes,
        ),
        (
            "a deeper tree asks for more",
            tree(text(), json!(["name"])),
            tree(text(), json!(["name", "children"])),
            No,
            Yes,
        ),
        (
            "a tree allows more",
            tree(json!({"type": "string", "maxLength": 2}), json!(["name"])),
            tree(text(), json!(["name"])),
            Yes,
            No,
        ),
        ("another root", json!({"type": "object"}), json!({"type": "array"}), No, No),
        (
            "unrelated",
            member(text()),
            json!({"type": "array", "items": {"type": "integer"}}),
            No,
            No,
        ),
        (
            "nothing may be left over",
            open(json!({"a": text()}), json!([])),
            json!({"type": "object", "properties": {"a": text()}, "required": [], "unevaluatedProperties": false}),
            No,
            Yes,
        ),
    ]
}

/// Several changes at once, where each would say something else alone.
pub(super) fn together() -> Vec<Row> {
    let any = |branches: Value, rest: Value| json!({"anyOf": branches, "oneOf": rest});
    let strings = || json!([{"type": "string"}, {"type": "null"}]);
    vec![
        (
            "a branch less and a condition more",
            any(json!([{"type": "string"}, {"type": "integer"}]), strings()),
            any(
                json!([{"type": "string"}]),
                json!([{"type": "string", "maxLength": 3}, {"type": "null"}, {"type": "boolean"}]),
            ),
            No,
            Yes,
        ),
        (
            "a branch more and a shorter text",
            json!({"maxLength": 5, "anyOf": [{"type": "string"}]}),
            json!({"maxLength": 3, "anyOf": [{"type": "string"}, {"type": "null"}]}),
            No,
            No,
        ),
        (
            "a member moves to a definition and changes",
            member(open(json!({"x": text()}), json!([]))),
            json!({
                "type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "required": ["a"], "additionalProperties": false,
                "$defs": {"b": open(json!({"x": text()}), json!(["x"]))},
            }),
            No,
            Yes,
        ),
        (
            "a reference beside a bound",
            json!({"$ref": "#/$defs/t", "maxLength": 5, "$defs": {"t": text()}}),
            json!({"type": "string", "maxLength": 5}),
            Yes,
            Yes,
        ),
    ]
}
