use super::*;
use crate::arbitrary::case;
use crate::contract::{Options, Preflight, Scrutiny};
use crate::suite::{DRAFTS, Group, Suite};
use crate::verdict::check;
use proptest::prelude::*;
use serde_json::json;
use test_case::test_case;

/// Compiles also what preflight knows to be unsatisfiable.
fn permitted(schema: Value) -> Contract {
    let options = Options { scrutiny: Scrutiny::Permissive, ..Options::default() };
    Preflight::of(schema, &options).into_result().unwrap()
}

fn example(schema: Value) -> Value {
    Contract::compile(schema).unwrap().example().unwrap().to_value()
}

proptest! {
    #[test]
    fn satisfiable_contracts_have_examples(case in case()) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let example = contract.example();
        prop_assert!(example.is_ok(), "{example:?} {}", case.schema);
        prop_assert!(check(&contract, &example.unwrap()).is_empty());
    }
}

#[test_case(json!({"type": "string", "examples": ["given"]}), json!("given"); "examples")]
#[test_case(json!({"type": "string", "examples": [1, "given"]}), json!("given"); "an example that conforms")]
#[test_case(json!({"type": "integer", "default": 7}), json!(7); "default")]
#[test_case(json!({"type": "integer", "default": 7, "minimum": 9}), json!(9); "default out of bounds")]
#[test_case(json!({"const": [null]}), json!([null]); "constant")]
#[test_case(json!({"enum": ["a", "b"]}), json!("a"); "enum")]
#[test_case(json!({"enum": ["a", 3], "type": "integer"}), json!(3); "enum that conforms")]
#[test_case(json!({"type": ["null", "boolean"]}), json!(true); "null comes last")]
#[test_case(json!({"type": "integer", "exclusiveMinimum": 3, "multipleOf": 4}), json!(4); "integer")]
#[test_case(json!({"type": "integer", "maximum": -3}), json!(-3); "negative")]
#[test_case(json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5); "fraction")]
#[test_case(json!({"type": "number", "minimum": 0.25, "maximum": 0.35, "multipleOf": 0.1}), json!(0.3); "decimal step")]
#[test_case(json!({"type": "integer", "minimum": 9_007_199_254_740_993_i64}), json!(9_007_199_254_740_993_i64); "beyond floats")]
#[test_case(json!({"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"}), json!("ABC-5678"); "pattern")]
#[test_case(json!({"type": "string", "format": "date"}), json!("2026-02-01"); "format")]
#[test_case(json!({"type": "string", "pattern": "^[a-z-]+$", "minLength": 4, "maxLength": 5}), json!("abcd"); "pattern of a length")]
#[test_case(json!({"properties": {"lineStart": {"type": "string"}}}), json!({"lineStart": "Example line start"}); "prose")]
#[test_case(json!({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}), json!([1, 2, 3]); "unique items")]
#[test_case(json!({"type": "array", "items": {"type": "integer"}}), json!([1]); "one item")]
#[test_case(json!({"type": "array", "maxItems": 0}), json!([]); "no items")]
#[test_case(json!({"type": "array", "contains": {"const": "x"}, "minContains": 2}), json!(["x", "x"]); "contains")]
#[test_case(json!({"prefixItems": [{"const": 1}, {"const": 2}], "items": false}), json!([1, 2]); "tuple")]
#[test_case(json!({"allOf": [{"required": ["b"]}, {"properties": {"b": {"const": 1}}}]}), json!({"b": 1}); "all of")]
#[test_case(json!({"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 0}, {"const": "x"}]}), json!("x"); "exactly one")]
#[test_case(json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": false}}), json!({"a": 1}); "forbidden property")]
#[test_case(json!({"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}), json!({"name": 1, "name2": 1}); "counted properties")]
#[test_case(json!({"type": "object", "patternProperties": {"^x-": {"const": 1}}}), json!({"x-": 1}); "pattern properties")]
#[test_case(json!({"type": "object", "minProperties": 1, "propertyNames": {"enum": ["k"]}, "additionalProperties": {"const": 1}}), json!({"k": 1}); "property names")]
#[test_case(json!({"properties": {"a": {"const": 1}}, "dependentRequired": {"a": ["b"]}, "additionalProperties": {"const": 2}}), json!({"a": 1, "b": 2}); "dependent")]
#[test_case(
    json!({"properties": {"next": {"$ref": "#"}, "v": {"const": 1}}, "required": ["v"]}),
    json!({"v": 1}); "optional recursion"
)]
#[test_case(
    json!({"properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["next"]}),
    json!({"next": null}); "recursion with a way out"
)]
#[test_case(
    json!({"properties": {"on": {"type": "boolean"}, "why": {"const": "w"}},
        "if": {"properties": {"on": {"const": true}}}, "then": {"required": ["why"]}}),
    json!({"on": true, "why": "w"}); "condition"
)]
#[test_case(
    json!({"properties": {"a": {"const": 5}, "b": {"type": "integer"}},
        "required": ["a", "b"], "x-rules": [{"rule": "self.b >= self.a"}], "minProperties": 2,
        "allOf": [{"properties": {"b": {"examples": [1, 9]}}}]}),
    json!({"a": 5, "b": 9}); "rule"
)]
fn examples_are_what_one_would_write(schema: Value, expected: impl Into<Value>) {
    assert_eq!(example(schema), expected.into());
}

