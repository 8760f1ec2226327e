//! The decision table of the Qwen Code design (seed 001) and its argument tests, by number.

use serde_json::{Value, json};
use test_case::test_case;

use super::{Options, Origin, Preflight, Wrap};
use crate::{Answer, Diagnostic};

/// Inspects `text` as `--no-wrap` does.
fn preflight(text: &str) -> Preflight {
    let options = Options { wrap: Wrap::Refused, ..Options::default() };
    Preflight::run(text.as_bytes(), Origin::Inline, &options)
}

fn refusal(text: &str) -> Diagnostic {
    let report = preflight(text);
    assert!(report.contract.is_none(), "accepted: {text}");
    report.diagnostics[0].clone()
}

#[test_case("   ", "cannot be empty"; "4 blank")]
#[test_case("{nope", "not valid JSON"; "5 invalid")]
#[test_case("[]", "must be a JSON object"; "6 array")]
#[test_case("\"text\"", "must be a JSON object"; "6 string")]
#[test_case("null", "must be a JSON object"; "strict compile null")]
#[test_case("{nope", "unexpected `n`"; "11 inline detail")]
#[test_case(r#"{"properties":{"a":{"type":42}}}"#, "not a valid JSON Schema"; "12 nested type")]
#[test_case(r#"{"propertees":{}}"#, "propertees"; "strict compile typo")]
fn refusals_say_what_is_wrong(text: &str, expected: &str) {
    let finding = refusal(text);
    assert!(finding.message.contains(expected), "{finding}");
}

#[test_case(&json!({"type": "object", "properties": {"a": {"type": "string"}}}); "2 simple")]
#[test_case(&json!({}); "13 empty")]
#[test_case(&json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}); "14 draft 2020 12")]
#[test_case(&json!({"$schema": "https://json-schema.org/draft/2020-12/schema#", "type": "object"}); "14 with hash")]
#[test_case(&json!({"type": ["object", "null"]}); "16 type list")]
#[test_case(&json!({"properties": {}}); "17 no type")]
#[test_case(&json!({"anyOf": [{"type": "string"}, {"type": "object"}]}); "20 one branch")]
#[test_case(&json!({"anyOf": [{"oneOf": [{"type": "object"}, {"type": "null"}]}]}); "21 nested")]
#[test_case(&json!({"type": "object", "anyOf": [{"type": "object"}, {"required": ["a"]}]}); "23 object branches")]
#[test_case(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}); "24 root reference is resolved")]
#[test_case(&json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}); "24 with a type beside")]
#[test_case(&json!({"allOf": [{"type": "object"}, {"required": ["a"]}]}); "26 all objects")]
#[test_case(&json!({"allOf": [true]}); "neutral all of")]
#[test_case(&json!({"not": {"type": "string"}}); "28 not a string")]
#[test_case(&json!({"not": {"type": "object", "required": ["a"]}}); "29 required")]
#[test_case(&json!({"not": {"type": "object", "properties": {"a": {"type": "string"}}}}); "29 properties")]
#[test_case(&json!({"not": {"type": "object", "minProperties": 1}}); "29 min properties")]
#[test_case(&json!({"const": {"a": 1}}); "31 const object")]
#[test_case(&json!({"enum": [1, {"a": 1}]}); "33 enum with an object")]
#[test_case(&json!({"anyOf": [true]}); "35 true")]
#[test_case(&json!({"anyOf": [false, true]}); "35 false and true")]
#[test_case(&json!({"anyOf": [true, {"type": "string"}]}); "35 true and string")]
#[test_case(&json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}); "37 reference in any of")]
#[test_case(&json!({"oneOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}); "37 reference in one of")]
#[test_case(&json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}); "37 reference in all of")]
#[test_case(&json!({"allOf": [true, {"type": "object"}]}); "38 true and object")]
#[test_case(&json!({"if": true, "then": {"type": "object"}}); "40 then object")]
#[test_case(&json!({"if": false, "else": {"type": "object"}}); "40 else object")]
#[test_case(&json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}); "40 undecidable if")]
#[test_case(&json!({"properties": {"a": {"type": ["string", "null"]}}}); "strict compile union")]
#[test_case(&json!({"type": "object", "required": ["a"]}); "strict compile required without properties")]
#[test_case(&json!({"properties": {"a": {"type": "string", "format": "custom"}}}); "strict compile unknown format")]
fn roots_that_accept_an_object_pass(schema: &Value) {
    let report = preflight(&schema.to_string());
    assert!(report.contract.is_some(), "{:?}", report.diagnostics);
    assert_ne!(report.accepts_object.answer, Answer::No);
}

