//! Typical evolutions, and what they ask for.

#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    reason = "a table of schemas that are made for it"
)]

use serde_json::{Value, json};

use super::*;
use crate::verdict::check_against;
use Answer::{No, Unknown, Yes};

/// What changes, from what, to what, whether old answers stay valid, whether consumers are safe.
type Row = (&'static str, Value, Value, Answer, Answer);

fn closed(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn open(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// An object with one required member.
fn member(schema: Value) -> Value {
    closed(json!({ "a": schema }), json!(["a"]))
}

fn text() -> Value {
    json!({"type": "string"})
}

fn tree(name: Value, required: Value) -> Value {
    json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {
            "type": "object",
            "properties": {"name": name, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": required,
        }},
    })
}

fn annotations() -> Vec<Row> {
    vec![
        (
            "a description",
            member(text()),
            member(json!({"type": "string", "description": "d"})),
            Yes,
            Yes,
        ),
        (
            "a default and examples",
            member(text()),
            member(json!({"type": "string", "default": "x", "examples": ["y"]})),
            Yes,
            Yes,
        ),
        ("an extension", member(text()), member(json!({"type": "string", "x-note": 1})), Yes, Yes),
        (
            "the order of lists",
            member(json!({"enum": ["a", "b"]})),
            member(json!({"enum": ["b", "a"]})),
            Yes,
            Yes,
        ),
        (
            "a part moves to a definition",
            member(text()),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}, "required": ["a"], "additionalProperties": false, "$defs": {"t": {"type": "string"}}}),
            Yes,
            Yes,
        ),
        (
            "a definition is renamed",
            tree(text(), json!(["name"])),
            json!({
                "$ref": "#/$defs/leaf",
                "$defs": {"leaf": {"type": "object", "properties": {"name": text(), "children": {"type": "array", "items": {"$ref": "#/$defs/leaf"}}}, "required": ["name"]}},
            }),
            Yes,
            Yes,
        ),
        (
            "a list of types becomes a choice",
            member(json!({"type": ["string", "null"]})),
            member(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
            Yes,
            Yes,
        ),
        (
            "an exclusive bound",
            member(json!({"type": "integer", "minimum": 0})),
            member(json!({"type": "integer", "exclusiveMinimum": -1})),
            Yes,
            Yes,
        ),
        (
            "a constraint without effect",
            member(json!({"type": "string"})),
            member(json!({"type": "string", "minimum": 3})),
            Yes,
            Yes,
        ),
        (
            "an intersection",
            open(json!({"a": text(), "b": text()}), json!(["a"])),
            json!({"allOf": [open(json!({"a": text()}), json!(["a"])), {"properties": {"b": text()}}]}),
            Yes,
            Yes,
        ),
    ]
}

