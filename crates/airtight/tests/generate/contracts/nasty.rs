//! Contracts with what languages stumble over.

use serde_json::{Value, json};

use super::Subject;

/// Ends of comments and strings of every language, and characters that act.
const INJECTION: &str =
    "*/ \"\"\" ''' ` \\ \u{0} \u{202e} \r\n // # ${x} <b> [x](y) | \u{2028} }}}\\";

/// Returns all of them.
pub(super) fn all() -> Vec<Subject> {
    let mut all = vec![names(), comments(), presence(), choices(), numbers(), texts(), unions()];
    all.extend([
        tagged(),
        shared_tags(),
        recursion(),
        aliases(),
        tuples(),
        objects(),
        conditions(),
    ]);
    all.extend([merged(), untyped(), draft_7(), draft_4(), values()]);
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

fn choices() -> Subject {
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

fn numbers() -> Subject {
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

fn texts() -> Subject {
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

fn unions() -> Subject {
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

fn tagged() -> Subject {
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
fn shared_tags() -> Subject {
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

fn recursion() -> Subject {
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
fn aliases() -> Subject {
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

fn tuples() -> Subject {
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

fn objects() -> Subject {
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

/// Names that mean something to prototypes, where values keep them.
fn values() -> Subject {
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
