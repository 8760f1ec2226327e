//! Contracts made to hurt: each is lowered or refused, in bounded time and stack.

use std::fmt::Write;

use serde_json::json;
use test_case::test_case;

use super::*;

pub(crate) fn deep(levels: usize) -> Value {
    (0..levels).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}),
    )
}

pub(crate) fn reference_chain(length: usize) -> Value {
    let mut text = String::from("{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for n in 0..length {
        write!(text, "\"d{n}\":{{\"$ref\":\"#/$defs/d{}\"}},", n + 1).unwrap();
    }
    write!(text, "\"d{length}\":{{\"type\":\"string\"}}}}}}").unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Two ways to the next level at every level: 2^levels paths.
pub(crate) fn doubling(levels: usize, keyword: &str) -> Value {
    let mut definitions = serde_json::Map::new();
    for n in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1), "description": "next"});
        let level = json!({"type": "object", "properties": {"a": next}, keyword: [next, next]});
        definitions.insert(format!("d{n}"), level);
    }
    definitions.insert(format!("d{levels}"), json!({"type": "object"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

/// Each level inlines the next, because it is described.
pub(crate) fn described_chain(length: usize) -> Value {
    let mut definitions = serde_json::Map::new();
    for n in 0..length {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1), "description": "next"});
        let level = json!({"type": "object", "properties": {"a": next}});
        definitions.insert(format!("d{n}"), level);
    }
    definitions.insert(format!("d{length}"), json!({"type": "object"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

pub(crate) fn wide(count: usize) -> Value {
    let members = (0..count).map(|n| (format!("p{n}"), json!({"type": "string"})));
    json!({"type": "object", "properties": members.collect::<serde_json::Map<_, _>>()})
}

pub(crate) fn recursive() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#"}},
            "twin": {"allOf": [{"$ref": "#"}, {"$ref": "#/$defs/other"}]}
        },
        "$defs": {"other": {"properties": {"twin": {"allOf": [{"$ref": "#/$defs/other"}, {"$ref": "#"}]}}}}
    })
}

#[test_case(deep(60); "sixty levels")]
#[test_case(reference_chain(5_000); "a chain of five thousand references")]
#[test_case(described_chain(400); "a chain of four hundred described references")]
#[test_case(doubling(24, "anyOf"); "doubling anyOf")]
#[test_case(doubling(24, "allOf"); "doubling allOf")]
#[test_case(doubling(24, "oneOf"); "doubling oneOf")]
#[test_case(wide(10_000); "ten thousand members")]
#[test_case(recursive(); "recursion through allOf")]
#[test_case(json!({"enum": (0..50_000).map(|n| format!("member {n}")).collect::<Vec<_>>()}); "fifty thousand choices")]
#[test_case(json!({"$ref": "#"}); "a reference to itself")]
#[test_case(json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}); "a union of itself")]
#[test_case(json!({"properties": {"a": {"not": {"$ref": "#"}}}}); "its own negation")]
#[test_case(json!({"type": "object", "properties": {"a": false}, "required": ["a"]}); "nothing satisfies it")]
fn hostile_contracts_are_lowered_or_refused(schema: Value) {
    // Some do not even compile, which is an answer, too.
    let Ok(contract) = Contract::compile(schema) else { return };
    for dialect in Dialect::ALL {
        match lower(&contract, dialect) {
            Ok(lowering) => assert_eq!(dialect.problems(&lowering.schema), []),
            Err(refusal) => assert!(!refusal.why.is_empty()),
        }
    }
}

#[test]
fn recursion_is_kept_where_it_may_be_and_cut_where_not() {
    let contract = Contract::compile(json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "child": {"$ref": "#"}},
        "required": ["name"],
        "additionalProperties": false
    }))
    .unwrap();
    let tree = json!({"name": "a", "child": {"name": "b", "child": {"name": "c"}}});
    for dialect in Dialect::ALL {
        let lowering = lower(&contract, dialect).unwrap();
        let is_cut = dialect.table().recursion == Recursion::Cut;
        assert_eq!(
            lowering.losses.iter().any(|loss| loss.keyword == "$ref"),
            is_cut,
            "{dialect:?}"
        );
        assert!(lowering.pre_image(&tree).is_some(), "{dialect:?}");
    }
}
