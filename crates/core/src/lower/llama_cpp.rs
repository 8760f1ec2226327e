//! What llama.cpp's converter passes over is a loss, or written so that it is heeded.

use serde_json::json;
use test_case::test_case;

use super::*;

fn lowered(schema: Value) -> Lowering {
    lower(&Contract::compile(schema).unwrap(), Dialect::LlamaCpp).unwrap()
}

/// Returns what is sent, and which keywords are lost.
fn sent(schema: Value) -> (Value, Vec<String>) {
    let Lowering { schema, losses, .. } = lowered(schema);
    let lost = losses.iter().map(|loss| loss.pointer.key(&loss.keyword).as_str().to_owned());
    (Value::clone(&schema), lost.collect())
}

fn anything() -> Value {
    json!({"type": ["object", "array", "string", "number", "boolean", "null"]})
}

fn nothing_lost() -> Vec<String> {
    Vec::new()
}

#[test]
fn required_names_are_declared_because_others_are_passed_over() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a", "b"]
    });
    let expected = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": anything()},
        "required": ["a", "b"],
        "additionalProperties": true
    });
    assert_eq!(sent(schema), (expected, nothing_lost()));
}

#[test]
fn required_names_are_declared_as_what_undeclared_members_are() {
    let integer = json!({"type": "integer"});
    let schema = json!({"type": "object", "required": ["b"], "additionalProperties": integer});
    let expected = json!({
        "type": "object",
        "properties": {"b": integer},
        "required": ["b"],
        "additionalProperties": integer
    });
    assert_eq!(sent(schema), (expected, nothing_lost()));
}

#[test]
fn very_many_required_names_are_left_to_the_verdict() {
    let names: Vec<String> = (0..500).map(|number| format!("n{number}")).collect();
    let members: Vec<String> = (0..40).map(|number| format!("m{number}")).collect();
    let rest = json!({"type": "object", "required": members});
    let schema = json!({"type": "object", "required": names, "additionalProperties": rest});
    let (sent, lost) = sent(schema);
    assert_eq!((sent.get("required"), lost), (None, vec!["/required".to_owned()]));
}

#[test]
fn required_names_of_maps_in_maps_do_not_multiply() {
    let names = |count| (0..count).map(|number| format!("n{number}")).collect::<Vec<_>>();
    let wide = (0..3).fold(
        json!({"type": "integer"}),
        |rest, _| json!({"type": "object", "required": names(30), "additionalProperties": rest}),
    );
    let deep = (0..9).fold(
        json!({"type": "integer"}),
        |rest, _| json!({"type": "object", "required": names(3), "additionalProperties": rest}),
    );
    for schema in [wide, deep] {
        let (sent, lost) = sent(schema);
        assert!(sent.to_string().len() < 20_000, "{sent}");
        assert!(!lost.is_empty(), "{sent}");
        assert!(lost.iter().all(|pointer| pointer.ends_with("/required")), "{lost:?}");
    }
}

#[test]
fn beside_names_that_break_the_grammar_nothing_is_undeclared() {
    let schema = |name: &str| json!({"type": "object", "properties": {name: {"type": "null"}}});
    for (name, is_open) in [("size", true), ("größe", false), ("a]", false)] {
        let lowering = lowered(schema(name));
        assert_eq!(lowering.schema["additionalProperties"], is_open, "{name}");
        assert_eq!(lowering.narrowings.is_empty(), is_open, "{name}");
    }
}

#[test_case(json!({"minLength": 5, "anyOf": [{"maxLength": 3}, {"type": "null"}]}), "/minLength"; "lengths")]
#[test_case(json!({"type": ["array", "null"], "items": {"type": "null"}, "minItems": 2, "maxItems": 1}), "/minItems"; "items")]
#[test_case(json!({"type": ["array", "null"], "items": false, "minItems": 1}), "/minItems"; "no items")]
#[test_case(json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 10, "maximum": 5}}}), "/properties/a/minimum"; "bounds")]
fn limits_that_cross_are_not_counted(schema: Value, lost: &str) {
    let (sent, found) = sent(schema);
    assert_eq!(found, [lost], "{sent}");
}

#[test]
fn required_names_that_cannot_be_there_leave_no_object() {
    let schema = json!({"properties": {}, "required": ["b"], "additionalProperties": false});
    let expected = json!({"type": ["array", "string", "number", "boolean", "null"]});
    assert_eq!(sent(schema), (expected, nothing_lost()));
}

#[test]
fn members_beside_lost_patterns_of_names_stay_open() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "patternProperties": {"^x": {"type": "null"}}
    });
    let (sent, lost) = sent(schema);
    assert_eq!(sent["additionalProperties"], true);
    assert_eq!(lost, ["/patternProperties"]);
}

