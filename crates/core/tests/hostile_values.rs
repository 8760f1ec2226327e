//! Values made to hurt: each has a defined answer, in bounded time.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use airtight_core::contract::{Options, Patterns};
use airtight_core::json::{Node, ParseErrorKind, Pointer};
use airtight_core::verdict::check;
use airtight_core::{Contract, Document, Preflight, Violations};
use serde_json::{Map, Value, json};
use test_case::test_case;

fn contract(schema: Value) -> Contract {
    Contract::compile(schema).unwrap()
}

fn judge(schema: Value, answer: &str) -> Violations {
    check(&contract(schema), &Document::parse(answer).unwrap())
}

fn keywords(violations: &Violations) -> Vec<&str> {
    violations.list.iter().map(|violation| violation.keyword.as_str()).collect()
}

fn refused(text: &str) -> ParseErrorKind {
    Document::parse(text).unwrap_err().kind
}

/// Definitions that each apply the next one twice to the same value.
fn bomb(keyword: &str, levels: usize, leaf: &Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        definitions.insert(format!("l{level}"), json!({ keyword: [next, next] }));
    }
    definitions.insert(format!("l{levels}"), leaf.clone());
    json!({"$ref": "#/$defs/l0", "$defs": definitions})
}

#[test_case("anyOf"; "any")]
#[test_case("oneOf"; "one")]
#[test_case("allOf"; "all")]
fn reference_bombs_are_never_accepted_without_a_judgement(keyword: &str) {
    for levels in [22, 30] {
        for leaf in [json!({"type": "string"}), json!(false), json!({"minLength": 2})] {
            let contract = contract(bomb(keyword, levels, &leaf));
            for answer in ["1", "\"x\"", "[[1]]"] {
                let violations = check(&contract, &Document::parse(answer).unwrap());
                let conforms = leaf == json!({"minLength": 2}) && answer != "\"x\""
                    || leaf == json!({"type": "string"}) && answer == "\"x\"";
                if !conforms {
                    assert!(!violations.is_empty(), "{keyword} {levels} {leaf} {answer}");
                }
                let is_short = keywords(&violations).len() < 20;
                assert!(is_short, "{keyword} {levels} {leaf} {answer} {violations:?}");
            }
        }
    }
}

#[test]
fn a_bomb_that_fits_at_once_is_accepted() {
    let schema = bomb("anyOf", 30, &json!({"type": "string"}));
    assert!(judge(schema, "\"x\"").is_empty());
}

#[test]
fn bombs_in_property_names_are_refused() {
    let schema = json!({"propertyNames": {"$ref": "#/$defs/l0"},
        "$defs": bomb("anyOf", 30, &json!(false))["$defs"].clone()});
    let refusal = Contract::compile(schema).unwrap_err();
    assert_eq!(refusal.diagnostics[0].code, "too_many_branches");
}

fn list_of_choices() -> Value {
    let node = |kind: &str| {
        json!({
            "type": "object", "required": ["kind"],
            "properties": {"kind": {"const": kind}, "next": {"$ref": "#/$defs/node"}},
        })
    };
    json!({"$ref": "#/$defs/node", "$defs": {"node": {"anyOf": [node("a"), node("b")]}}})
}

