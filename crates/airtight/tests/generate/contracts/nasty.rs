//! Contracts with what languages stumble over.

mod compounds;
mod scalars;
mod unions;

use serde_json::{Value, json};

use super::Subject;

/// Ends of comments and strings of every language, and characters that act.
const INJECTION: &str =
    "*/ \"\"\" ''' ` \\ \u{0} \u{202e} \r\n // # ${x} <b> [x](y) | \u{2028} }}}\\";

/// Returns all of them.
pub(super) fn all() -> Vec<Subject> {
    let mut all = vec![
        names(),
        comments(),
        presence(),
        scalars::choices(),
        scalars::numbers(),
        scalars::texts(),
        scalars::marks(),
        unions::unions(),
    ];
    all.extend([
        unions::tagged(),
        unions::shared_tags(),
        compounds::recursion(),
        compounds::aliases(),
        compounds::tuples(),
        compounds::objects(),
        conditions(),
    ]);
    all.extend([merged(), untyped(), draft_7(), draft_4(), scalars::values()]);
    all.extend(roots());
    all
}

fn subject(name: &'static str, schema: Value, instances: Vec<Value>) -> Subject {
    Subject { name, schema, instances }
}

/// Words that languages keep for themselves, names that become the same, and names that are none.
fn names() -> Subject {
    let keys = [
        "self",
        "Self",
        "super",
        "crate",
        "type",
        "fn",
        "async",
        "class",
        "def",
        "None",
        "model_config",
        "model_dump",
        "json",
        "copy",
        "list",
        "str",
        "Root",
        "func",
        "range",
        "a-b",
        "a b",
        "a_b",
        "A_B",
        "aB",
        "größe",
        "名前",
        "3d",
        "_private",
        "",
        "-",
        "$ref",
        "constructor",
        "toString",
        "a.b",
        "\"quoted\"",
        "back`tick",
        "a,b",
        "Validate",
        "UnmarshalJSON",
        "rest",
        "value",
        "\u{1f600}",
    ];
    let properties = keys.map(|key| (key.to_owned(), json!({"type": "string"})));
    let required: Vec<&str> = keys.iter().copied().step_by(2).collect();
    let schema = json!({
        "type": "object",
        "properties": properties.into_iter().collect::<serde_json::Map<_, _>>(),
        "required": required,
        "additionalProperties": false,
    });
    subject("names", schema, Vec::new())
}

fn comments() -> Subject {
    let schema = json!({
        "title": INJECTION,
        "description": INJECTION,
        "type": "object",
        "properties": {
            INJECTION: {"type": "integer", "description": INJECTION, "minimum": 3},
            "word": {"enum": [INJECTION, "x", "", "Self", "1", "\u{1f600}", "a b", "A B"], "description": INJECTION},
            "constant": {"const": INJECTION},
            "text": {"type": "string", "pattern": "^[\"'`/\\\\*#${}|\u{2028}]*$", "minLength": 1},
            "inner": {"type": "object", "title": INJECTION, "properties": {"x": {}}, "x-rules": [
                {"rule": "has(self.x)", "message": INJECTION}
            ]},
        },
        "required": [INJECTION],
        "additionalProperties": false,
    });
    subject(
        "comments",
        schema,
        vec![json!({INJECTION: 3, "word": "1", "text": "\"'`/\\*#${}|\u{2028}"})],
    )
}

