//! Contracts that are made to hang, overflow or mislead: each has a defined answer.
//!
//! Nothing here measures time; a test that does not end has failed.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Map, Value, json};
use test_case::test_case;

use super::{Options, Origin, Patterns, Preflight};
use crate::{Answer, Contract};

fn preflight(schema: &Value) -> Preflight {
    Preflight::of(schema.clone(), &Options::default())
}

/// Returns the code of the first finding; `None` if the contract is accepted without any.
fn code_of(schema: &Value) -> Option<&'static str> {
    preflight(schema).diagnostics.first().map(|finding| finding.code)
}

/// Numbers the members of an object.
fn many(count: usize, member: impl Fn(usize) -> (String, Value)) -> Value {
    Value::Object((0..count).map(member).collect::<Map<_, _>>())
}

fn prefixes(count: usize) -> Value {
    many(count, |n| (format!("^p{n}x*$"), json!({"minLength": n})))
}

/// A chain of definitions, each of which applies the next one through `link`.
fn chain(levels: usize, link: impl Fn(usize, Value) -> Value) -> Value {
    let mut definitions = many(levels, |level| {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        (format!("d{level}"), link(level, next))
    });
    definitions[format!("d{levels}")] = json!({"type": "object"});
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test_case("anyOf", 22)]
#[test_case("anyOf", 30)]
#[test_case("oneOf", 22)]
#[test_case("oneOf", 30)]
#[test_case("allOf", 22)]
#[test_case("allOf", 30)]
fn reference_bombs_pass_and_are_counted(keyword: &str, levels: usize) {
    let contract = preflight(&chain(levels, |_, next| json!({keyword: [next.clone(), next]})));
    assert_eq!(contract.satisfiable.answer, Answer::Unknown);
    assert!(contract.contract.unwrap().expansion().schemas > 1 << levels);
}

/// Nests `wrap` around an object schema.
fn nested(levels: usize, wrap: impl Fn(usize, Value) -> Value) -> Value {
    (0..levels).fold(json!({"type": "object"}), |inner, level| wrap(level, inner))
}

fn product(factors: usize, terms: usize) -> Value {
    let factor = |factor: usize| -> Value {
        let term =
            |term: usize| json!({"required": [format!("q{factor}_{term}")], "minProperties": term});
        json!({"anyOf": (0..terms).map(term).collect::<Vec<_>>()})
    };
    json!({"type": "object", "allOf": (0..factors).map(factor).collect::<Vec<_>>()})
}

#[test_case(&product(8, 8); "product of unions")]
#[test_case(&product(60, 60); "wide product of unions")]
#[test_case(&json!({"allOf": (0..8).map(|_| json!({"properties": {"a": product(1, 8)}})).collect::<Vec<_>>()}); "product in a property")]
#[test_case(&nested(60, |level, inner| json!({"allOf": [inner, {"anyOf": [{"required": [format!("x{level}")]}, {"required": [format!("y{level}")]}]}]})); "nested products")]
#[test_case(&nested(60, |level, inner| json!({"if": {"required": [format!("x{level}")]}, "then": inner, "else": {"required": [format!("y{level}")]}})); "nested conditions")]
#[test_case(&json!({"oneOf": (0..2_000).map(|n| json!({"required": [format!("m{n}")]})).collect::<Vec<_>>()}); "wide choice")]
#[test_case(&json!({"properties": many(30_000, |n| (format!("p{n}"), json!({"type": "string"})))}); "very many properties")]
#[test_case(&chain(6_000, |_, next| json!({"properties": {"a": next}})); "very long chain")]
#[test_case(&json!({"propertyNames": {"enum": (0..200_000).map(|n| format!("name{n}")).collect::<Vec<_>>()}, "patternProperties": prefixes(10_000), "additionalProperties": {"type": "integer"}}); "very many names by very many patterns")]
fn what_would_take_long_is_left_to_the_verdict(schema: &Value) {
    let report = preflight(schema);
    assert!(report.contract.is_some(), "{:?}", report.diagnostics);
    assert_eq!(report.satisfiable.answer, Answer::Unknown);
    assert!(report.satisfiable.reason.starts_with("not decided: "));
}

#[test_case(&json!({"type": "object", "properties": many(10_000, |n| (format!("p{n}"), json!({"minLength": n})))}); "properties")]
#[test_case(&json!({"type": "object", "patternProperties": prefixes(10_000)}); "pattern properties")]
#[test_case(&json!({"enum": (0..50_000).map(|n| format!("m{n}")).collect::<Vec<_>>()}); "enum members")]
#[test_case(&json!({"enum": (0..50_000).map(|n| json!({"m": n})).collect::<Vec<_>>()}); "enum of objects")]
#[test_case(&nested(60, |_, inner| json!({"properties": {"a": inner}})); "nested properties")]
#[test_case(&nested(60, |_, inner| json!({"not": inner})); "nested negations")]
#[test_case(&nested(30, |level, inner| json!({"anyOf": [inner, {"required": [format!("x{level}")]}]})); "nested unions")]
#[test_case(&chain(1_000, |_, next| json!({"properties": {"a": next}})); "long chain")]
fn large_but_plain_contracts_are_decided(schema: &Value) {
    let report = preflight(schema);
    assert!(report.contract.is_some(), "{:?}", report.diagnostics);
    assert_eq!(report.satisfiable.answer, Answer::Yes, "{}", report.satisfiable.reason);
}

