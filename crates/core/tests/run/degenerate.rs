//! Answers that conform and say nothing.

use airtight_core::run::{Ending, Mode, Outcome, Rung};
use serde_json::json;
use test_case::test_case;

use crate::support::*;

#[test_case(r#"{"summary":"...","score":1}"#; "an ellipsis")]
#[test_case(r#"{"summary":"<placeholder>","score":1}"#; "a placeholder")]
fn a_placeholder_is_asked_for_again(said: &str) {
    let replies = vec![calls(vec![answer("1", said)]), calls(vec![answer("2", GOOD)])];
    let played = play(job(review()), replies);
    assert_eq!(played.report.attempts[0].ending, Ending::Degenerate);
    assert_eq!(played.report.rung, Some(Rung::ReAsk));
}

#[test]
fn the_same_placeholder_twice_ends_the_run() {
    let said = r#"{"summary":"...","score":1}"#;
    let replies = vec![calls(vec![answer("1", said)]), calls(vec![answer("2", said)])];
    assert_eq!(play(job(review()), replies).report.outcome, Outcome::Degenerate);
}

#[test]
fn the_example_of_the_prompt_is_no_answer() {
    let mut job = job(review());
    (job.mode, job.policy.reasks) = (Mode::Prompt, 0);
    let example = job.contract.as_ref().unwrap().example().unwrap().to_compact();
    let played = play(job, vec![text(&example)]);
    assert_eq!(played.report.outcome, Outcome::Degenerate);
}

#[test]
fn the_schema_is_no_answer() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let played = play(job, vec![text(&review().to_string())]);
    assert_eq!(played.report.outcome, Outcome::Degenerate);
}

#[test]
fn an_answer_emptied_to_conform_is_no_answer() {
    let schema = json!({
        "type": "object",
        "properties": {
            "issues": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "severity": { "enum": ["low", "high"] } },
                    "required": ["severity"],
                },
            },
        },
        "required": ["issues"],
    });
    let mut job = job(schema);
    job.policy.reasks = 1;
    let full = r#"{"issues":[{"severity":"urgent"}]}"#;
    let empty = r#"{"issues":[]}"#;
    let replies = vec![calls(vec![answer("1", full)]), calls(vec![answer("2", empty)])];
    assert_eq!(play(job.clone(), replies).report.outcome, Outcome::Degenerate);
    let honest = play(job, vec![calls(vec![answer("1", empty)])]);
    assert_eq!(honest.report.outcome, Outcome::Met);
}

#[test_case(json!({"type": "object", "properties": {"kind": {"type": "string"}}}), r#"{"kind":"string"}"#; "one word that may be meant")]
#[test_case(json!({"type": "object", "properties": {"a": {"enum": ["todo", "done"]}, "b": {"enum": ["test"]}}}), r#"{"a":"todo","b":"test"}"#; "words that the contract lists")]
#[test_case(json!({"type": "object", "properties": {"ok": {"type": "boolean"}}}), r#"{"ok":false}"#; "no text at all")]
fn honest_answers_are_left_alone(schema: serde_json::Value, said: &str) {
    let played = play(job(schema), vec![calls(vec![answer("1", said)])]);
    assert_eq!(played.value().as_deref(), Some(said));
}
