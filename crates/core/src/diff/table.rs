//! Typical evolutions, and what they ask for.

#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    reason = "a table of schemas that are made for it"
)]

mod choices;
mod members;
mod rules;
mod values;

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
    let rows = [
        annotations(),
        members::members(),
        values::values(),
        choices::choices(),
        values::literals(),
        choices::together(),
        rules::rules(),
        rules::drafts(),
    ]
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