#[test_case(&json!({"$ref": "#"}), "endless_reference"; "itself")]
#[test_case(&json!({"anyOf": [{"$ref": "#"}]}), "endless_reference"; "in a branch")]
#[test_case(&chain(300, |_, next| json!({"allOf": [next]})), "too_deep"; "chain on one value")]
#[test_case(&chain(60_000, |_, next| json!({"properties": {"a": next}})), "too_many_references"; "too many definitions")]
#[test_case(&json!({"unevaluatedProperties": false, "allOf": [chain(24, |_, next| json!({"anyOf": [next.clone(), next]}))]}), "unresolved_reference"; "definitions that are not at the root")]
#[test_case(&json!({"pattern": "^(?=a)b"}), "needs_look_around"; "look ahead")]
#[test_case(&json!({"pattern": "(a)\\1"}), "needs_look_around"; "back reference")]
#[test_case(&json!({"pattern": "("}), "invalid_pattern"; "broken pattern")]
#[test_case(&json!({"pattern": "((a{100}){100}){100}"}), "pattern_too_large"; "huge pattern")]
#[test_case(&json!({"patternProperties": many(300, |n| (format!("^{n}(\\p{{L}}{{20}}){{3}}$"), json!({})))}), "pattern_too_large"; "many large patterns")]
#[test_case(&json!({"$schema": "https://a.test/schema"}), "unknown_draft"; "unknown draft")]
#[test_case(&json!({"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}), "unsatisfiable"; "empty enum")]
fn hostile_contracts_are_refused_with_a_reason(schema: &Value, expected: &str) {
    assert_eq!(code_of(schema), Some(expected));
}

#[test]
fn the_longest_chain_that_is_looked_at_fits_the_stack() {
    let schema = chain(
        650,
        |_, next| json!({"properties": {"a": {"anyOf": [{"type": "null"}, {"allOf": [next, {"minProperties": 1}]}]}}}),
    );
    let report = preflight(&schema);
    assert!(report.contract.is_some(), "{:?}", report.diagnostics);
    assert!(!report.satisfiable.reason.contains("nest"), "{}", report.satisfiable.reason);
}

#[test]
fn exponential_patterns_are_harmless() {
    let contract = Contract::compile(json!({"pattern": "^(a+)+$"})).unwrap();
    let value = crate::Document::from_value(&json!("a".repeat(100_000) + "!")).unwrap();
    assert_eq!(crate::verdict::check(&contract, &value).list[0].keyword, "pattern");
}

#[test]
fn look_around_is_possible_by_opt_in() {
    let options = Options { patterns: Patterns::LookAround, ..Options::default() };
    let report = Preflight::of(json!({"type": "string", "pattern": "^(?=a)a"}), &options);
    assert!(report.contract.is_some(), "{:?}", report.diagnostics);
}

#[test]
fn references_are_never_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    for keyword in ["$ref", "$schema", "$id", "$dynamicRef"] {
        let schema = json!({keyword: format!("http://{address}/x.json"), "title": "t"});
        preflight(&schema);
        preflight(&json!({"properties": {"a": schema}}));
    }
    assert_eq!(
        code_of(&json!({"$ref": format!("http://{address}/x.json")})),
        Some("remote_reference")
    );
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn documents_that_are_given_may_be_referred_to() {
    let documents =
        vec![("http://a.test/x.json".to_owned(), json!({"$defs": {"n": {"type": "integer"}}}))];
    let options = Options { documents, ..Options::default() };
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "http://a.test/x.json#/$defs/n"}}});
    let contract = Preflight::of(schema, &options).into_result().unwrap();
    let judge = |text: &str| {
        crate::verdict::check(&contract, &crate::Document::parse(text).unwrap()).is_empty()
    };
    assert!(judge(r#"{"a":1}"#));
    assert!(!judge(r#"{"a":"x"}"#));
}

#[test]
fn four_mebibytes_are_inspected() {
    let count = 100_000;
    let schema = json!({"type": "object", "properties": many(count, |n| (format!("property_{n:08}"), json!({"type": "string"})))});
    let mut text = schema.to_string();
    text.push_str(&" ".repeat(crate::contract::SOURCE_LIMIT_BYTES - text.len()));
    let report = Preflight::run(text.as_bytes(), Origin::File, &Options::default());
    assert!(report.contract.is_some(), "{:?}", report.diagnostics);
}

#[test]
fn long_keys_above_many_schemas_are_refused() {
    let inner = many(20_000, |n| (format!("p{n}"), json!({"type": "string"})));
    let schema = json!({"properties": {"k".repeat(1_000_000): {"properties": inner}}});
    assert_eq!(code_of(&schema), Some("too_large"));
}

#[test]
fn the_deepest_value_of_the_deepest_contract_is_judged_within_the_stack_of_a_process() {
    let mut schema = chain(30, |_, next| json!({"oneOf": [{"type": "string"}, next]}));
    schema["$defs"]["d30"] = json!({"properties": {"a": {"$ref": "#"}}, "maximum": 0});
    let contract = Contract::compile(schema).unwrap();
    assert_eq!(contract.expansion().nesting, 63);
    let text = "{\"a\":".repeat(127) + "1" + &"}".repeat(127);
    let value = crate::Document::parse(text).unwrap();
    let judge = move || crate::verdict::check(&contract, &value).is_empty();
    let thread = std::thread::Builder::new().stack_size(8 * 1024 * 1024);
    assert!(!thread.spawn(judge).unwrap().join().unwrap());
}
