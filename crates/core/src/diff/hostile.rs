//! Schemas that would take long, or break things, if nobody took care.

use serde_json::{Map, Value, json};

use super::*;

fn compile(schema: Value) -> Contract {
    Contract::compile(schema).unwrap()
}

fn answers(old: Value, new: Value) -> (Answer, Answer) {
    let found = diff(&compile(old), &compile(new));
    (found.old_answers.answer, found.consumers.answer)
}

fn wide(count: usize, bound: usize) -> Value {
    let property =
        |n: usize| (format!("p{n}"), json!({"type": "string", "maxLength": bound + n % 7}));
    let properties: Map<String, Value> = (0..count).map(property).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn deep(depth: usize, innermost: Value) -> Value {
    (0..depth).fold(innermost, |inner, _| json!({"type": "object", "properties": {"a": inner}}))
}

fn chain(length: usize, last: Value) -> Value {
    let link = |n: usize| {
        (format!("d{n}"), json!({"properties": {"a": {"$ref": format!("#/$defs/d{}", n + 1)}}}))
    };
    let mut definitions: Map<String, Value> = (0..length).map(link).collect();
    definitions.insert(format!("d{length}"), last);
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

fn choices(rows: usize, bound: usize) -> Value {
    let row = |n: usize| {
        let text = json!({"type": "string", "minLength": n + bound});
        json!({"anyOf": [text, {"type": "number", "minimum": n}, {"type": "array", "minItems": n}]})
    };
    json!({"allOf": (0..rows).map(row).collect::<Vec<_>>()})
}

#[test]
fn thousands_of_changes_are_counted_and_the_first_are_listed() {
    let found = diff(&compile(wide(3_000, 10)), &compile(wide(3_000, 11)));
    assert_eq!((found.changes.len(), found.unlisted), (500, 2_500));
    assert_eq!(found.consumers.answer, Answer::No);
}

#[test]
fn thousands_of_properties_come_and_go_at_once() {
    let (few, many) = (wide(1, 10), wide(3_000, 10));
    for (old, new) in [(&few, &many), (&many, &few)] {
        let found = diff(&compile(old.clone()), &compile(new.clone()));
        assert_eq!((found.changes.len(), found.unlisted), (500, 2_499));
    }
}

#[test]
fn one_change_among_thousands_of_parts_is_decided() {
    assert_eq!(answers(wide(4_000, 10), wide(4_001, 10)), (Answer::Yes, Answer::No));
}

#[test]
fn depth_is_no_obstacle() {
    let (old, new) = (json!({"type": "integer"}), json!({"type": "number"}));
    assert_eq!(answers(deep(60, old), deep(60, new)), (Answer::Yes, Answer::No));
}

#[test]
fn long_chains_of_references_end() {
    let (old, new) = (json!({"type": "integer"}), json!({"type": "number"}));
    // What it does is proven, but too deep inside for an example to show it.
    let found = answers(chain(900, old), chain(900, new));
    assert_eq!(found, (Answer::Yes, Answer::Unknown));
}

#[test]
fn choices_that_multiply_are_not_multiplied_out() {
    assert_eq!(answers(choices(12, 1), choices(12, 0)).0, Answer::Yes);
    assert_eq!(answers(choices(12, 1), choices(11, 1)).0, Answer::Yes);
}

#[test]
fn long_lists_are_compared() {
    let list = |count: usize| json!({"enum": (0..count).collect::<Vec<_>>()});
    assert_eq!(answers(list(50_000), list(50_001)), (Answer::Yes, Answer::No));
}

#[test]
fn a_long_list_hides_no_condition() {
    let numbers: Vec<Value> = (0..600).map(Value::from).collect();
    let more: Vec<Value> = numbers.iter().cloned().chain([json!("x")]).collect();
    let fewer = &numbers[1..];
    let condition = json!({"enum": more, "if": {"minimum": 3}, "then": false});
    assert_eq!(answers(json!({ "enum": numbers }), condition).0, Answer::No);
    let without = json!({"enum": numbers, "not": {"const": 3}});
    assert_eq!(answers(without, json!({ "enum": fewer })).1, Answer::No);
    let choice = json!({"enum": more, "oneOf": [{"minimum": 3}, {"minimum": 5}]});
    assert_eq!(answers(json!({ "enum": numbers }), choice).0, Answer::No);
}

#[test]
fn numbers_that_floats_do_not_hold_are_not_divided_by_them() {
    let listed = json!({"enum": [3, 9_007_199_254_740_993_i64], "multipleOf": 0.3});
    assert_ne!(answers(listed.clone(), json!({"enum": [3]})).0, Answer::Yes);
    assert!(
        Contract::compile(json!({"enum": [9_007_199_254_740_993_i64], "multipleOf": 0.3})).is_ok()
    );
    let divided = json!({"type": "number", "multipleOf": 0.07});
    let without = json!({"type": "number", "multipleOf": 0.07, "not": {"const": i64::MAX}});
    assert_ne!(answers(divided, without).0, Answer::Yes);
    let bounded =
        json!({"exclusiveMaximum": 0.07, "multipleOf": 1e10, "enum": [1e308, 0, i64::MAX]});
    let free = json!({"multipleOf": 1e10, "enum": [1e308, 0, i64::MAX]});
    assert_ne!(answers(bounded, free).1, Answer::Yes);
}

#[test]
fn the_smallest_integer_has_no_opposite() {
    let list = json!({"type": "array", "items": {"enum": [i64::MIN, 100, 0]}});
    let mut ruled = list.clone();
    ruled["x-rules"] = json!([{"rule": "size(self) < 100", "message": "m"}]);
    assert_eq!(answers(list, ruled).1, Answer::Yes);
}

#[test]
fn references_that_depend_on_the_way_to_them_leave_doubt() {
    let dynamic = |bound: usize| {
        json!({
            "$id": "https://a.test/tree",
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": bound}, "next": {"$dynamicRef": "#node"}},
        })
    };
    assert_eq!(answers(dynamic(3), dynamic(4)), (Answer::Unknown, Answer::No));
}

#[test]
fn recursive_contracts_are_compared_by_their_parts() {
    let list = |bound: usize| json!({"type": "object", "properties": {"n": {"type": "integer", "maximum": bound}, "next": {"$ref": "#"}}});
    assert_eq!(answers(list(3), list(4)), (Answer::Yes, Answer::No));
}
