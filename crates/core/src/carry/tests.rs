use serde_json::json;
use test_case::test_case;

use super::*;
use crate::judge::{Allowance, Strictness, judge};
use crate::verdict::{Rejection, Verdict};

/// Version 1 of a review.
fn first() -> Contract {
    compile(json!({
        "x-version": "1.3.0",
        "type": "object",
        "properties": {
            "verdict": {"enum": ["ok", "bad"]},
            "score": {"type": "number"},
            "legacy": {"type": "string"},
            "findings": {"type": "array", "items": {
                "type": "object",
                "properties": {"sev": {"type": "string"}, "text": {"type": "string"}},
                "required": ["sev", "text"],
                "additionalProperties": false,
            }},
        },
        "required": ["verdict", "score"],
        "additionalProperties": false,
    }))
}

/// Version 2 of it.
fn second() -> Contract {
    compile(json!({
        "x-version": "2.0.0",
        "type": "object",
        "properties": {
            "decision": {"enum": ["approve", "reject"]},
            "rating": {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]},
            "source": {"type": "string"},
            "findings": {"type": "array", "items": {
                "type": "object",
                "properties": {"severity": {"type": "string"}, "text": {"type": "string"}, "fixed": {"type": "boolean"}},
                "required": ["severity", "text", "fixed"],
                "additionalProperties": false,
            }},
        },
        "required": ["decision", "rating", "source"],
        "additionalProperties": false,
    }))
}

fn declared() -> Declaration {
    let pairs = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
    };
    Declaration {
        from: "1.x".to_owned(),
        rename: pairs(&[
            ("/verdict", "/decision"),
            ("/score", "/rating/score"),
            ("/findings/*/sev", "/findings/*/severity"),
        ]),
        drop: vec!["/legacy".to_owned()],
        map: vec![(
            "/verdict".to_owned(),
            vec![("ok".to_owned(), json!("approve")), ("bad".to_owned(), json!("reject"))],
        )],
        default: vec![
            ("/source".to_owned(), json!("unknown")),
            ("/findings/*/fixed".to_owned(), json!(false)),
        ],
    }
}

fn compile(schema: Value) -> Contract {
    Contract::compile(schema).unwrap()
}

/// Version 2, which takes answers of version 1.
fn rolling() -> Contract {
    let mut contract = second();
    let carry = Carry::new(first(), &contract, &declared()).unwrap();
    contract.accept_older(carry);
    contract
}

fn accepted(contract: &Contract, text: &str) -> (String, Value) {
    match judge(contract, text, &Allowance::default()) {
        Verdict::Accepted(accepted) => {
            (accepted.value.to_compact(), json!(accepted.edits.listed()))
        }
        Verdict::Rejected(rejected) => panic!("{rejected:?}"),
    }
}

fn rejected(contract: &Contract, text: &str) -> Vec<String> {
    match judge(contract, text, &Allowance::default()) {
        Verdict::Rejected(rejected) => {
            assert_eq!(rejected.reason, Rejection::Invalid);
            rejected.violations.list.into_iter().map(|it| it.message).collect()
        }
        Verdict::Accepted(accepted) => panic!("{accepted:?}"),
    }
}

const OLD: &str = r#"{"verdict":"ok","score":12345678901234567890.50,"legacy":"x","findings":[{"sev":"low","text":"a"},{"sev":"high","text":"b"}]}"#;

#[test]
fn an_answer_by_an_older_version_is_carried_forward_with_every_step_on_record() {
    let (value, edits) = accepted(&rolling(), OLD);
    assert_eq!(
        value,
        r#"{"findings":[{"text":"a","severity":"low","fixed":false},{"text":"b","severity":"high","fixed":false}],"decision":"approve","rating":{"score":12345678901234567890.50},"source":"unknown"}"#
    );
    let step =
        |kind: &str, pointer: &str| json!({"kind": kind, "pointer": pointer, "version": "1.3.0"});
    let moved = |from: &str, to: &str| json!({"kind": "carry_moved", "pointer": from, "to": to, "version": "1.3.0"});
    assert_eq!(
        edits,
        json!([
            step("carried", ""),
            step("carry_reworded", "/verdict"),
            step("carry_dropped", "/legacy"),
            moved("/verdict", "/decision"),
            moved("/score", "/rating/score"),
            moved("/findings/0/sev", "/findings/0/severity"),
            moved("/findings/1/sev", "/findings/1/severity"),
            step("carry_default", "/source"),
            step("carry_default", "/findings/0/fixed"),
            step("carry_default", "/findings/1/fixed"),
        ])
    );
}