#[test]
fn a_wrong_leaf_deep_in_recursive_choices_is_found_and_named() {
    let nested = |leaf: &str, depth: usize| {
        r#"{"kind":"a","next":"#.repeat(depth) + leaf + &"}".repeat(depth)
    };
    let contract = contract(list_of_choices());
    assert!(check(&contract, &Document::parse(nested(r#"{"kind":"b"}"#, 100)).unwrap()).is_empty());
    let violations = check(&contract, &Document::parse(nested(r#"{"kind":"c"}"#, 100)).unwrap());
    let pointers: Vec<&str> = violations.list.iter().map(|v| v.pointer.as_str()).collect();
    assert!(violations.more, "{violations:?}");
    assert_eq!(pointers.first(), Some(&""));
    let leaf = "/next".repeat(20);
    assert!(pointers.iter().any(|pointer| pointer.starts_with(&leaf)), "{pointers:?}");
}

#[test_case("[", "]"; "arrays")]
#[test_case("{\"a\":", "}"; "objects")]
fn depth_is_accepted_up_to_128(open: &str, close: &str) {
    let nested = |depth: usize| open.repeat(depth) + "0" + &close.repeat(depth);
    let anything = json!({"$ref": "#/$defs/x", "$defs": {"x": {
        "items": {"$ref": "#/$defs/x"}, "additionalProperties": {"$ref": "#/$defs/x"}}}});
    for depth in [127, 128] {
        assert!(judge(anything.clone(), &nested(depth)).is_empty());
    }
    for depth in [129, 5_000, 100_000] {
        assert_eq!(refused(&nested(depth)), ParseErrorKind::TooDeep { limit: 128 });
    }
}

#[test_case("1e400", false; "beyond floats")]
#[test_case("1e999999999999", false; "far beyond floats")]
#[test_case("-1e400", false; "below floats")]
#[test_case("1e-400", true; "too small for floats")]
#[test_case("-0", true; "negative zero")]
#[test_case("1234567890123456789012345678901234567890", true; "40 digits")]
fn numbers_are_kept_exactly_or_refused(literal: &str, kept: bool) {
    match Document::parse(literal) {
        Ok(document) => assert!(kept && document.to_compact() == literal),
        Err(error) => assert!(!kept && error.kind == ParseErrorKind::NumberOutOfRange),
    }
}

#[test]
fn integers_of_200_000_digits_are_refused() {
    assert_eq!(refused(&"9".repeat(200_000)), ParseErrorKind::NumberOutOfRange);
}

#[test_case(json!({"type": "integer"}), "1.0", true; "whole floats are integers")]
#[test_case(json!({"type": "integer"}), "1e2", true; "exponents too")]
#[test_case(json!({"type": "integer"}), "1234567890123456789012345678901234567890", true; "large integers")]
#[test_case(json!({"type": "integer"}), "9007199254740993.5", false; "what floats would round")]
#[test_case(json!({"const": 0}), "-0.0", true; "zero has no sign")]
#[test_case(json!({"const": 9_007_199_254_740_992_u64}), "9007199254740993", false; "constants beyond 2^53")]
#[test_case(json!({"enum": [18_446_744_073_709_551_615_u64]}), "18446744073709551616", false; "members beyond 2^64")]
#[test_case(json!({"maximum": 9_007_199_254_740_992_u64}), "9007199254740993", false; "maximum beyond 2^53")]
#[test_case(json!({"maximum": 18_446_744_073_709_551_615_u64}), "18446744073709551616", false; "maximum beyond 2^64")]
#[test_case(json!({"maximum": 18_446_744_073_709_551_615_u64}), "18446744073709551615.0", true; "maximum at 2^64")]
#[test_case(json!({"exclusiveMinimum": -9_223_372_036_854_775_808_i64}), "-9223372036854775808", false; "least integer")]
#[test_case(json!({"minimum": 1e30}), "1000000000000000000000000000000", true; "minimum as a float")]
#[test_case(json!({"minimum": 1e30}), "999999999999999999999999999999", false; "one below it")]
#[test_case(json!({"multipleOf": 0.1}), "0.3", true; "decimal multiples")]
#[test_case(json!({"multipleOf": 0.1}), "0.30000000000000004", false; "0.1 + 0.2")]
#[test_case(json!({"multipleOf": 2}), "18446744073709551617", false; "odd beyond 2^64")]
#[test_case(json!({"multipleOf": 2}), "18446744073709551618", true; "even beyond 2^64")]
#[test_case(json!({"uniqueItems": true}), "[18446744073709551616,18446744073709551617]", true; "distinct beyond 2^64")]
#[test_case(json!({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": true}), "5", false; "draft 4 bounds")]
#[test_case(json!({"$schema": "http://json-schema.org/draft-04/schema#", "maximum": 5, "exclusiveMaximum": false}), "5", true; "draft 4 inclusive bounds")]
fn numbers_are_judged_by_their_digits(schema: Value, answer: &str, conforms: bool) {
    let violations = judge(schema, answer);
    assert_eq!(violations.is_empty(), conforms, "{violations:?}");
}

#[test]
fn duplicate_keys_are_reported_once_each_and_bounded() {
    let members = vec![r#""a":1"#; 100_000].join(",");
    let violations = judge(json!({}), &format!("{{{members}}}"));
    assert_eq!((violations.list.len(), violations.more), (100, true));
    assert!(keywords(&violations).iter().all(|keyword| *keyword == "duplicate_key"));
    assert_eq!(violations.list[0].pointer.as_str(), "/a");
}

/// A member with a name of a megabyte that holds `inside`.
fn under_a_long_key(inside: &str) -> String {
    format!(r#"{{"{}":{inside}}}"#, "k".repeat(1_000_000))
}

#[test]
fn duplicate_keys_under_a_long_key_do_not_copy_it_for_each() {
    // Written out, their places take 100 GB.
    let members = vec![r#""a":1"#; 100_000].join(",");
    let violations = judge(json!({}), &under_a_long_key(&format!("{{{members}}}")));
    assert!(keywords(&violations).iter().all(|keyword| *keyword == "duplicate_key"));
    assert!((1..100).contains(&violations.list.len()) && violations.more);
}

#[test]
fn errors_under_a_long_key_do_not_copy_it_for_each() {
    // Fifty thousand errors are kept at most, which would be 50 GB.
    let answer = under_a_long_key(&format!("[{}]", vec!["1"; 100_000].join(",")));
    let violations = judge(json!({"additionalProperties": {"items": {"type": "string"}}}), &answer);
    assert!(keywords(&violations).iter().all(|keyword| *keyword == "type"));
    assert!((1..100).contains(&violations.list.len()) && violations.more);
    assert!(violations.list[0].pointer.as_str().ends_with("k/0"));
}

#[test]
fn deep_items_beside_a_repeated_key_are_compared_once_at_each_level() {
    let deep = r#"{"a":"#.repeat(100) + "1" + &"}".repeat(100);
    let answer = format!(r#"[{{"b":1,"b":1}},{deep},{deep}]"#);
    let violations = judge(json!({"uniqueItems": true}), &answer);
    assert_eq!(keywords(&violations), ["duplicate_key", "uniqueItems"]);
}

/// An object with many members whose names are long, and no others.
fn closed(letter: char) -> Value {
    let name = |n: usize| (format!("{letter}{n:029}"), json!({}));
    let properties: Map<String, Value> = (0..500).map(name).collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[test_case(closed('p'), "additionalProperties"; "in an object")]
#[test_case(json!({"anyOf": [closed('p'), closed('q')]}), "anyOf"; "in a choice")]
fn very_many_members_that_are_not_allowed_are_not_all_compared_with_those_that_are(
    schema: Value,
    keyword: &str,
) {
    let members: Vec<String> = (0..200_000).map(|n| format!(r#""x{n:029}":1"#)).collect();
    let violations = judge(schema, &format!("{{{}}}", members.join(",")));
    assert_eq!((violations.list.len(), violations.more), (100, true));
    let first = violations.list.first().map(|violation| violation.keyword.as_str());
    assert_eq!(first, Some(keyword));
}

#[test_case(r#""\ud800""#; "high")]
#[test_case(r#""\udc00""#; "low")]
#[test_case(r#"{"\ud800x":1}"#; "in a key")]
fn lone_surrogates_are_refused(text: &str) {
    assert_eq!(refused(text), ParseErrorKind::LoneSurrogate);
}

#[test]
fn lengths_count_characters() {
    let five = json!({"minLength": 5, "maxLength": 5});
    for answer in [
        r#""e\u0301e\u0301\ud83d\ude00""#,
        "\"e\u{301}e\u{301}😀\"",
        "\"\u{200f}\u{200b}\u{fffe}\\u0000x\"",
    ] {
        assert!(judge(five.clone(), answer).is_empty(), "{answer}");
    }
}

#[test]
fn a_million_empty_objects_are_judged() {
    let answer = format!("[{}]", vec!["{}"; 1_000_000].join(","));
    assert!(judge(json!({"items": {"type": "object", "maxProperties": 0}}), &answer).is_empty());
    let violations = judge(json!({"items": {"required": ["a", "b", "c"]}}), &answer);
    assert_eq!((violations.list.len(), violations.more), (100, true));
}

#[test]
fn a_string_of_10_mb_is_judged_and_never_repeated_in_full() {
    let answer = format!("\"{}\"", "x".repeat(10_000_000));
    assert!(judge(json!({"minLength": 10_000_000}), &answer).is_empty());
    let violations = judge(json!({"maxLength": 5, "pattern": "y", "enum": ["y"]}), &answer);
    assert_eq!(keywords(&violations), ["enum", "maxLength", "pattern"]);
    assert!(violations.list.iter().all(|v| v.message.len() < 500));
}

const NAUGHTY: [&str; 16] = [
    "__proto__",
    "constructor",
    "'; DROP TABLE runs; --",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "\u{1b}]52;c;aGk=\u{7}",
    "../../etc/passwd",
    "C:\\con",
    "\u{0}",
    "\u{feff}",
    "\u{202e}evil\u{200b}",
    "=cmd|' /C calc'!A0",
    "%s%n",
    "\u{ffff}\u{fdd0}",
    "~0~1/a//b",
    "ﷺ🏳️‍🌈Z̮̞̠͙͔ͅa̞̜l͖g͟o",
];

#[test]
fn naughty_strings_round_trip_byte_for_byte() {
    for naughty in NAUGHTY.iter().map(|text| (*text).to_owned()).chain(["k".repeat(5_000)]) {
        let text = json!({ naughty.as_str(): [naughty] }).to_string();
        let document = Document::parse(text.as_str()).unwrap();
        assert_eq!(document.to_compact(), text);
        let (key, value) = document.root().members().next().unwrap();
        assert_eq!(key, naughty);
        assert_eq!(value.items().next().unwrap().as_str(), Some(naughty.as_str()));
        let pointer = Pointer::root().key(&naughty).index(0);
        assert_eq!(document.at(&pointer).and_then(Node::as_str), Some(naughty.as_str()));
        let schema = json!({"properties": {naughty.as_str(): {"items": {"const": naughty}}}, "additionalProperties": false});
        assert!(judge(schema, &text).is_empty());
        let violations = judge(json!({"additionalProperties": {"items": {"type": "null"}}}), &text);
        assert_eq!(violations.list[0].pointer, pointer);
        assert!(violations.list[0].message.chars().all(|character| !character.is_control()));
    }
}

#[test_case(r#"{"q":"A"}"#, &["pattern"]; "the match is given up on")]
#[test_case(r#"{"q":"A","z":{"q":"A"}}"#, &["pattern"]; "more than once")]
#[test_case(r#"{"q":"A","q":"A"}"#, &["duplicate_key", "work_limit"]; "a name occurs twice")]
fn patterns_that_backtrack_without_end_are_violations(answer: &str, expected: &[&str]) {
    let schema = json!({
        "type": "object",
        "properties": {"q": {"type": "string", "pattern": r"^(a|a)*\1(?=b)$"}},
        "patternProperties": {"^z": {"$ref": "#"}},
    });
    let options = Options { patterns: Patterns::LookAround, ..Options::default() };
    let contract = Preflight::of(schema, &options).into_result().unwrap();
    let answer = Document::parse(answer.replace('A', &"a".repeat(44))).unwrap();
    let found = check(&contract, &answer);
    assert_eq!(keywords(&found), expected, "{found:?}");
}

#[test_case(&json!(1), "1.00000000000000000000001", false; "a hair above one")]
#[test_case(&json!(1), "1.000", true; "one")]
#[test_case(&json!(1), "10e-1", true; "one with an exponent")]
#[test_case(&json!(0.1), "0.1000000000000000055511151231257827", false; "what a float makes of it")]
#[test_case(&json!(0.1), "0.10", true; "a tenth")]
#[test_case(&json!([1]), "[1.00000000000000000000001]", false; "inside an array")]
#[test_case(&json!({"a": 1}), r#"{"a":1.00000000000000000000001}"#, false; "inside an object")]
#[test_case(&json!("1"), "1", false; "a string is no number")]
fn constants_are_compared_by_their_digits(constant: &Value, answer: &str, conforms: bool) {
    let by_constant = judge(json!({ "const": constant }), answer);
    let by_enumeration = judge(json!({ "enum": [constant] }), answer);
    assert_eq!((by_constant.is_empty(), by_enumeration.is_empty()), (conforms, conforms));
}
