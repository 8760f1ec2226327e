//! Early cancel: answers that nothing can save are stopped while they are said.

use std::time::Duration;

use airtight_core::codec::{Delta, Reply};
use airtight_core::message::Block;
use airtight_core::run::{
    CallFailure, Ending, Job, Mode, Outcome, RepairRung, Run, Step, TERMINAL_TOOL, TextRung,
};
use airtight_core::{Dialect, Violation};
use serde_json::{Value, json};
use test_case::test_case;

use crate::support::*;

/// Pushes `said` byte by byte; returns the violation and what had been said then.
fn followed(run: &Run, said: &str) -> Option<(Violation, String)> {
    let mut watch = run.watch();
    let id = "1".to_owned();
    let name = TERMINAL_TOOL.to_owned();
    watch.push(&Delta::CallStarted { index: 0, id, name, signature: None });
    for (start, character) in said.char_indices() {
        let text = character.to_string();
        let pieces = [Delta::CallArguments { index: 0, text: text.clone() }, Delta::Text(text)];
        if let Some(impossible) = pieces.iter().find_map(|piece| watch.push(piece)) {
            return Some((impossible.violation, said[..start + character.len_utf8()].to_owned()));
        }
    }
    None
}

fn asked(job: Job) -> Run {
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "level": { "enum": ["low", "high"] },
            "score": { "type": "integer", "maximum": 10 },
            "name": { "type": "string", "maxLength": 4 },
            "tags": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["level", "score", "name", "tags"],
        "additionalProperties": false,
    })
}

#[test_case(r#"{"score":70,"#, "maximum"; "a number out of bounds")]
#[test_case(r#"{"score":{"#, "type"; "an object for a number")]
#[test_case(r#"{"score":n"#, "type"; "null for a number")]
#[test_case(r#"{"tags":5"#, "type"; "a number for an array")]
#[test_case(r#"{"level":"medium"#, "enum"; "a word that is not listed")]
#[test_case(r#"{"name":"Robert"#, "maxLength"; "a text that is too long")]
#[test_case(r#"{"tags":["a",["#, "type"; "an array among the items")]
fn what_nothing_can_save_is_stopped(said: &str, keyword: &str) {
    let run = asked(job(schema()));
    let (violation, _) = followed(&run, said).unwrap();
    assert_eq!(violation.keyword, keyword);
}

#[test_case(r#"{"score":"7","#; "a number in a string")]
#[test_case(r#"{"level":"LOW","#; "other case")]
#[test_case(r#"{"level":" low ","#; "white space around a word")]
#[test_case(r#"{"name":5,"#; "a number for a text")]
#[test_case(r#"{"tags":"[\"a\"]","#; "an array in a string")]
#[test_case(r#"{"result":{"level":"low""#; "a wrapper")]
#[test_case(r#"{"level":"low","level":"low","#; "a repeated member")]
#[test_case(r#"{"score":7,}"#; "a comma too many")]
#[test_case(r"{'score':7}"; "other quotes")]
#[test_case("{}"; "the end of the answer")]
fn what_the_judge_may_save_goes_on(said: &str) {
    assert_eq!(followed(&asked(job(schema())), said), None);
}

#[test]
fn strictly_everything_impossible_is_stopped() {
    let mut job = job(schema());
    job.policy.text = TextRung::Refused;
    job.policy.repair = RepairRung::Refused;
    let run = asked(job);
    let (violation, said) = followed(&run, r#"{"score":"7","tags":[]}"#).unwrap();
    assert_eq!((violation.keyword.as_str(), said.as_str()), ("type", r#"{"score":""#));
}

#[test]
fn native_text_is_followed_too() {
    let mut job = job(schema());
    job.mode = Mode::Native;
    assert!(followed(&asked(job), r#"{"score":70,"#).is_some());
}

#[test]
fn behind_a_choice_nothing_is_certain() {
    let branch = |kind: &str, v: &str| {
        json!({
            "type": "object",
            "properties": { "kind": { "type": kind }, "v": { "type": v } },
            "required": ["kind", "v"],
            "additionalProperties": false,
        })
    };
    let either = json!([branch("integer", "integer"), branch("string", "object")]);
    let schema = json!({
        "type": "object",
        "properties": { "it": { "anyOf": either } },
        "required": ["it"],
        "additionalProperties": false,
    });
    let said = r#"{"it":{"kind":5,"v":{"a":1}}}"#;
    assert_eq!(followed(&asked(job(schema)), said), None);
}

#[test]
fn answers_in_another_shape_are_not_followed() {
    let mut job = job(json!({ "type": "array", "items": { "type": "integer" } }));
    job.dialect = Dialect::Anthropic;
    assert_eq!(followed(&asked(job), r#"{"value":[{"#), None);
}

#[test]
fn the_last_answer_is_never_stopped() {
    let mut last_attempt = job(schema());
    last_attempt.policy.reasks = 0;
    assert_eq!(followed(&asked(last_attempt), r#"{"score":70,"#), None);
    let mut last_turn = job(schema());
    last_turn.policy.max_turns = Some(1);
    assert_eq!(followed(&asked(last_turn), r#"{"score":70,"#), None);
}

#[test]
fn a_stopped_answer_is_an_attempt_and_asked_for_again() {
    let mut run = asked(job(review()));
    let long = format!(r#"{{"score":70,"summary":"{}"}}"#, "Reads well. ".repeat(20));
    let mut watch = run.watch();
    let (id, name) = ("1".to_owned(), TERMINAL_TOOL.to_owned());
    watch.push(&Delta::CallStarted { index: 0, id, name, signature: None });
    let impossible = watch.push(&Delta::CallArguments { index: 0, text: long }).unwrap();
    let partial = Reply {
        blocks: vec![Block::Text("So:".to_owned()), answer("1", r#"{"score":70,"#)],
        usage: usage(10, 1),
        ..Reply::default()
    };
    run.failed(partial, CallFailure::Impossible(Box::new(impossible)));
    let Step::CallModel(request) = run.step() else { panic!("a model call") };
    let blocks: Vec<_> = request.messages.iter().flat_map(|message| &message.blocks).collect();
    assert!(!blocks.iter().any(|block| matches!(block, Block::Call(_))));
    let Some(Block::Text(told)) = blocks.last() else { panic!("text") };
    assert!(told.contains("/score: expected at most 10"), "{told}");
    run.answered(Reply { usage: usage(20, 40), ..calls(vec![answer("2", GOOD)]) });
    let report = run.finish(Duration::ZERO);
    assert_eq!(report.outcome, Outcome::Met);
    assert_eq!(report.attempts[0].ending, Ending::Cancelled);
    assert_eq!(report.attempts[0].violations.list[0].keyword, "maximum");
    assert_eq!(report.usage, usage(30, 41));
    assert_eq!(report.tokens_saved, 37);
}
