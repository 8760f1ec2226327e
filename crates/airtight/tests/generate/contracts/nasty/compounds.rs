//! Arrays and objects, definitions, and what leads back to itself.

use serde_json::json;

use super::{Subject, subject};

pub(super) fn recursion() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "children": {"type": "array", "items": {"$ref": "#"}},
            "twin": {"$ref": "#"},
            "next": {"anyOf": [{"$ref": "#/$defs/link"}, {"type": "null"}]},
            "expression": {"$ref": "#/$defs/expression"},
        },
        "required": ["name", "next"],
        "additionalProperties": false,
        "$defs": {
            "link": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/link"}, {"type": "null"}]}},
                "required": ["value", "next"],
            },
            "expression": {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/operation"}]},
            "operation": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/expression"}, "right": {"$ref": "#/$defs/expression"}},
                "required": ["left", "right"],
                "additionalProperties": false,
            },
        },
    });
    let leaf = json!({"name": "b", "next": null});
    let given = json!({
        "name": "a", "children": [leaf], "twin": leaf,
        "next": {"value": 1, "next": {"value": 2.0, "next": null}},
        "expression": {"left": 1, "right": {"left": 1.5, "right": 2}},
    });
    subject("recursion", schema, vec![given])
}

/// Definitions that are no objects and lead back to themselves.
pub(super) fn aliases() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/tree"},
            "levels": {"$ref": "#/$defs/levels"},
            "json": {"$ref": "#/$defs/json"},
            "limited": {"$ref": "#/$defs/limited"},
            "name": {"$ref": "#/$defs/name", "description": "a name"},
            "first": {"$ref": "#/$defs/first"},
        },
        "required": ["tree"],
        "$defs": {
            "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            "levels": {"type": "object", "additionalProperties": {"$ref": "#/$defs/levels"}},
            "json": {"anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {"type": "array", "items": {"$ref": "#/$defs/json"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
            ]},
            "limited": {"type": "array", "items": {"$ref": "#/$defs/limited"}, "maxItems": 2},
            "name": {"type": "string", "minLength": 2},
            "first": {"type": ["array", "null"], "items": {"$ref": "#/$defs/first"}},
        },
    });
    let given = json!({
        "tree": [[], [[]]], "levels": {"a": {"b": {}}}, "json": {"a": [1, null, {"b": "c"}]},
        "limited": [[], [[], []]], "name": "ab", "first": [null, [null]],
    });
    subject("aliases", schema, vec![given])
}

pub(super) fn tuples() -> Subject {
    let items = json!([{"type": "integer"}, {"type": "string", "minLength": 1}]);
    let schema = json!({
        "type": "object",
        "properties": {
            "pair": {"type": "array", "prefixItems": items, "items": false, "minItems": 2},
            "exact": {"type": "array", "prefixItems": items, "minItems": 3, "maxItems": 3, "items": {"type": "boolean"}},
            "open": {"type": "array", "prefixItems": items},
            "single": {"type": "array", "prefixItems": [{"type": "integer"}], "items": false, "minItems": 1},
            "empty": {"type": "array", "items": false},
            "counted": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            "unique": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
        },
        "additionalProperties": false,
    });
    let given = json!({
        "pair": [1, "a"], "exact": [1, "a", true], "open": [1, "a", {}], "single": [1], "empty": [], "counted": [1, 2.0],
        "unique": ["a", "b"],
    });
    subject("tuples", schema, vec![given])
}

pub(super) fn objects() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "free": {"type": "object"},
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
            "words": {"type": "object", "additionalProperties": {"enum": ["a", "b"]}},
            "typed": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "rest": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": {"type": "integer", "minimum": 0},
            },
            "plain": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "integer"}},
            "closed": {"type": "object", "additionalProperties": false},
            "undeclared": {"type": "object", "required": ["x"]},
            "forbidden": {"type": "object", "properties": {"a": {"type": "string"}, "no": false}},
            "shut": {"type": "object", "properties": {"a": {"type": "string"}, "no": false}, "additionalProperties": false},
            "patterned": {"type": "object", "patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": false},
            "few": {"type": "object", "maxProperties": 2, "minProperties": 1, "propertyNames": {"maxLength": 9}},
        },
    });
    let given = json!({
        "free": {"x": 1}, "counts": {"a": 1, "b": 2.0}, "words": {"x": "a"}, "typed": {"name": "a", "x": 1},
        "plain": {"name": "a", "x": 1}, "closed": {}, "undeclared": {"x": null}, "forbidden": {"a": "a"},
        "shut": {"a": "a"}, "patterned": {"n1": 1}, "few": {"a": 1},
    });
    subject("objects", schema, vec![given])
}
