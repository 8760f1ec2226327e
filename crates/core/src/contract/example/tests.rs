use super::*;
use crate::arbitrary::case;
use proptest::prelude::*;
use serde_json::json;
use test_case::test_case;

fn example(schema: Value) -> Value {
    Contract::compile(schema).unwrap().example().unwrap().to_value()
}

proptest! {
    #[test]
    fn satisfiable_contracts_have_examples(case in case()) {
        let contract = Contract::compile(case.schema.clone()).unwrap();
        let example = contract.example();
        prop_assert!(example.is_ok(), "{example:?} {}", case.schema);
        prop_assert!(crate::verdict::check(&contract, &example.unwrap()).is_empty());
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
#[test_case(json!(false); "nothing at all")]
#[test_case(json!({"not": {}}); "all forbidden")]
#[test_case(json!({"x-rules": [{"rule": "false"}]}); "rule that never holds")]
#[test_case(json!({"type": "string", "minLength": 4_000_000_000_u64}); "huge text")]
#[test_case(json!({"type": "array", "minItems": 4_000_000_000_u64}); "huge array")]
fn what_cannot_be_shown_is_an_error(schema: Value) {
    let contract = Contract::compile(schema).unwrap();
    assert!(contract.example().is_err());
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
fn hostile_contracts_end(schema: Value) {
    let contract = Contract::compile(schema).unwrap();
    assert!(contract.example().is_err());
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
fn contracts_deeper_than_the_limit_have_no_example() {
    let deep = (0..100).fold(
        json!({"type": "null"}),
        |inner, _| json!({"type": "object", "required": ["a"], "properties": {"a": inner}}),
    );
    let contract = Contract::compile(deep).unwrap();
    assert!(contract.example().is_err());
}

#[test]
fn wide_contracts_have_examples() {
    let schema = json!({"type": "object", "properties": wide("p", 5000)});
    assert_eq!(example(schema).as_object().unwrap().len(), 5000);
}

/// How many contracts of the JSON Schema Test Suite get an example; raise it when it grows.
const SUITE_RATCHET: usize = 1254;

/// The suite is not part of this repository; where it is absent there is nothing to measure.
#[test]
fn examples_are_found_for_the_test_suite() {
    let Some(files) = suite_files() else {
        #[expect(clippy::print_stderr, reason = "a skipped measurement must be heard of")]
        {
            eprintln!("skipped: the JSON Schema Test Suite is not here");
        }
        return;
    };
    let (mut found, mut all, mut refused) = (0, 0, 0);
    let mut missing = Vec::new();
    for (draft, path) in files {
        let groups: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let has_valid = group["tests"].as_array().unwrap().iter().any(|t| t["valid"] == true);
            let mut schema = group["schema"].clone();
            if let Some(members) = schema.as_object_mut() {
                members.entry("$schema").or_insert_with(|| draft.into());
            }
            // Meta-schemas of its own need the suite's remote documents.
            let is_known =
                jsonschema::Draft::default().detect(&schema) != jsonschema::Draft::Unknown;
            if !has_valid || !is_known {
                continue;
            }
            let Ok(contract) = Contract::compile(schema) else {
                refused += 1;
                continue;
            };
            all += 1;
            match contract.example() {
                Ok(_) => found += 1,
                Err(error) => missing.push(format!("{}: {error}", group["description"])),
            }
        }
    }
    #[expect(clippy::print_stderr, reason = "the ratio is the point")]
    {
        eprintln!(
            "examples: {found} of {all} contracts, {refused} refused\n{}",
            missing.join("\n")
        );
    }
    assert!(found >= SUITE_RATCHET, "{found} of {all}, below {SUITE_RATCHET}");
}

fn suite_files() -> Option<Vec<(&'static str, std::path::PathBuf)>> {
    let root = std::path::Path::new("/work/shared/suites/json-schema-test-suite");
    let drafts = [
        ("draft4", "http://json-schema.org/draft-04/schema#"),
        ("draft6", "http://json-schema.org/draft-06/schema#"),
        ("draft7", "http://json-schema.org/draft-07/schema#"),
        ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ];
    let mut files = Vec::new();
    for (folder, draft) in drafts {
        let entries = std::fs::read_dir(root.join(folder)).ok()?;
        let paths = entries.map(|entry| entry.unwrap().path());
        files.extend(
            paths.filter(|path| path.extension().is_some_and(|e| e == "json")).map(|p| (draft, p)),
        );
    }
    files.sort();
    Some(files)
}