fn members() -> Vec<Row> {
    let none = || json!([]);
    vec![
        (
            "closed: an optional property more",
            closed(json!({"a": text()}), none()),
            closed(json!({"a": text(), "b": text()}), none()),
            Yes,
            No,
        ),
        (
            "open: an optional property more",
            open(json!({"a": text()}), none()),
            open(json!({"a": text(), "b": text()}), none()),
            No,
            Yes,
        ),
        (
            "closed: a required property more",
            closed(json!({"a": text()}), none()),
            closed(json!({"a": text(), "b": text()}), json!(["b"])),
            No,
            No,
        ),
        (
            "open: a required property more",
            open(json!({"a": text()}), none()),
            open(json!({"a": text(), "b": text()}), json!(["b"])),
            No,
            Yes,
        ),
        (
            "closed: an optional property less",
            closed(json!({"a": text(), "b": text()}), none()),
            closed(json!({"a": text()}), none()),
            No,
            Yes,
        ),
        (
            "open: an optional property less",
            open(json!({"a": text(), "b": text()}), none()),
            open(json!({"a": text()}), none()),
            Yes,
            No,
        ),
        (
            "a property is renamed",
            member(text()),
            closed(json!({"b": text()}), json!(["b"])),
            No,
            No,
        ),
        (
            "optional becomes required",
            closed(json!({"a": text()}), none()),
            member(text()),
            No,
            Yes,
        ),
        (
            "required becomes optional",
            member(text()),
            closed(json!({"a": text()}), none()),
            Yes,
            No,
        ),
        (
            "closed",
            open(json!({"a": text()}), none()),
            closed(json!({"a": text()}), none()),
            No,
            Yes,
        ),
        (
            "opened",
            closed(json!({"a": text()}), none()),
            open(json!({"a": text()}), none()),
            Yes,
            No,
        ),
        (
            "others are held to a schema",
            open(json!({"a": text()}), none()),
            json!({"type": "object", "properties": {"a": text()}, "additionalProperties": {"type": "integer"}}),
            No,
            Yes,
        ),
        (
            "a pattern of names more",
            json!({"type": "object"}),
            json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}}),
            No,
            Yes,
        ),
        (
            "names are limited",
            json!({"type": "object"}),
            json!({"type": "object", "propertyNames": {"maxLength": 3}}),
            No,
            Yes,
        ),
        (
            "more members are demanded",
            json!({"type": "object"}),
            json!({"type": "object", "minProperties": 2}),
            No,
            Yes,
        ),
        (
            "one member asks for another",
            json!({"type": "object"}),
            json!({"type": "object", "dependentRequired": {"a": ["b"]}}),
            No,
            Yes,
        ),
        (
            "a property deep inside",
            member(open(json!({"b": open(json!({"c": text()}), none())}), none())),
            member(open(json!({"b": open(json!({"c": text()}), json!(["c"]))}), none())),
            No,
            Yes,
        ),
    ]
}

fn values() -> Vec<Row> {
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

fn choices() -> Vec<Row> {
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

/// Parts that accept everything or nothing.
fn literals() -> Vec<Row> {
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

/// Several changes at once, where each would say something else alone.
fn together() -> Vec<Row> {
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

fn rules() -> Vec<Row> {
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

fn drafts() -> Vec<Row> {
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

fn compile(schema: &Value) -> Contract {
    Contract::compile(schema.clone()).unwrap()
}

/// Claims that a witness is one.
pub(super) fn is_sound(witness: &Witness, old: &Contract, new: &Contract) -> bool {
    let source = witness.grounds.source(&witness.value);
    let verdicts = [old, new].map(|it| check_against(it, &witness.value, &source).is_empty());
    verdicts == [witness.accepted_by == Side::Old, witness.accepted_by == Side::New]
}

#[test]
fn typical_evolutions_ask_for_the_step_that_they_need() {
    let rows =
        [annotations(), members(), values(), choices(), literals(), together(), rules(), drafts()]
            .concat();
    let mut wrong = Vec::new();
    for (name, old, new, old_answers, consumers) in rows {
        let (old, new) = (compile(&old), compile(&new));
        let found = diff(&old, &new);
        let answers = (found.old_answers.answer, found.consumers.answer);
        if answers != (old_answers, consumers) {
            wrong.push(format!("{name}: {answers:?} {:#?}", found.changes));
        }
        for ruling in found.changes.iter().flat_map(|it| [&it.old_answers, &it.consumers]) {
            assert_eq!(ruling.witness.is_some(), ruling.answer == No, "{name}");
            assert!(ruling.witness.iter().all(|it| is_sound(it, &old, &new)), "{name}");
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_same_contract_has_no_changes() {
    let (old, new) = (member(text()), json!({"x-version": "2.0.0"}));
    let mut newer = old.clone();
    newer["x-version"] = new["x-version"].clone();
    let found = diff(&compile(&old), &compile(&newer));
    assert_eq!((found.changes.len(), found.step()), (0, None));
    assert_eq!(found.old_answers.answer, Yes);
}