#[test_case(&json!({"type": "array"}); "15 array")]
#[test_case(&json!({"type": "string"}); "15 string")]
#[test_case(&json!({"anyOf": [{"type": "string"}, {"type": "number"}]}); "18 any of")]
#[test_case(&json!({"oneOf": [{"type": "string"}, {"type": "number"}]}); "19 one of")]
#[test_case(&json!({"type": "object", "anyOf": [{"type": "string"}, {"type": "number"}]}); "22 type and any of")]
#[test_case(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}); "24 reference to an array")]
#[test_case(&json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"type": "array"}}}); "24 with a type beside")]
#[test_case(&json!({"allOf": [{"type": "object"}, {"type": "string"}]}); "25 all of")]
#[test_case(&json!({"not": {"type": "object"}}); "27 not an object")]
#[test_case(&json!({"not": {"type": ["object", "null"]}}); "27 not a list with object")]
#[test_case(&json!({"const": 1}); "30 number")]
#[test_case(&json!({"const": "hello"}); "30 string")]
#[test_case(&json!({"const": [1, 2]}); "30 array")]
#[test_case(&json!({"const": null}); "30 null")]
#[test_case(&json!({"enum": [1, "a"]}); "32 scalars")]
#[test_case(&json!({"enum": []}); "32 empty")]
#[test_case(&json!({"anyOf": []}); "34 empty any of")]
#[test_case(&json!({"oneOf": []}); "34 empty one of")]
#[test_case(&json!({"anyOf": [false]}); "36 false")]
#[test_case(&json!({"anyOf": [false, false]}); "36 twice false")]
#[test_case(&json!({"allOf": [false, {"type": "object"}]}); "38 false and object")]
#[test_case(&json!({"allOf": [false]}); "38 false")]
#[test_case(&json!({"if": true, "then": {"type": "string"}}); "39 then string")]
#[test_case(&json!({"if": true, "then": false}); "39 then false")]
#[test_case(&json!({"if": false, "else": {"type": "array"}}); "39 else array")]
#[test_case(&json!({"if": false, "else": false}); "39 else false")]
#[test_case(&json!({"if": {"required": ["a"]}}); "40 bare if")]
#[test_case(&json!({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "string"}}}); "deferred by the seed: reference in a branch")]
#[test_case(&json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}); "deferred by the seed: required self reference")]
#[test_case(&json!({"type": "object", "required": ["a"], "properties": {"a": {"minimum": 2, "maximum": 1, "type": "integer"}}}); "contradictory bounds")]
#[test_case(&json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false, "minProperties": 2}); "closed object with too many properties")]
#[test_case(&json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false, "required": ["b"]}); "closed object that requires another")]
fn roots_that_no_object_satisfies_are_refused(schema: &Value) {
    refusal(&schema.to_string());
}

#[test]
fn wrapping_allows_every_root_that_something_satisfies() {
    let accepted = |schema: Value| crate::Contract::compile(schema).is_ok();
    assert!(accepted(json!({"type": "array", "items": {"type": "string"}})));
    assert!(accepted(json!({"const": 1})));
    assert!(!accepted(json!({"enum": []})));
    assert!(!accepted(json!({"type": "integer", "minimum": 10, "maximum": 5})));
}

#[test]
fn reasons_name_the_place_and_the_keywords() {
    let schema = json!({
        "type": "object",
        "required": ["score"],
        "properties": {"score": {"type": "integer", "minimum": 10, "maximum": 5}},
    });
    let finding = refusal(&schema.to_string());
    insta::assert_snapshot!(finding, @"/properties/score: no value satisfies `minimum` and `maximum` together");
    let list = r##"{"type":"object","required":["head"],"properties":{"head":{"$ref":"#/$defs/node"}},
        "$defs":{"node":{"type":"object","required":["next"],"properties":{"next":{"$ref":"#/$defs/node"}}}}}"##;
    insta::assert_snapshot!(refusal(list), @"/$defs/node: a value has to hold another such value without an end: /$defs/node → /$defs/node/properties/next → /$defs/node");
    let nest = r##"{"type":"array","minItems":1,"items":{"$ref":"#"}}"##;
    insta::assert_snapshot!(refusal(nest), @"(root): a value has to hold another such value without an end: (root) → /items → (root)");
    // A round that nobody has to enter, or that null leaves, is not why.
    let other = r##"{"type":"object","required":["a"],"properties":{"a":false},
        "$defs":{"n":{"type":["object","null"],"required":["n"],"properties":{"n":{"$ref":"#/$defs/n"}}}}}"##;
    assert!(!refusal(other).message.contains("without an end"));
    let finding = refusal(r#"{"type":["array","null"]}"#);
    insta::assert_snapshot!(finding, @"(root): the root accepts no object, only array or null");
}