#[test_case(
    json!({
        "type": "object",
        "enum": [{"a": 5}, {"b": 2}],
        "properties": {"a": {"minimum": 3}},
        "required": ["a"],
        "additionalProperties": false,
        "minProperties": 1
    }),
    &["/additionalProperties", "/minProperties", "/properties", "/required"];
    "members"
)]
#[test_case(
    json!({"type": "array", "const": [1], "items": {"maximum": 1}, "maxItems": 1, "uniqueItems": true}),
    &["/items", "/maxItems", "/uniqueItems"];
    "items"
)]
#[test_case(
    json!({"enum": ["a", 5, 9], "minimum": 7, "minLength": 2, "minItems": 3, "required": ["a"]}),
    &["/minLength", "/minimum"];
    "what is about none of the values"
)]
#[test_case(
    json!({"enum": [{}, [[]]], "properties": {}, "required": [], "additionalProperties": true, "uniqueItems": false}),
    &[];
    "what demands nothing"
)]
#[test_case(
    json!({"allOf": [{"enum": [{}, {"a": 1, "b": 2}]}, {"required": ["a"]}, {"required": ["b"]}]}),
    &["/allOf/1/required", "/allOf/2/required"];
    "what is said twice"
)]
fn beside_listed_values_nothing_is_heeded(schema: Value, lost: &[&str]) {
    let (sent, found) = sent(schema);
    assert_eq!(found, lost);
    let kept: Vec<&str> = sent.as_object().unwrap().keys().map(String::as_str).collect();
    let known = ["type", "enum", "const", "description"];
    assert!(kept.iter().all(|keyword| known.contains(keyword)), "{sent}");
}

#[test]
fn items_are_counted_where_it_is_said_what_they_are() {
    let expected = json!({"type": anything()["type"], "minItems": 2, "items": anything()});
    assert_eq!(sent(json!({"minItems": 2})), (expected, nothing_lost()));
    let tuple = json!({"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 3});
    let expected = json!({
        "type": "array",
        "description": r#"prefixItems [{"type":"string"}]"#,
        "maxItems": 3,
        "items": anything()
    });
    assert_eq!(sent(tuple), (expected, vec!["/prefixItems".to_owned()]));
}

#[test]
fn days_that_no_month_has_are_left_to_the_verdict() {
    let schema = json!({"type": "string", "format": "date"});
    assert_eq!(sent(schema.clone()), (schema, vec!["/format".to_owned()]));
    let schema = json!({"type": "string", "format": "uuid"});
    assert_eq!(sent(schema.clone()), (schema, nothing_lost()));
}

#[test]
fn times_that_the_converter_cannot_say_are_not_forbidden() {
    for format in ["time", "date-time"] {
        let told = json!({"type": "string", "description": format!("format {format}")});
        let schema = json!({"type": "string", "format": format});
        assert_eq!(sent(schema), (told, vec!["/format".to_owned()]));
    }
}

#[test]
fn the_converter_is_sent_patterns_that_it_reads() {
    let schema = json!({"type": "string", "pattern": r"^v\d+\.(?:a|bc)$"});
    let lowering = lowered(schema);
    assert_eq!(lowering.schema["pattern"], "^v[0-9]+[.](a|bc)$");
    assert!(lowering.losses.is_empty());
}

#[test]
fn the_converter_is_told_what_any_value_is() {
    let anything = json!(["object", "array", "string", "number", "boolean", "null"]);
    let schema =
        json!({"type": "object", "properties": {"a": {"title": "A"}, "b": {"minLength": 3}}});
    let schema = lowered(schema).schema;
    assert_eq!(schema["properties"]["a"], json!({"type": anything, "title": "A"}));
    assert_eq!(schema["properties"]["b"], json!({"type": anything, "minLength": 3}));
    let list = lowered(json!({"type": "array", "minItems": 1})).schema;
    assert_eq!(*list, json!({"type": "array", "minItems": 1, "items": {"type": anything}}));
}

#[test_case(json!({"type": "string", "pattern": "^a+$", "minLength": 3}), "minLength"; "a length beside a pattern")]
#[test_case(json!({"type": "integer", "enum": [1, 5], "minimum": 3}), "minimum"; "a bound beside a list")]
#[test_case(json!({"type": "integer", "minimum": 1.5}), "minimum"; "a bound that is cut")]
#[test_case(json!({"type": "integer", "maximum": 1e30}), "maximum"; "a bound that does not fit")]
#[test_case(json!({"type": "integer", "minimum": 100}), "minimum"; "a bound alone whose grammar is wrong")]
#[test_case(json!({"type": "integer", "maximum": -5}), "maximum"; "a greatest number below zero")]
#[test_case(json!({"type": "integer", "maximum": i64::MAX}), "maximum"; "a bound that says that there is none")]
#[test_case(json!({"type": "string", "maxLength": 2000}), "maxLength"; "a length that is refused")]
#[test_case(json!({"type": "array", "minItems": 2000}), "minItems"; "a count that is refused")]
fn the_converter_passes_over_what_stands_beside(schema: Value, lost: &str) {
    let lowering = lowered(schema);
    let keywords: Vec<&str> = lowering.losses.iter().map(|loss| loss.keyword.as_str()).collect();
    assert_eq!(keywords, [lost]);
    assert!(lowering.schema.get(lost).is_none());
}
