//! Generated contracts, each with an answer that conforms, for property tests.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A schema and a value that it accepts.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) schema: Value,
    pub(crate) answer: Value,
}

impl Case {
    fn new(schema: Value, answer: Value) -> Self {
        Self { schema, answer }
    }
}

/// Generates contracts of any root kind with a conforming answer.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    nested().prop_filter_map("definitions of its own", rooted)
}

fn nested() -> impl Strategy<Value = Case> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => object(inner.clone()),
            2 => array(inner.clone()),
            1 => tuple(inner.clone()),
            2 => union(inner.clone()),
            1 => nullable(inner.clone()),
            1 => intersection(inner.clone()),
            1 => reference(inner),
        ]
    })
}

fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,6}"
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[ -~]{0,12}", 1 => "\\PC{0,6}"]
}

fn scalar() -> impl Strategy<Value = Case> {
    prop_oneof![
        Just(Case::new(json!({"type": "null"}), Value::Null)),
        any::<bool>().prop_map(|answer| Case::new(json!({"type": "boolean"}), json!(answer))),
        text().prop_map(|answer| Case::new(json!({"type": "string"}), json!(answer))),
        bounded_text(),
        any::<i32>().prop_map(|answer| Case::new(json!({"type": "integer"}), json!(answer))),
        bounded_integer(),
        any::<i16>().prop_map(|n| Case::new(json!({"type": "number"}), json!(f64::from(n) / 8.0))),
        enumeration(),
        text().prop_map(|answer| Case::new(json!({"const": answer}), json!(answer))),
        word().prop_map(|answer| {
            Case::new(json!({"type": "string", "pattern": "^[a-z]+$"}), json!(answer))
        }),
        Just(Case::new(json!({"type": "string", "format": "date"}), json!("2026-02-15"))),
        text().prop_map(|answer| Case::new(json!({}), json!({ "free": answer }))),
    ]
}

fn bounded_text() -> impl Strategy<Value = Case> {
    (text(), 0usize..3, 0usize..3).prop_map(|(answer, below, above)| {
        let length = answer.chars().count();
        let schema = json!({
            "type": "string",
            "minLength": length.saturating_sub(below),
            "maxLength": length + above,
        });
        Case::new(schema, json!(answer))
    })
}

fn bounded_integer() -> impl Strategy<Value = Case> {
    (any::<i16>(), 0i32..9, 0i32..9).prop_map(|(answer, below, above)| {
        let answer = i32::from(answer);
        let schema =
            json!({"type": "integer", "minimum": answer - below, "maximum": answer + above});
        Case::new(schema, json!(answer))
    })
}

fn enumeration() -> impl Strategy<Value = Case> {
    let member = prop_oneof![word().prop_map(Value::from), any::<i8>().prop_map(Value::from)];
    vec(member, 1..5).prop_flat_map(|members| {
        (0..members.len()).prop_map(move |chosen| {
            let mut distinct: Vec<Value> = Vec::new();
            for member in &members {
                if !distinct.contains(member) {
                    distinct.push(member.clone());
                }
            }
            Case::new(json!({ "enum": distinct }), members[chosen].clone())
        })
    })
}

#[derive(Debug, Clone)]
enum Presence {
    Required,
    Optional,
    Absent,
}

fn object(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    let presence =
        prop_oneof![Just(Presence::Required), Just(Presence::Optional), Just(Presence::Absent)];
    (vec((word(), inner, presence), 0..5), any::<bool>(), any::<bool>()).prop_map(
        |(members, closed, reversed)| {
            let mut properties = Map::new();
            let mut answer = Map::new();
            let mut required = Vec::new();
            for (key, case, presence) in members {
                if properties.contains_key(&key) {
                    continue;
                }
                properties.insert(key.clone(), case.schema);
                if matches!(presence, Presence::Required) {
                    required.push(key.clone());
                }
                if !matches!(presence, Presence::Absent) {
                    answer.insert(key, case.answer);
                }
            }
            if reversed {
                answer = answer.into_iter().rev().collect();
            }
            let mut schema = json!({"type": "object", "properties": properties});
            if !required.is_empty() {
                schema["required"] = json!(required);
            }
            if closed {
                schema["additionalProperties"] = json!(false);
            }
            Case::new(schema, Value::Object(answer))
        },
    )
}