/// Absent, `null` and there, of every kind of value.
fn presence() -> Subject {
    let kinds = [
        ("text", json!({"type": "string"})),
        ("short", json!({"type": "string", "maxLength": 3})),
        ("whole", json!({"type": "integer"})),
        ("small", json!({"type": "integer", "minimum": 1})),
        ("number", json!({"type": "number"})),
        ("flag", json!({"type": "boolean"})),
        ("list", json!({"type": "array", "items": {"type": ["integer", "null"]}})),
        ("map", json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        (
            "object",
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
        ),
        ("word", json!({"enum": ["a", "b"]})),
        ("any", json!({})),
        ("null", json!({"type": "null"})),
        ("union", json!({"type": ["string", "integer"]})),
    ];
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for (name, schema) in &kinds {
        let nullable = json!({"anyOf": [schema, {"type": "null"}]});
        properties.insert(format!("{name}_needed"), schema.clone());
        properties.insert(format!("{name}_optional"), schema.clone());
        properties.insert(format!("{name}_needed_or_null"), nullable.clone());
        properties.insert(format!("{name}_optional_or_null"), nullable);
        required.extend([format!("{name}_needed"), format!("{name}_needed_or_null")]);
    }
    subject(
        "presence",
        json!({"type": "object", "properties": properties, "required": required}),
        Vec::new(),
    )
}

/// What no type says.
fn conditions() -> Subject {
    let schema = json!({
        "type": "object",
        "properties": {
            "needed": {"type": "boolean"},
            "reason": {"type": "string", "not": {"const": "x"}},
            "numbers": {"type": "array", "contains": {"const": 1}, "items": {"type": "integer"}},
            "from": {"type": "integer"},
            "to": {"type": "integer"},
        },
        "required": ["needed"],
        "if": {"properties": {"needed": {"const": true}}},
        "then": {"required": ["reason"]},
        "dependentRequired": {"from": ["to"]},
        "dependentSchemas": {"to": {"required": ["from"]}},
        "x-rules": [{"rule": "!has(self.from) || self.from <= self.to", "message": "from is before to"}],
        "unevaluatedProperties": false,
    });
    let given = json!({"needed": true, "reason": "y", "numbers": [1], "from": 1, "to": 2});
    subject("conditions", schema, vec![given])
}

fn merged() -> Subject {
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"extra": {"type": "integer", "maximum": 9}}}],
        "type": "object",
        "properties": {"name": {"maxLength": 5}, "extra": {"minimum": 3}},
        "required": ["extra"],
        "$defs": {"base": {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 2}, "id": {"type": ["string", "integer"]}},
            "required": ["name"],
        }},
    });
    subject("merged", schema, vec![json!({"name": "abc", "extra": 5, "id": 1})])
}

fn untyped() -> Subject {
    let schema = json!({
        "properties": {"a": {"minLength": 2}, "b": {"items": {"minimum": 3}}, "c": {"description": "anything"}},
        "required": ["a"],
    });
    subject("untyped", schema, vec![json!({"a": "ab", "b": [3], "c": 1})])
}

fn draft_7() -> Subject {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "point": {"type": "array", "items": [{"type": "number"}, {"type": "number"}], "additionalItems": false, "minItems": 2},
            "named": {"$ref": "#/definitions/named", "minLength": 100},
        },
        "definitions": {"named": {"type": "string", "minLength": 1}},
        "required": ["point"],
    });
    subject("draft_7", schema, vec![json!({"point": [1, 2.5], "named": "a"})])
}

fn draft_4() -> Subject {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://a.test/draft-4.json",
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 0, "exclusiveMinimum": true},
            "level": {"type": "integer", "enum": [1, 2]},
        },
        "required": ["count"],
    });
    subject("draft_4", schema, vec![json!({"count": 1, "level": 2})])
}

/// Roots that are no objects.
fn roots() -> Vec<Subject> {
    let object =
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    vec![
        subject("root_text", json!({"type": "string", "minLength": 1, "maxLength": 3}), Vec::new()),
        subject("root_plain", json!({"type": "string"}), Vec::new()),
        subject("root_word", json!({"enum": ["a", "b"]}), Vec::new()),
        subject("root_whole", json!({"type": "integer"}), Vec::new()),
        subject("root_small", json!({"type": "integer", "minimum": 1}), Vec::new()),
        subject("root_flag", json!({"type": "boolean"}), Vec::new()),
        subject("root_null", json!({"type": "null"}), Vec::new()),
        subject("root_any", json!({"description": "anything"}), vec![json!({"a": 1})]),
        subject(
            "root_list",
            json!({"type": "array", "items": {"type": "integer"}}),
            vec![json!([1, 2])],
        ),
        subject(
            "root_few",
            json!({"type": "array", "items": object, "maxItems": 2}),
            vec![json!([{"a": 1}])],
        ),
        subject(
            "root_map",
            json!({"type": "object", "additionalProperties": object}),
            vec![json!({"x": {"a": 1}})],
        ),
        subject(
            "root_nullable",
            json!({"anyOf": [object, {"type": "null"}]}),
            vec![json!({"a": 1})],
        ),
        subject(
            "root_union",
            json!({"anyOf": [object, {"type": "string"}]}),
            vec![json!({"a": 1}), json!("x")],
        ),
        subject(
            "root_reference",
            json!({"$ref": "#/$defs/a", "$defs": {"a": object}}),
            vec![json!({"a": 1})],
        ),
        subject(
            "root_pair",
            json!({"type": "array", "prefixItems": [{"type": "integer"}, object], "minItems": 2, "items": false}),
            vec![json!([1, {"a": 2}])],
        ),
    ]
}
