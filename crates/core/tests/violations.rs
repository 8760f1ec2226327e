//! What a model is told when its answer breaks the contract.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use airtight_core::verdict::check;
use airtight_core::{
    Allowance, Carry, Checker, Contract, Declaration, Document, Progress, Verdict, Violation,
    Violations, judge,
};
use serde_json::{Value, json};
use test_case::test_case;

fn violations(schema: Value, answer: &str) -> Violations {
    check(&Contract::compile(schema).unwrap(), &Document::parse(answer).unwrap())
}

fn messages(schema: Value, answer: &str) -> Vec<String> {
    let found = violations(schema, answer);
    found.list.iter().map(|v| format!("{} [{}] {}", v.pointer, v.keyword, v.message)).collect()
}

fn masked(schema: Value, answer: &str) -> Vec<String> {
    violations(schema, answer).list.into_iter().map(|violation| violation.masked).collect()
}

#[test_case(json!({"enum": ["info", "warning", "critical"]}), r#""warnig""#,
    "(root) [enum] `warnig` is not allowed, use one of `info`, `warning`, `critical` (nearest: `warning`)"; "nearest member")]
#[test_case(json!({"enum": ["a", 1, null]}), "2",
    "(root) [enum] `2` is not allowed, use one of `a`, `1`, `null`"; "mixed members")]
#[test_case(json!({"enum": ["1", "2"]}), "2",
    "(root) [enum] `2` is an integer and not allowed, use `\"1\"`, `\"2\"`"; "a number for a string")]
#[test_case(json!({"const": 2}), r#""2""#,
    "(root) [const] `\"2\"` is a string and not allowed, use `2`"; "a string for a number")]
#[test_case(json!({"const": "v1"}), r#""v2""#,
    "(root) [const] `v2` is not allowed, must be `v1`"; "constant")]
#[test_case(json!({"type": "object", "required": ["name"]}), "{}",
    "(root) [required] lacks the required member `name`"; "missing member")]
#[test_case(json!({"properties": {"severity": {}}, "additionalProperties": false}), r#"{"severty": 1}"#,
    "(root) [additionalProperties] member `severty` is not allowed, allowed are `severity` (nearest: `severity`)"; "misspelt member")]
#[test_case(json!({"properties": {"a": {}}, "unevaluatedProperties": false}), r#"{"zzz": 1}"#,
    "(root) [unevaluatedProperties] member `zzz` is not allowed, allowed are `a`"; "unevaluated member")]
#[test_case(json!({"type": ["string", "null"]}), "5",
    "(root) [type] `5` is an integer, must be null or a string"; "wrong type")]
#[test_case(json!({"type": "integer"}), "5.5",
    "(root) [type] `5.5` is a number, must be an integer"; "not whole")]
#[test_case(json!({"items": {"type": "string"}}), "[[1]]",
    "/0 [type] is an array, must be a string"; "containers are not quoted")]
#[test_case(json!({"minimum": 5}), "4", "(root) [minimum] `4` must be at least 5"; "too small")]
#[test_case(json!({"exclusiveMaximum": 5}), "5", "(root) [exclusiveMaximum] `5` must be less than 5"; "not below")]
#[test_case(json!({"multipleOf": 0.1}), "0.35", "(root) [multipleOf] `0.35` must be a multiple of 0.1"; "not a multiple")]
#[test_case(json!({"minLength": 3}), r#""äö""#,
    "(root) [minLength] has 2 characters, must have at least 3 characters"; "too short")]
#[test_case(json!({"maxItems": 1}), "[1,2]",
    "(root) [maxItems] has 2 items, must have at most 1 items"; "too many")]
#[test_case(json!({"pattern": "^a+$"}), r#""b""#,
    "(root) [pattern] `b` must match the pattern `^a+$`"; "pattern")]
#[test_case(json!({"format": "date"}), r#""tomorrow""#,
    "(root) [format] `tomorrow` must be a valid `date`"; "format")]
#[test_case(json!({"uniqueItems": true}), "[1,2,1.0]",
    "(root) [uniqueItems] has equal items at 0 and 2, all must differ"; "repeated item")]
#[test_case(json!({"contains": {"type": "null"}}), "[1]",
    "(root) [contains] must contain items that match `{\"type\":\"null\"}`"; "nothing that matches")]
#[test_case(json!({"not": {"type": "null"}}), "null",
    "(root) [not] `null` must not match `{\"type\":\"null\"}`"; "negation")]
#[test_case(json!({"properties": {"a": false}}), r#"{"a":1}"#, "/a [falseSchema] must not be there"; "forbidden")]
#[test_case(json!({"propertyNames": {"maxLength": 2}}), r#"{"abc":1}"#,
    "(root) [propertyNames] has a member whose name is not allowed: it must have at most 2 characters"; "forbidden name")]
#[test_case(json!({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"minimum": 9}]}), "5",
    "(root) [oneOf] fits forms 1 and 2, must fit exactly one"; "several forms")]
#[test_case(json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "5",
    "(root) [anyOf] `5` is an integer, must be null or a string"; "no form of this type")]
fn a_violation_says_what_would_be_right(schema: Value, answer: &str, expected: &str) {
    assert_eq!(messages(schema, answer), [expected]);
}