#[test]
fn grounded_strings_have_examples() {
    example(json!({"type": "string", "x-grounded": true}));
}

#[test_case(json!({"type": "integer", "minimum": 3, "maximum": 2}); "contradictory bounds")]
#[test_case(json!({"required": ["a"], "properties": {"a": {"$ref": "#"}}, "type": "object"}); "endless")]
#[test_case(json!({"allOf": [{"type": "string"}, {"type": "integer"}]}); "contradictory types")]
#[test_case(json!({"not": {}}); "all forbidden")]
#[test_case(json!({"x-rules": [{"rule": "self != self"}]}); "rule that never holds")]
#[test_case(json!({"type": "string", "minLength": 4_000_000_000_u64}); "huge text")]
#[test_case(json!({"type": "array", "minItems": 4_000_000_000_u64}); "huge array")]
fn what_cannot_be_shown_is_an_error(schema: Value) {
    assert!(permitted(schema).example().is_err());
}

/// Thirty levels with two ways each, all of which lead nowhere.
fn maze() -> Value {
    let level = |n: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        json!({"anyOf": [
            {"type": "object", "required": ["a"], "properties": {"a": next}},
            {"type": "object", "required": ["b"], "properties": {"b": next}},
        ]})
    };
    let mut definitions: serde_json::Map<String, Value> =
        (0..30).map(|n| (format!("d{n}"), level(n))).collect();
    definitions.insert("d30".to_owned(), json!({"not": {}}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

fn wide(keyword: &str, width: usize) -> serde_json::Map<String, Value> {
    (0..width).map(|n| (format!("{keyword}{n}"), json!({"type": "integer"}))).collect()
}

fn numbers(from: usize) -> Value {
    (from..from + 20_000).map(Value::from).collect()
}

#[test_case(maze(); "maze")]
#[test_case(json!({"allOf": [{"enum": numbers(0)}, {"enum": numbers(30_000)}]}); "enums")]
#[test_case(json!({"properties": wide("p", 3000), "patternProperties": wide("^q", 300)}); "patterns")]
#[test_case(json!({"type": "array", "minItems": 90_000, "uniqueItems": true}); "unique items")]
#[test_case(json!({"items": {"minLength": 90_000, "pattern": "^([a-f]+x)*$"}, "minItems": 90_000}); "long texts")]
#[test_case(json!({"items": {"type": "string", "pattern": r"^\p{L}+$"}, "minItems": 90_000}); "texts of letters of all scripts")]
fn hostile_contracts_end(schema: Value) {
    assert!(permitted(schema).example().is_err());
}

#[test]
fn references_in_a_circle_end() {
    for draft in
        ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
    {
        let schema = json!({"$schema": draft, "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
        // Whether such a contract is one at all is for preflight to say.
        if let Ok(contract) = Contract::compile(schema) {
            assert!(contract.example().is_ok());
        }
    }
}

#[test]
fn wide_contracts_have_examples() {
    let schema = json!({"type": "object", "properties": wide("p", 5000)});
    assert_eq!(example(schema).as_object().unwrap().len(), 5000);
}

/// How many contracts of the JSON Schema Test Suite get an example; raise it when it grows.
const SUITE_RATCHET: usize = 1254;

#[test]
#[expect(clippy::print_stderr, reason = "the ratio is the point")]
fn examples_are_found_for_the_test_suite() {
    let Some(suite) = Suite::open() else {
        return;
    };
    let (mut found, mut missing) = (0, Vec::new());
    for (name, draft) in DRAFTS {
        let options = suite.options(name, draft);
        for group in suite.required(name).iter().flat_map(|file| Group::read(file).unwrap()) {
            let contract = group.contract(&options).unwrap();
            // A contract asserts `format`, so what the suite calls valid may not be.
            if !group.tests.iter().any(|test| check(&contract, &test.value).is_empty()) {
                continue;
            }
            match contract.example() {
                Ok(_) => found += 1,
                Err(error) => missing.push(format!("{}: {error}", group.name)),
            }
        }
    }
    eprintln!(
        "examples for {found} contracts, none for {}:\n{}",
        missing.len(),
        missing.join("\n")
    );
    assert!(found >= SUITE_RATCHET, "{found}, below {SUITE_RATCHET}");
}