fn array(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (inner, 0usize..4, 0usize..2, 0usize..2).prop_map(|(case, count, below, above)| {
        let mut schema = json!({"type": "array", "items": case.schema});
        if below > 0 {
            schema["minItems"] = json!(count.saturating_sub(1));
        }
        if above > 0 {
            schema["maxItems"] = json!(count + 1);
        }
        Case::new(schema, vec![case.answer; count].into())
    })
}

fn tuple(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (vec(inner, 1..4), any::<bool>()).prop_map(|(cases, closed)| {
        let (schemas, answers): (Vec<_>, Vec<_>) =
            cases.into_iter().map(|case| (case.schema, case.answer)).unzip();
        let mut schema = json!({"type": "array", "prefixItems": schemas});
        if closed {
            schema["items"] = json!(false);
        }
        Case::new(schema, answers.into())
    })
}

fn union(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    vec(inner, 1..4).prop_flat_map(|cases| {
        (0..cases.len()).prop_map(move |chosen| {
            let schemas: Vec<_> = cases.iter().map(|case| case.schema.clone()).collect();
            Case::new(json!({ "anyOf": schemas }), cases[chosen].answer.clone())
        })
    })
}

fn nullable(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (inner, any::<bool>()).prop_map(|(case, is_null)| {
        let answer = if is_null { Value::Null } else { case.answer };
        Case::new(json!({"anyOf": [case.schema, {"type": "null"}]}), answer)
    })
}

fn intersection(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    (inner, word()).prop_map(|(case, title)| {
        Case::new(json!({"allOf": [case.schema, {"title": title}]}), case.answer)
    })
}

/// Moves the inner schema behind a `$ref`; its own definitions move to the root with it.
fn reference(inner: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    inner.prop_map(|case| {
        let mut definition = case.schema;
        let mut definitions = match definition.as_object_mut().and_then(|map| map.remove("$defs")) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let name = format!("d{}", definitions.len());
        definitions.insert(name.clone(), definition);
        let schema = json!({"$ref": format!("#/$defs/{name}"), "$defs": definitions});
        Case::new(schema, case.answer)
    })
}

/// Lifts `$defs` of inner schemas to the root, where the references point.
fn rooted(case: Case) -> Option<Case> {
    fn lift(value: &mut Value, found: &mut Map<String, Value>) -> Option<()> {
        match value {
            Value::Object(map) => {
                let is_reference = map.get("$ref").is_some_and(Value::is_string);
                if is_reference && let Some(Value::Object(inner)) = map.remove("$defs") {
                    let fresh = format!("d{}", found.len());
                    // Only the simple shape that `reference` makes: one definition.
                    if inner.len() != 1 {
                        return None;
                    }
                    let (_, mut definition) = inner.into_iter().next()?;
                    found.insert(fresh.clone(), Value::Null);
                    lift(&mut definition, found)?;
                    found.insert(fresh.clone(), definition);
                    map.insert("$ref".to_owned(), format!("#/$defs/{fresh}").into());
                }
                map.values_mut().try_for_each(|child| lift(child, found))
            }
            Value::Array(items) => items.iter_mut().try_for_each(|child| lift(child, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
        }
    }
    let Case { mut schema, answer } = case;
    let mut found = Map::new();
    lift(&mut schema, &mut found)?;
    if !found.is_empty() {
        schema["$defs"] = Value::Object(found);
    }
    Some(Case { schema, answer })
}

mod tests {
    use super::*;
    use crate::{Contract, Document, verdict::check};

    proptest! {
        #[test]
        fn generated_answers_conform(case in case()) {
            let contract = Contract::compile(case.schema.clone()).unwrap();
            let answer = Document::from_value(&case.answer).unwrap();
            let violations = check(&contract, &answer);
            prop_assert!(violations.is_empty(), "{violations:?} {}", case.schema);
        }
    }
}