fn shapes() -> Value {
    json!({"oneOf": [
        {"title": "Circle", "type": "object", "required": ["kind", "radius"],
         "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {"$ref": "#/$defs/square"},
        {"type": "null"},
    ], "$defs": {"square": {
        "type": "object", "required": ["kind", "side"],
        "properties": {"kind": {"const": "square"}, "side": {"type": "number", "minimum": 0}},
    }}})
}

#[test]
fn a_choice_is_explained_by_the_form_that_fits_best() {
    assert_eq!(
        messages(shapes(), r#"{"kind":"square","side":"2"}"#),
        [
            "(root) [oneOf] fits none of the 3 allowed forms, the closest is form 2 (`square`): see what it lacks below; \
             for form 1 (`Circle`): (root) lacks the required member `radius`; for form 3: (root) is an object, must be null",
            "/side [type] `2` is a string, must be a number",
        ]
    );
}

#[test]
fn a_wrong_tag_is_answered_with_all_tags() {
    let mut tagged = shapes();
    tagged["oneOf"].as_array_mut().unwrap().pop();
    assert_eq!(
        messages(tagged, r#"{"kind":"squre","side":2}"#),
        ["/kind [oneOf] `squre` is not allowed, use one of `circle`, `square` (nearest: `square`)"]
    );
}

#[test]
fn masked_messages_hold_nothing_of_the_value() {
    let schema = json!({
        "type": "object",
        "properties": {
            "level": {"enum": ["info"]}, "count": {"type": "integer"}, "when": {"format": "date"},
            "tag": {"pattern": "^a"}, "n": {"maximum": 1}, "name": {"maxLength": 3},
            "shape": shapes()["oneOf"][0].clone(), "either": {"anyOf": [{"type": "null"}, {"const": 1}]},
        },
        "propertyNames": {"maxLength": 9},
        "additionalProperties": false,
    });
    let answer = r#"{"level":"SECRET","count":"SECRET","when":"SECRET","tag":"SECRET","n":5318008,
        "name":"SECRET","shape":{"kind":"SECRET"},"either":"SECRET","SECRET_SECRET":1}"#;
    let masked = masked(schema, answer);
    assert_eq!(masked.len(), 12, "{masked:#?}");
    for text in masked {
        assert!(!text.contains("SECRET") && !text.contains("5318008"), "{text}");
    }
}

/// Objects with members of any name, all of one type.
fn map(kind: &str) -> Value {
    json!({"additionalProperties": {"type": kind}})
}

/// Claims that the masked form keeps to itself what the message says.
fn hides_the_key(violation: &Violation) -> bool {
    violation.message.contains("SECRET") && !violation.masked.contains("SECRET")
}

#[test]
fn masked_forms_hold_no_keys_of_the_value() {
    let schema = json!({"anyOf": [map("string"), map("null")]});
    let found = violations(schema, r#"{"SECRET":1}"#).list;
    assert!(found.iter().any(hides_the_key), "{found:?}");
    assert!(found.iter().all(|it| !it.masked.contains("SECRET")), "{found:?}");
}

#[test]
fn masked_forms_hold_no_keys_of_an_answer_that_is_carried_forward() {
    let mut contract = Contract::compile(map("null")).unwrap();
    let older = Contract::compile(json!({"type": "object"})).unwrap();
    let declaration = Declaration { from: "1.x".to_owned(), ..Declaration::default() };
    contract.accept_older(Carry::new(older, &contract, &declaration).unwrap());
    let verdict = judge(&contract, r#"{"SECRET":1}"#, &Allowance::default());
    let Verdict::Rejected(rejected) = verdict else { panic!("{verdict:?}") };
    let found = rejected.violations.list;
    assert!(found.iter().any(|it| it.keyword == "carry" && hides_the_key(it)), "{found:?}");
    assert!(found.iter().all(|it| !it.masked.contains("SECRET")), "{found:?}");
}

#[test]
fn masked_forms_hold_no_keys_of_an_answer_that_is_being_said() {
    let contract = Contract::compile(json!({"anyOf": [map("string"), map("null")]})).unwrap();
    let mut checker = Checker::new(contract.plan());
    let Progress::Impossible(found) = checker.push(br#"{"SECRET":1}"#) else { panic!("possible") };
    assert!(hides_the_key(&found.violation), "{found:?}");
}

#[test]
fn a_key_that_occurs_twice_is_refused_whatever_the_contract_says() {
    assert_eq!(
        messages(json!({}), r#"{"a":[{"b":1,"b":1}]}"#),
        ["/a/0/b [duplicate_key] occurs more than once in its object, keep one of them"]
    );
}

#[test]
fn violations_are_bounded_and_say_that_there_are_more() {
    let strings = format!("[{}]", vec!["0"; 200_000].join(","));
    let found = violations(json!({"items": {"type": "string"}}), &strings);
    assert_eq!((found.list.len(), found.more), (100, true));
    assert_eq!(found.list[99].pointer.as_str(), "/99");

    let found = violations(json!({"items": {"type": "string"}}), "[0,1]");
    assert_eq!((found.list.len(), found.more), (2, false));
}

#[test]
fn long_values_and_lists_are_cut() {
    let members: Vec<String> = (0..50_000).map(|n| format!("member{n}")).collect();
    let found = messages(json!({ "enum": members }), &format!("\"{}\\u001b\"", "x".repeat(5_000)));
    assert!(found[0].len() < 600, "{}", found[0]);
    assert!(found[0].ends_with("`member19` and 49980 more"), "{}", found[0]);
}