#[test]
fn what_the_contract_accepts_itself_is_never_touched() {
    let text = r#"{"decision":"approve","rating":{"score":1},"source":"s"}"#;
    assert_eq!(accepted(&rolling(), text), (text.to_owned(), json!([])));
}

#[test]
fn an_old_answer_amid_prose_is_found_like_any_other() {
    let text = format!("Here you are:\n```json\n{OLD}\n```\nAnything else?");
    let (_, edits) = accepted(&rolling(), &text);
    assert_eq!(edits[0]["kind"], "surroundings");
    assert_eq!(edits[2]["kind"], "carried");
}

#[test]
fn without_older_versions_nothing_is_carried() {
    assert!(rejected(&second(), OLD).iter().all(|message| !message.contains("version")));
}

#[test]
fn strict_readers_get_no_carried_answers() {
    let strict = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    assert!(matches!(judge(&rolling(), OLD, &strict), Verdict::Rejected(_)));
}

#[test]
fn what_breaks_the_contract_when_it_arrives_is_refused_and_says_so() {
    let mut contract = second();
    let declaration = Declaration { default: Vec::new(), ..declared() };
    contract.accept_older(Carry::new(first(), &contract, &declaration).unwrap());
    let messages = rejected(&contract, OLD);
    let last = messages.last().unwrap();
    assert!(last.starts_with("version 1.3.0 accepts it, but carried forward it breaks"), "{last}");
}

