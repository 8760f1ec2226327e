//! Values in the wrong type: which are read as meant, and which are left alone.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use airtight_core::verdict::{LISTED_PER_KIND, check, coerce};
use airtight_core::{Contract, Document, EditKind};
use serde_json::{Value, json};
use test_case::test_case;

/// Returns the coerced text and the edits, or nothing if the value stays as it is.
fn coerced(schema: Value, answer: &str) -> Option<(String, Vec<(EditKind, String)>)> {
    let contract = Contract::compile(schema).unwrap();
    let document = Document::parse(answer).unwrap();
    let (result, edits) = coerce(&contract, &document)?;
    let edits =
        edits.listed().iter().map(|edit| (edit.kind, edit.pointer.clone().unwrap().to_string()));
    Some((result.to_compact(), edits.collect()))
}

fn in_x(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"x": schema}})
}

#[test_case("boolean", r#""true""#, "true")]
#[test_case("boolean", r#""True""#, "true"; "capital true")]
#[test_case("boolean", r#""TRUE""#, "true"; "upper true")]
#[test_case("boolean", r#""false""#, "false")]
#[test_case("boolean", r#""False""#, "false"; "capital false")]
#[test_case("boolean", r#""FALSE""#, "false"; "upper false")]
#[test_case("string", "5", r#""5""#)]
#[test_case("string", "1.50", r#""1.50""#; "digits as written")]
#[test_case("string", "true", r#""true""#; "boolean to string")]
#[test_case("integer", r#""3""#, "3")]
#[test_case("integer", r#""3.0""#, "3"; "whole number")]
#[test_case("integer", r#""-3.00""#, "-3"; "negative whole number")]
#[test_case("integer", r#""12345678901234567890123""#, "12345678901234567890123"; "large integer")]
#[test_case("number", r#""5.5""#, "5.5")]
#[test_case("number", r#""3.0""#, "3.0"; "number keeps its digits")]
#[test_case("number", r#""1e3""#, "1e3"; "exponent")]
#[test_case("array", r#""[1,2]""#, "[1,2]")]
#[test_case("object", r#""{\"a\":\"b\"}""#, r#"{"a":"b"}"#)]
fn a_value_is_read_as_the_type_that_is_wanted(wanted: &str, said: &str, expected: &str) {
    let (text, edits) =
        coerced(in_x(&json!({"type": wanted})), &format!(r#"{{"x":{said}}}"#)).unwrap();
    assert_eq!(text, format!(r#"{{"x":{expected}}}"#));
    assert_eq!(edits.len(), 1);
    assert_eq!(edits[0].1, "/x");
}

#[test_case(&json!({"type": "boolean"}), r#""yes""#; "other words")]
#[test_case(&json!({"type": "boolean"}), "1"; "numbers are not booleans")]
#[test_case(&json!({"type": "integer"}), r#""5.5""#; "not whole")]
#[test_case(&json!({"type": "integer"}), r#""""#; "empty string")]
#[test_case(&json!({"type": "integer"}), r#"" 5""#; "space around a number")]
#[test_case(&json!({"type": "integer"}), r#""+5""#; "plus sign")]
#[test_case(&json!({"type": "integer"}), r#""007""#; "leading zeros")]
#[test_case(&json!({"type": "integer"}), r#""5px""#; "units")]
#[test_case(&json!({"type": "number"}), r#""NaN""#; "not a number")]
#[test_case(&json!({"type": "number"}), r#""Infinity""#; "infinity")]
#[test_case(&json!({"type": "number"}), r#""0x10""#; "hexadecimal")]
#[test_case(&json!({"type": "number"}), r#""1e400""#; "out of range")]
#[test_case(&json!({"type": "number"}), r#""1,000""#; "thousands")]
#[test_case(&json!({"type": "number"}), "true"; "booleans are not numbers")]
#[test_case(&json!({"type": "null"}), r#""null""#; "never null")]
#[test_case(&json!({"type": ["null", "integer"]}), r#""null""#; "never null in a union")]
#[test_case(&json!({"type": "string"}), "null"; "null is no string")]
#[test_case(&json!({"type": "string"}), r#"{"a":1}"#; "objects are no strings")]
#[test_case(&json!({"type": "string"}), "[1]"; "arrays are no strings")]
#[test_case(&json!({"type": ["string", "boolean"], "minLength": 9}), r#""true""#; "string accepted too")]
#[test_case(&json!({"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 9}]}), r#""true""#; "string accepted in a branch")]
#[test_case(&json!({"anyOf": [{"type": "integer"}, {"enum": ["auto"]}]}), r#""5""#; "an enumeration may hold strings")]
#[test_case(&json!({"type": ["string", "array"]}), "5"; "not only strings wanted")]
#[test_case(&json!({"enum": [1, 2]}), r#""1""#; "enumeration without a type")]
#[test_case(&json!({"const": true}), r#""true""#; "constant without a type")]
#[test_case(&json!({"const": "on"}), r#""ON""#; "case of a constant")]
#[test_case(&json!({"type": "array"}), r#""not json""#; "no JSON in the string")]
#[test_case(&json!({"type": "array"}), r#""{}""#; "another container in the string")]
#[test_case(&json!({"type": "array"}), r#""[1,""#; "cut JSON in the string")]
#[test_case(&json!({"type": "array"}), "5"; "never wrapped")]
#[test_case(&json!({"enum": ["a", "A"]}), r#""á""#; "no such member")]
#[test_case(&json!({"enum": ["on", "On"]}), r#""ON""#; "two members without case")]
#[test_case(&json!({"required": ["y"], "properties": {"y": {"default": 1}}}), "{}"; "never defaults")]
#[test_case(&json!({"additionalProperties": false}), r#"{"extra":1}"#; "never drops")]
fn what_has_no_single_reading_stays_as_it_was(schema: &Value, said: &str) {
    assert_eq!(coerced(in_x(schema), &format!(r#"{{"x":{said}}}"#)), None);
}

#[test_case(json!({"properties": {"a": {"properties": {"b": {"type": "integer"}}}}}),
    r#"{"a":{"b":"1"}}"#, r#"{"a":{"b":1}}"#; "nested")]
#[test_case(json!({"items": {"type": "integer"}}), r#"["1",2,"3"]"#, "[1,2,3]"; "items")]
#[test_case(json!({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "boolean"}}),
    r#"["1",2,"true"]"#, r#"[1,"2",true]"#; "tuple")]
#[test_case(json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}}),
    r#"["1","true"]"#, "[1,true]"; "tuple of draft 7")]
#[test_case(json!({"additionalProperties": {"type": "boolean"}}), r#"{"k":"true"}"#, r#"{"k":true}"#; "additional")]
#[test_case(json!({"patternProperties": {"^n_": {"type": "integer"}}}), r#"{"n_a":"1","b":"1"}"#, r#"{"n_a":1,"b":"1"}"#; "pattern")]
#[test_case(json!({"allOf": [{"properties": {"a": {"type": "integer"}}}]}), r#"{"a":"1"}"#, r#"{"a":1}"#; "all of")]
#[test_case(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), r#""1""#, "1"; "any of")]
#[test_case(json!({"oneOf": [{"type": "array"}, {"type": "null"}]}), r#""[]""#, "[]"; "one of")]
#[test_case(json!({"type": ["array", "null"]}), r#""[1]""#, "[1]"; "union")]
#[test_case(json!({"anyOf": [{"type": "integer"}, {"enum": ["auto"]}]}), r#""AUTO""#, r#""auto""#; "member in a branch")]
#[test_case(json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
        {"properties": {"kind": {"const": "b"}, "n": {"type": "boolean"}}, "required": ["kind"]}]}),
    r#"{"kind":"b","n":"true"}"#, r#"{"kind":"b","n":true}"#; "the branch with the tag")]
#[test_case(json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "integer"}}}),
    r#""1""#, "1"; "chain of references")]
#[test_case(json!({"$defs": {"n": {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}),
    r#"{"v":"1","next":{"v":"2","next":{"v":3}}}"#, r#"{"v":1,"next":{"v":2,"next":{"v":3}}}"#; "circular references")]
#[test_case(json!({"properties": {"__proto__": {"type": "integer"}, "constructor": {"type": "boolean"}}}),
    r#"{"__proto__":"1","constructor":"true"}"#, r#"{"__proto__":1,"constructor":true}"#; "names that JavaScript knows")]
#[test_case(json!({"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}),
    r#"{"a":"[\"1\",2]"}"#, r#"{"a":[1,2]}"#; "inside what was a string")]
#[test_case(json!({"enum": ["info", "warning"]}), r#""Warning""#, r#""warning""#; "case of a member")]
#[test_case(json!({"enum": ["info", "warning"]}), r#"" info\n""#, r#""info""#; "space around a member")]
#[test_case(json!({"enum": ["a", "A"]}), r#"" A""#, r#""A""#; "space around one of two cases")]
#[test_case(json!({"const": "v1"}), r#""v1 ""#, r#""v1""#; "space around a constant")]
#[test_case(json!({}), r#"{"a":1, "b":2 , "a" : 1.0}"#, r#"{"a":1,"b":2}"#; "same member twice")]
#[test_case(json!({}), r#"{"a":{"x":[1]},"a":{"x":[1]},"a":{"x":[1]}}"#, r#"{"a":{"x":[1]}}"#; "same member three times")]
#[test_case(json!({}), r#"[{"a":{"b":1,"b":1}},{"c":2,"c":2}]"#, r#"[{"a":{"b":1}},{"c":2}]"#; "same members nested")]
fn coercion_reaches_every_place_and_the_contract_accepts(
    schema: Value,
    said: &str,
    expected: &str,
) {
    let contract = Contract::compile(schema).unwrap();
    let document = Document::parse(said).unwrap();
    assert!(!check(&contract, &document).is_empty());
    let (result, edits) = coerce(&contract, &document).unwrap();
    assert_eq!(result.to_compact(), expected);
    assert!(!edits.is_empty());
    assert!(check(&contract, &result).is_empty());
}

#[test_case("#/__proto__"; "proto")]
#[test_case("#/constructor"; "constructor")]
fn references_find_only_what_is_there(reference: &str) {
    assert!(Contract::compile(json!({ "$ref": reference })).is_err());
}

#[test]
fn a_key_with_two_values_is_left_to_the_verdict() {
    assert_eq!(coerced(json!({}), r#"{"a":1,"a":2}"#), None);
}

#[test]
fn text_around_a_coerced_value_stays_byte_for_byte() {
    let contract = Contract::compile(in_x(&json!({"type": "integer"}))).unwrap();
    let document = Document::parse("{ \"y\" : 1.50,\n\t\"x\":\"7\" ,\"z\":\"\\u0041\"}").unwrap();
    let (result, _) = coerce(&contract, &document).unwrap();
    assert_eq!(result.text(), "{ \"y\" : 1.50,\n\t\"x\":7 ,\"z\":\"\\u0041\"}");
}

#[test]
fn many_coercions_take_linear_time() {
    let items = vec![r#""1""#; 40_000].join(",");
    let contract = Contract::compile(json!({"items": {"type": "integer"}})).unwrap();
    let document = Document::parse(format!("[{items}]")).unwrap();
    let (result, edits) = coerce(&contract, &document).unwrap();
    assert_eq!((result.text().len(), edits.total()), (80_001, 40_000));
    assert_eq!(edits.listed().len(), LISTED_PER_KIND);
}

#[test]
fn duplicates_under_a_long_key_are_all_dropped_and_the_first_of_them_listed() {
    // Written out, their places take 100 GB.
    let key = "k".repeat(1_000_000);
    let members = vec![r#""a":1"#; 100_001].join(",");
    let contract = Contract::compile(json!({})).unwrap();
    let document = Document::parse(format!(r#"{{"{key}":{{{members}}}}}"#)).unwrap();
    let (result, edits) = coerce(&contract, &document).unwrap();
    assert!(result.text() == format!(r#"{{"{key}":{{"a":1}}}}"#));
    assert_eq!(edits.total(), 100_000);
    assert!((1..100).contains(&edits.listed().len()), "{}", edits.listed().len());
}

#[test]
fn an_enumeration_too_long_to_search_is_left_alone() {
    let mut members: Vec<String> = (0..1_000).map(|number| format!("member {number}")).collect();
    members.insert(0, "A".to_owned());
    members.push("a".to_owned());
    assert_eq!(coerced(in_x(&json!({"enum": members})), r#"{"x":" a"}"#), None);
}

#[test_case(&json!({"anyOf": [{"enum": ["A", "B"]}, {"enum": ["a", "c"]}]}), r#"" a""#; "enumerations")]
#[test_case(&json!({"anyOf": [
    {"properties": {"k": {"enum": ["A"]}}},
    {"properties": {"k": {"enum": ["a"]}}},
]}), r#"{"k":" a"}"#; "enumerations of members")]
fn a_value_that_branches_read_differently_is_left_alone(schema: &Value, said: &str) {
    assert_eq!(coerced(in_x(schema), &format!(r#"{{"x":{said}}}"#)), None);
}

#[test]
fn a_member_is_dropped_only_if_nothing_is_lost_with_it() {
    let said = r#"{"k":{"x":1,"x":1},"k":{"x":1,"y":2}}"#;
    let (text, edits) = coerced(json!({"type": "object"}), said).unwrap();
    assert_eq!(text, r#"{"k":{"x":1},"k":{"x":1,"y":2}}"#);
    assert_eq!(edits, [(EditKind::DuplicateMember, "/k/x".to_owned())]);
}

#[test_case(&json!({"enum": ["LOW", "y"]}); "another enumeration")]
#[test_case(&json!({"const": "LOW"}); "a constant")]
#[test_case(&json!({"anyOf": [{"enum": ["LOW", "y"]}, {"enum": ["z", "w"]}]}); "a choice inside")]
fn a_string_that_two_branches_spell_differently_stays_as_it_is(other: &Value) {
    let low = json!({"enum": ["Low", "x"]});
    assert_eq!(coerced(json!({"anyOf": [low, other]}), "\"low\""), None);
    assert_eq!(coerced(json!({"anyOf": [other, low]}), "\"low\""), None);
    let same = json!({"anyOf": [low, {"enum": ["Low", "y"]}]});
    assert_eq!(coerced(same, "\"low\"").unwrap().0, "\"Low\"");
}

#[test_case(&json!({"type": "integer"}), r#""5""#; "a string")]
#[test_case(&json!({"type": "integer", "maximum": 1}), "5"; "a number")]
fn a_value_whose_type_another_branch_takes_stays_as_it_is(id: &Value, said: &str) {
    let number = json!({"properties": {"id": id}});
    let string = json!({"properties": {"id": {"type": "string", "pattern": "^[A-Z]"}}});
    for branches in [[&number, &string], [&string, &number]] {
        assert_eq!(coerced(json!({ "anyOf": branches }), &format!(r#"{{"id":{said}}}"#)), None);
    }
}

#[test_case(&json!({"properties": {"id": {"type": "string"}}, "required": ["k"]}); "it lacks a member")]
#[test_case(&json!({"properties": {"id": {"type": "boolean"}}}); "it takes another type")]
#[test_case(&json!({"properties": {"id": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}}); "it takes other types")]
#[test_case(&json!({"type": "array"}); "it is for something else")]
fn a_branch_that_cannot_be_meant_keeps_no_type(other: &Value) {
    let integer = json!({"properties": {"id": {"type": "integer"}}});
    let (text, _) = coerced(json!({"anyOf": [integer, other]}), r#"{"id":"1"}"#).unwrap();
    assert_eq!(text, r#"{"id":1}"#);
}
