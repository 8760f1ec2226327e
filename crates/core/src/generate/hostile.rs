//! Contracts that mean harm: each is generated or refused, in bounded time and stack.

use serde_json::{Value, json};
use test_case::test_case;

use super::{GenerateError, Order, Target, generate};
use crate::contract::Contract;
use crate::lower::hostile::{deep, described_chain, doubling, recursive, reference_chain, wide};

fn generated(schema: Value, target: Target) -> Result<String, GenerateError> {
    let contract = Contract::compile(schema).unwrap();
    let order = Order { target, contract: "contract", root: None, dialect: None };
    generate(&contract, &order).map(|generated| generated.text)
}

/// Several unions in one place, whose alternatives multiply.
fn product(unions: usize, alternatives: usize) -> Value {
    let union = |union: usize| {
        let branch = |n: usize| json!({"properties": {format!("u{union}"): {"const": n}}});
        json!({"anyOf": (0..alternatives).map(branch).collect::<Vec<_>>()})
    };
    json!({"type": "object", "allOf": (0..unions).map(union).collect::<Vec<_>>()})
}

/// Definitions that only stand for others, each with words of its own.
fn alias_chain(length: usize) -> Value {
    let list = |n: usize| json!({"type": "array", "items": {"$ref": format!("#/$defs/d{n}")}});
    let mut definitions: serde_json::Map<String, Value> =
        (0..length).map(|n| (format!("d{n}"), list(n + 1))).collect();
    definitions.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

/// A text that is repeated in each of many alternatives.
fn long_words(alternatives: usize) -> Value {
    let words: Vec<String> = (0..500).map(|n| format!("{n}{}", "x".repeat(200))).collect();
    let branch = |n: usize| json!({"properties": {"n": {"const": n}}});
    json!({
        "type": "object",
        "description": "y".repeat(100_000),
        "properties": {"words": {"enum": words, "description": "z".repeat(100_000)}},
        "anyOf": (0..alternatives).map(branch).collect::<Vec<_>>(),
    })
}

#[test_case(&deep(40); "deep")]
#[test_case(&reference_chain(60); "reference chain")]
#[test_case(&doubling(20, "anyOf"); "doubling")]
#[test_case(&described_chain(1_000); "described chain")]
#[test_case(&alias_chain(3_000); "alias chain")]
#[test_case(&wide(5_000); "wide")]
#[test_case(&recursive(); "recursive")]
#[test_case(&product(5, 9); "product")]
#[test_case(&long_words(300); "long words")]
fn hostile_contracts_are_generated_within_bounds(schema: &Value) {
    for target in [Target::Markdown, Target::Rust, Target::Typescript, Target::Python, Target::Go] {
        let text = generated(schema.clone(), target).unwrap();
        assert!(text.len() < 40_000_000, "{}: {} bytes", target.name(), text.len());
    }
}

/// Ends of comments and strings of every language, and characters that act.
const NASTY: &str = "*/ \"\"\" ''' ` \\ \u{0} \u{202e} \r // # ${x} <b> [x](y) | \u{2028} \n}}}";

#[test]
fn what_a_contract_says_stays_in_its_comments_and_strings() {
    let schema = json!({
        "title": NASTY,
        "description": NASTY,
        "type": "object",
        "properties": {
            NASTY: {"type": "string", "description": NASTY, "pattern": "^\"/`\\\\\u{2028}$"},
            "word": {"enum": [NASTY, "x"]},
            "word2": {"const": NASTY},
        },
        "required": [NASTY],
        "additionalProperties": false,
    });
    for target in [Target::Markdown, Target::Rust, Target::Typescript, Target::Python, Target::Go] {
        let text = generated(schema.clone(), target).unwrap();
        let hidden = text.chars().find(|it| crate::is_treacherous(*it) && !"\n\t".contains(*it));
        assert_eq!(hidden, None, "{}", target.name());
        assert!(!text.contains("*/ \"\"\" '''"), "{text}");
    }
}

#[test]
fn what_nothing_satisfies_has_no_types() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"allOf": [{"enum": ["x"]}, {"enum": ["y"]}]}},
        "required": ["a"],
        "if": {"required": ["b"]}, "then": {"required": ["c"]},
    });
    let Ok(contract) = Contract::compile(schema) else { return };
    let order = Order { target: Target::Rust, contract: "c", root: None, dialect: None };
    assert!(matches!(generate(&contract, &order), Err(GenerateError::Unsatisfiable)));
}