#[test]
fn a_place_that_is_taken_is_never_written_over() {
    let open = |properties: Value, required: Value| {
        compile(json!({"type": "object", "properties": properties, "required": required}))
    };
    let older = open(json!({"a": {"type": "string"}}), json!(["a"]));
    let mut newer = open(json!({"b": {"type": "integer"}}), json!(["b"]));
    let rename = vec![("/a".to_owned(), "/b".to_owned())];
    let declaration = Declaration { from: "1.x".to_owned(), rename, ..Declaration::default() };
    newer.accept_older(Carry::new(older, &newer, &declaration).unwrap());
    let messages = rejected(&newer, r#"{"a": "5", "b": "x"}"#);
    assert_eq!(messages.last().unwrap(), "`/a` has no place to go: `/b` is taken, or in no object");
}

#[test]
fn two_members_can_change_places() {
    let version = |a: &str, b: &str| {
        compile(
            json!({"type": "object", "properties": {"a": {"type": a}, "b": {"type": b}}, "required": ["a", "b"]}),
        )
    };
    let mut newer = version("integer", "string");
    let swap = [("/a", "/b"), ("/b", "/a")].map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
    let declaration = Declaration { from: "<2".to_owned(), rename: swap, ..Declaration::default() };
    newer.accept_older(Carry::new(version("string", "integer"), &newer, &declaration).unwrap());
    assert_eq!(accepted(&newer, r#"{"a": "x", "b": 5}"#).0, r#"{"b":"x","a":5}"#);
}

#[test]
fn versions_that_make_different_answers_of_one_are_a_tie_and_equal_ones_are_not() {
    let older = || compile(json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}));
    let newer = || {
        compile(
            json!({"type": "object", "properties": {"a": {}, "from": {"type": "string"}}, "required": ["a", "from"]}),
        )
    };
    let tied = |words: [&str; 2]| {
        let mut contract = newer();
        for (from, word) in ["1.x", "2.x"].into_iter().zip(words) {
            let default = vec![("/from".to_owned(), json!(word))];
            let from = from.to_owned();
            let declaration = Declaration { from, default, ..Declaration::default() };
            contract.accept_older(Carry::new(older(), &contract, &declaration).unwrap());
        }
        contract
    };
    let messages = rejected(&tied(["one", "two"]), r#"{"a": 1}"#);
    assert_eq!(
        messages.last().unwrap(),
        "versions 1.x and 2.x accept it, and make different answers of it"
    );
    assert_eq!(accepted(&tied(["one", "one"]), r#"{"a": 1}"#).0, r#"{"a":1,"from":"one"}"#);
}

#[test_case(&Declaration { from: "one".to_owned(), ..declared() }, "`one` is no range of versions such as `1.x` or `>=1.2, <2`"; "no range")]
#[test_case(&Declaration { from: ">=1".to_owned(), ..declared() }, "`>=1` includes 2.0.0, the version of the contract itself"; "own version")]
#[test_case(&Declaration { from: "0.x".to_owned(), ..declared() }, "the older contract is version 1.3.0, which `0.x` does not include"; "other version")]
#[test_case(&Declaration { drop: vec!["legacy".to_owned()], ..declared() }, "`legacy` is no pointer to a part of an answer, such as `/level` or `/findings/*/level`"; "no pointer")]
#[test_case(&Declaration { drop: vec!["/findings/*".to_owned()], ..declared() }, "`/findings/*` is no pointer to a part of an answer, such as `/level` or `/findings/*/level`"; "items themselves")]
#[test_case(&Declaration { drop: vec!["/legcy".to_owned()], ..declared() }, "`/legcy` is nothing that the older contract declares"; "misspelt")]
#[test_case(&Declaration { drop: vec!["/findings/0/sev".to_owned()], ..declared() }, "`/findings/0/sev` is nothing that the older contract declares"; "one item")]
#[test_case(&Declaration { default: vec![("/sourc".to_owned(), json!(1))], ..declared() }, "`/sourc` is nothing that the contract declares"; "misspelt default")]
#[test_case(&Declaration { rename: vec![("/findings/*/sev".to_owned(), "/source".to_owned())], ..declared() }, "`/findings/*/sev` and `/source` do not go through the same arrays"; "other arrays")]
#[test_case(&Declaration { drop: vec!["/score".to_owned()], ..declared() }, "`/score` is declared twice, or is within what is"; "twice")]
#[test_case(&Declaration { map: vec![("/verdict".to_owned(), vec![("good".to_owned(), json!("approve"))])], ..declared() }, "`/verdict` is never `good` in answers by the older contract"; "word that nobody says")]
#[test_case(&Declaration { map: vec![("/verdict".to_owned(), vec![("ok".to_owned(), json!("aprove"))])], ..declared() }, "the contract refuses \"aprove\" at `/decision`"; "word that the contract does not have")]
#[test_case(&Declaration { default: vec![("/source".to_owned(), json!(1))], ..declared() }, "the contract refuses 1 at `/source`"; "default of another type")]
#[test_case(&Declaration { default: vec![("/findings/*/fixed".to_owned(), json!("no"))], ..declared() }, "the contract refuses \"no\" at `/findings/*/fixed`"; "default within items")]
fn what_cannot_be_meant_is_refused(declaration: &Declaration, message: &str) {
    let error = Carry::new(first(), &second(), declaration).unwrap_err();
    assert_eq!(error.to_string(), message);
}

/// What is stated by branches or references is judged with them.
#[test_case(&json!({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/word"}]}), &json!("b"), true; "one branch takes it")]
#[test_case(&json!({"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/word"}]}), &json!("z"), false; "no branch takes it")]
#[test_case(&json!({"$ref": "#/properties/other"}), &json!("z"), true; "what refers elsewhere is left open")]
#[test_case(&json!(false), &json!("z"), false; "nothing may be there")]
fn only_a_clear_no_is_refused(place: &Value, value: &Value, is_taken: bool) {
    let newer = compile(json!({
        "type": "object",
        "properties": {"place": place, "other": {"type": "integer"}},
        "$defs": {"word": {"enum": ["a", "b"]}},
    }));
    let older = compile(json!({"type": "object"}));
    let default = vec![("/place".to_owned(), value.clone())];
    let declaration = Declaration { from: "1.x".to_owned(), default, ..Declaration::default() };
    assert_eq!(Carry::new(older, &newer, &declaration).is_ok(), is_taken);
}
