//! Numbers, texts and listed values.

use serde_json::{Map, Value, json};

use super::{Subject, subject};

pub(super) fn choices() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "one": {"const": 1},
            "numbers": {"enum": [1, 2.0, -3]},
            "fractions": {"enum": [0.5, 1, 1e300]},
            "yes": {"const": true},
            "either": {"enum": [true, false]},
            "nothing": {"const": null},
            "mixed": {"enum": ["a", 1, true, null, 2.5]},
            "compound": {"enum": [{"a": 1}, [1, 2], "x"]},
            "typed": {"type": "string", "enum": ["a", 1, "b"]},
            "both": {"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]},
            "nullable": {"enum": ["a", null]},
            "bounded": {"type": "string", "enum": ["a", "abc"], "minLength": 2},
        },
        "additionalProperties": false,
    });
    subject("choices", schema, vec![json!({"mixed": 2.5, "compound": [1, 2], "nullable": null})])
}

pub(super) fn numbers() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "least": {"type": "integer", "minimum": -1},
            "fraction": {"type": "integer", "minimum": 0.5, "maximum": 7.5},
            "beyond": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
            "even": {"type": "integer", "multipleOf": 2},
            "sixth": {"type": "integer", "allOf": [{"multipleOf": 2}, {"multipleOf": 3}]},
            "unsigned": {"type": "integer", "minimum": 0, "maximum": 18_446_744_073_709_551_615_u64},
            "large": {"type": "integer", "minimum": 10_000_000_000_000_000_000_u64},
            "huge": {"type": "integer", "maximum": 1e300},
            "limits": {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX},
            "ratio": {"type": "number", "minimum": 0, "maximum": 1},
            "open": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "tenth": {"type": "number", "multipleOf": 0.1},
            "plain": {"type": "number"},
            "either": {"type": ["integer", "number"]},
        },
        "additionalProperties": false,
    });
    let given = json!({
        "least": 1, "fraction": 1, "beyond": 1, "even": 2, "sixth": 6, "unsigned": 1, "huge": 5, "limits": 0,
        "large": 1e19, "ratio": 0.5, "open": 0.5, "tenth": 0.5, "plain": 1, "either": 1.5,
    });
    subject("numbers", schema, vec![given])
}

pub(super) fn texts() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "one": {"type": "string", "minLength": 1, "maxLength": 1},
            "two": {"type": "string", "minLength": 2},
            "slug": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "inside": {"type": "string", "pattern": "[0-9]"},
            "both": {"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "z$"}]},
            "group": {"type": "string", "pattern": "^(ab|c\\.d){2,3}$"},
            "space": {"type": "string", "pattern": "^\\S+\\s\\w+$"},
            "letters": {"type": "string", "pattern": "^\\p{L}+$"},
            "dot": {"type": "string", "pattern": "^.{1,2}$"},
            "date": {"type": "string", "format": "date"},
        },
        "additionalProperties": false,
    });
    let given = json!({
        "one": "\u{1f600}", "two": "\u{1f600}x", "slug": "a-1", "inside": "x1", "both": "a z", "group": "abc.d",
        "space": "é a", "letters": "é", "dot": "\u{1f600}", "date": "2026-02-15",
    });
    subject("texts", schema, vec![given])
}

/// Each mark by itself and in a class, with a backslash before it: engines differ in which they refuse.
pub(super) fn marks() -> Subject {
    let marks = "!\"#$%&'()*+,-./:;=?@[\\]^`{|}~";
    let (mut properties, mut given) = (Map::new(), Map::new());
    for (position, mark) in marks.chars().enumerate() {
        let pattern = format!("^x\\{mark}[\\{mark}y]$");
        properties
            .insert(format!("mark_{position}"), json!({"type": "string", "pattern": pattern}));
        given.insert(format!("mark_{position}"), Value::from(format!("x{mark}{mark}")));
    }
    properties
        .insert("day".to_owned(), json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"}));
    given.insert("day".to_owned(), json!("2026-02"));
    let schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    subject("marks", schema, vec![Value::Object(given)])
}

/// Names that mean something to prototypes, where values keep them.
pub(super) fn values() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {"map": {"type": "object", "additionalProperties": {"type": "integer"}}, "free": {}},
        "required": ["map", "free"],
    });
    subject(
        "values",
        schema,
        vec![json!({"map": {"constructor": 1, "hasOwnProperty": 2, "": 3}, "free": {"a": [1]}})],
    )
}
