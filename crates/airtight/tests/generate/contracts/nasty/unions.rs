//! Unions, tagged and not.

use serde_json::{Value, json};

use super::{Subject, subject};

pub(super) fn unions() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "scalar": {"type": ["string", "integer", "boolean", "null"]},
            "list": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "shared": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            },
            "overlapping": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 5}]},
            "apart": {"oneOf": [{"type": "integer", "maximum": 3}, {"type": "string", "maxLength": 3}]},
            "inner": {"anyOf": [{"type": ["integer", "null"]}, {"type": ["string", "null"]}]},
            "maybe": {"anyOf": [{"$ref": "#/$defs/maybe"}, {"type": "integer"}]},
            "single": {"anyOf": [{"type": "string", "maxLength": 2}]},
            "twice": {"anyOf": [{"enum": ["a"]}, {"enum": ["b"]}], "oneOf": [{"const": "a"}, {"const": "c"}]},
            "constrained": {"type": "object", "oneOf": [{"$ref": "#/$defs/left"}, {"$ref": "#/$defs/right"}]},
        },
        "additionalProperties": false,
        "$defs": {
            "maybe": {"type": ["string", "null"]},
            "left": {"type": "object", "properties": {"l": {"type": "integer"}}, "required": ["l"], "additionalProperties": false},
            "right": {"type": "object", "properties": {"r": {"type": "integer"}}, "required": ["r"], "additionalProperties": false},
        },
    });
    let given = json!({
        "scalar": 1, "list": ["a"], "shared": {"a": "x", "b": 1}, "overlapping": 5.5, "apart": 1, "inner": "x",
        "maybe": null, "single": "ab", "twice": "a", "constrained": {"l": 1},
    });
    subject("unions", schema, vec![given])
}

fn shape(kind: &str, member: &str) -> Value {
    json!({
        "type": "object",
        "properties": {"kind": {"const": kind}, member: {"type": "number", "exclusiveMinimum": 0}},
        "required": ["kind", member],
        "additionalProperties": false,
    })
}

pub(super) fn tagged() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "shape": {"oneOf": [shape("circle", "radius"), shape("a square", "side")]},
            "more": {"type": "array", "items": {"anyOf": [shape("circle", "radius"), shape("dot", "size")]}},
        },
        "required": ["shape"],
    });
    let given =
        json!({"shape": {"kind": "a square", "side": 2}, "more": [{"kind": "dot", "size": 0.5}]});
    subject("tagged", schema, vec![given])
}

/// Alternatives that are used elsewhere, too, where nothing else tells what they are.
pub(super) fn shared_tags() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "any": {"oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}]},
            "circle": {"$ref": "#/$defs/circle"},
        },
        "required": ["any", "circle"],
        "$defs": {"circle": shape("circle", "radius"), "square": shape("square", "side")},
    });
    let circle = json!({"kind": "circle", "radius": 1});
    subject("shared_tags", schema, vec![json!({"any": circle, "circle": circle})])
}
