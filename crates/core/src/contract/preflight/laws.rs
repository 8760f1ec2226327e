//! What holds for every contract.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Options, Preflight, Scrutiny};
use crate::arbitrary::case;
use crate::verdict::check;
use crate::{Answer, Document};

/// Claims what seed 001's walk claims: that a root may accept an object. References are deferred.
fn walk(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return schema == &Value::Bool(true) };
    let includes_object = |types: &Value| {
        types == "object" || types.as_array().is_some_and(|list| list.contains(&json!("object")))
    };
    let branches = |keyword: &str| members.get(keyword).and_then(Value::as_array);
    let bare_negation = members.get("not").and_then(Value::as_object).filter(|it| it.len() == 1);
    let chosen = match members.get("if") {
        Some(Value::Bool(true)) => members.get("then"),
        Some(Value::Bool(false)) => members.get("else"),
        Some(_) | None => None,
    };
    members.get("type").is_none_or(includes_object)
        && members.get("const").is_none_or(Value::is_object)
        && branches("enum").is_none_or(|list| list.iter().any(Value::is_object))
        && branches("anyOf").is_none_or(|list| list.iter().any(walk))
        && branches("oneOf").is_none_or(|list| list.iter().any(walk))
        && branches("allOf").is_none_or(|list| list.iter().all(walk))
        && !bare_negation.and_then(|it| it.get("type")).is_some_and(includes_object)
        && chosen.is_none_or(walk)
}

/// Generates roots of all the keywords that decide about objects.
fn root() -> impl Strategy<Value = Value> {
    let types = prop_oneof![
        Just(json!("object")),
        Just(json!("string")),
        Just(json!(["object", "null"])),
        Just(json!(["integer", "array"])),
    ];
    let value =
        prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!({})), Just(json!({"a": 1}))];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        Just(json!({})),
        types.clone().prop_map(|types| json!({ "type": types })),
        types.prop_map(|types| json!({"not": {"type": types}})),
        value.clone().prop_map(|value| json!({ "const": value })),
        vec(value, 1..3).prop_map(|mut values| {
            values.dedup();
            json!({ "enum": values })
        }),
        Just(json!({"required": ["a"]})),
        Just(json!({"properties": {"a": {"type": "string"}}})),
        Just(json!({"minProperties": 2, "properties": {"a": {}}, "additionalProperties": false})),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        let list = vec(inner.clone(), 1..4);
        prop_oneof![
            list.clone().prop_map(|list| json!({ "anyOf": list })),
            list.clone().prop_map(|list| json!({ "oneOf": list })),
            list.prop_map(|list| json!({ "allOf": list })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            inner.clone().prop_map(|inner| json!({ "not": inner })),
            inner.prop_map(|inner| json!({"$ref": "#/$defs/a", "$defs": {"a": inner}})),
        ]
    });
    nested.prop_filter("a root with definitions of its own", |schema| {
        let text = schema.to_string();
        schema.is_object()
            && text.matches("$ref").count() <= usize::from(schema.get("$ref").is_some())
    })
}

fn permissive() -> Options {
    Options { scrutiny: Scrutiny::Permissive, ..Options::default() }
}

proptest! {
    #[test]
    fn contracts_with_a_conforming_answer_pass(case in case()) {
        let report = Preflight::of(case.schema.clone(), &Options::default());
        prop_assert!(report.contract.is_some(), "{:?} {}", report.diagnostics, case.schema);
        prop_assert_ne!(report.satisfiable.answer, Answer::No);
        if case.answer.is_object() {
            prop_assert_ne!(report.accepts_object.answer, Answer::No);
        }
    }

    #[test]
    fn what_the_seed_rejects_is_never_said_to_accept_objects(schema in root()) {
        let report = Preflight::of(schema.clone(), &permissive());
        if !walk(&schema) {
            prop_assert_ne!(report.accepts_object.answer, Answer::Yes, "{}", schema);
        }
    }

    #[test]
    fn answers_agree_with_the_verdict(schema in root()) {
        let report = Preflight::of(schema.clone(), &permissive());
        let contract = report.contract.as_ref().unwrap();
        let samples = [json!({}), json!({"a": 1}), json!({"a": "x"}), json!({"b": 1, "c": 2}),
            json!(1), json!("a"), json!(null), json!([]), json!(true)];
        for sample in samples {
            let conforms = check(contract, &Document::from_value(&sample).unwrap()).is_empty();
            if conforms {
                prop_assert_ne!(report.satisfiable.answer, Answer::No, "{} {}", schema, sample);
            }
            if conforms && sample.is_object() {
                prop_assert_ne!(report.accepts_object.answer, Answer::No, "{} {}", schema, sample);
            }
        }
    }
}
