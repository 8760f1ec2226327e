//! Values: types, bounds, texts, and `true` and `false`.

use super::*;

pub(super) fn values() -> Vec<Row> {
    vec![
        (
            "a value more",
            member(json!({"enum": ["a", "b"]})),
            member(json!({"enum": ["a", "b", "c"]})),
            Yes,
            No,
        ),
        (
            "a value less",
            member(json!({"enum": ["a", "b"]})),
            member(json!({"enum": ["a"]})),
            No,
            Yes,
        ),
        (
            "a value is renamed",
            member(json!({"enum": ["a", "b"]})),
            member(json!({"enum": ["a", "B"]})),
            No,
            No,
        ),
        ("another constant", member(json!({"const": 1})), member(json!({"const": 2})), No, No),
        (
            "values become free",
            member(json!({"type": "string", "enum": ["a"]})),
            member(text()),
            Yes,
            No,
        ),
        (
            "a longer text",
            member(json!({"type": "string", "maxLength": 5})),
            member(json!({"type": "string", "maxLength": 9})),
            Yes,
            No,
        ),
        (
            "a shorter text",
            member(json!({"type": "string", "maxLength": 9})),
            member(json!({"type": "string", "maxLength": 5})),
            No,
            Yes,
        ),
        (
            "a higher minimum",
            member(json!({"type": "integer", "minimum": 0})),
            member(json!({"type": "integer", "minimum": 1})),
            No,
            Yes,
        ),
        (
            "a range moves",
            member(json!({"type": "number", "minimum": 0, "maximum": 1})),
            member(json!({"type": "number", "minimum": 0.5, "maximum": 2})),
            No,
            No,
        ),
        (
            "multiples",
            member(json!({"type": "integer"})),
            member(json!({"type": "integer", "multipleOf": 5})),
            No,
            Yes,
        ),
        (
            "integers become numbers",
            member(json!({"type": "integer"})),
            member(json!({"type": "number"})),
            Yes,
            No,
        ),
        (
            "numbers become integers",
            member(json!({"type": "number"})),
            member(json!({"type": "integer"})),
            No,
            Yes,
        ),
        ("null is allowed", member(text()), member(json!({"type": ["string", "null"]})), Yes, No),
        (
            "null is allowed by a choice",
            member(text()),
            member(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
            Yes,
            No,
        ),
        ("another type", member(text()), member(json!({"type": "integer"})), No, No),
        (
            "a pattern more",
            member(text()),
            member(json!({"type": "string", "pattern": "^[a-z]+$"})),
            No,
            Yes,
        ),
        (
            "another pattern",
            member(json!({"type": "string", "pattern": "^a+$"})),
            member(json!({"type": "string", "pattern": "^b+$"})),
            No,
            No,
        ),
        (
            "a format more",
            member(text()),
            member(json!({"type": "string", "format": "date"})),
            No,
            Yes,
        ),
        (
            "another format",
            member(json!({"type": "string", "format": "date"})),
            member(json!({"type": "string", "format": "date-time"})),
            No,
            No,
        ),
        (
            "other items",
            member(json!({"type": "array", "items": text()})),
            member(json!({"type": "array", "items": {"type": "integer"}})),
            No,
            No,
        ),
        (
            "more items are demanded",
            member(json!({"type": "array", "minItems": 1})),
            member(json!({"type": "array", "minItems": 2})),
            No,
            Yes,
        ),
        (
            "items must differ",
            member(json!({"type": "array"})),
            member(json!({"type": "array", "uniqueItems": true})),
            No,
            Yes,
        ),
        (
            "a tuple grows",
            member(json!({"type": "array", "prefixItems": [text()], "items": false})),
            member(json!({"type": "array", "prefixItems": [text(), text()], "items": false})),
            Yes,
            No,
        ),
    ]
}

/// Parts that accept everything or nothing.
pub(super) fn literals() -> Vec<Row> {
    let any = |schema: Value| open(json!({ "a": schema }), json!([]));
    let rest = |schema: Value| json!({"type": "object", "properties": {"a": text()}, "additionalProperties": schema});
    vec![
        ("a property becomes anything", any(text()), any(json!(true)), Yes, No),
        ("a property is forbidden", any(text()), any(json!(false)), No, Yes),
        ("a forbidden property is allowed", any(json!(false)), any(text()), Yes, No),
        ("anything becomes a text", any(json!(true)), any(text()), No, Yes),
        ("true is an empty schema", any(json!(true)), any(json!({})), Yes, Yes),
        ("other members become free", rest(text()), rest(json!(true)), Yes, No),
        ("other members are refused", rest(text()), rest(json!(false)), No, Yes),
        (
            "other members are held to less",
            rest(json!({"type": "string", "maxLength": 3})),
            rest(text()),
            Yes,
            No,
        ),
    ]
}
