//! Answers that come another way than they should, or in another shape.

use airtight_core::codec::{Reply, Stop};
use airtight_core::run::{Ending, Mode, Outcome, Rung, TextRung};
use airtight_core::{Advice, Dialect, EditKind};
use serde_json::json;
use test_case::test_case;

use crate::support::*;

#[test]
fn text_with_one_conforming_value_is_recovered() {
    let played = play(job(review()), vec![text(&format!("Here it is:\n```json\n{GOOD}\n```"))]);
    assert_eq!(played.value().as_deref(), Some(GOOD));
    assert_eq!(played.report.rung, Some(Rung::Text));
    assert!(played.report.edits.listed().iter().all(|edit| edit.kind == EditKind::Surroundings));
}

#[test]
fn text_that_had_to_be_changed_is_repaired() {
    let played = play(job(review()), vec![text(r#"{"summary":"Reads well.","score":"7"}"#)]);
    assert_eq!(played.value().as_deref(), Some(GOOD));
    assert_eq!(played.report.rung, Some(Rung::Repair));
}

#[test]
fn arguments_are_coerced_and_the_edit_is_on_record() {
    let reply = calls(vec![answer("1", r#"{"summary":"Reads well.","score":"7"}"#)]);
    let played = play(job(review()), vec![reply]);
    assert_eq!(played.value().as_deref(), Some(GOOD));
    assert_eq!(played.report.rung, Some(Rung::Repair));
    assert_eq!(played.report.edits.listed()[0].kind, EditKind::StringToNumber);
}

#[test]
fn where_text_is_refused_nothing_is_recovered_or_repaired() {
    let mut job = job(review());
    job.policy.text = TextRung::Refused;
    let repaired = calls(vec![answer("1", r#"{"summary":"Reads well.","score":"7"}"#)]);
    let replies = vec![text(GOOD), repaired, calls(vec![answer("2", GOOD)])];
    let played = play(job, replies);
    assert_eq!(played.report.outcome, Outcome::Met);
    assert_eq!(played.report.attempts.len(), 3);
    assert!(played.report.edits.is_empty());
}

#[test_case(r#"{"value":[1,2]}"#; "in the adapted shape")]
#[test_case("[1,2]"; "in the contracts own shape")]
#[test_case("The list:\n```json\n[1,2]\n```"; "amid prose")]
#[test_case("The list is {\"value\": [1,2],}."; "adapted, damaged, amid prose")]
fn text_may_be_in_either_shape(said: &str) {
    let job = job(json!({ "type": "array", "items": { "type": "integer" } }));
    assert_eq!(play(job, vec![text(said)]).value().as_deref(), Some("[1,2]"));
}

#[test]
fn text_that_means_different_things_in_the_two_shapes_is_refused() {
    let mut job =
        job(json!({ "type": "object", "properties": { "any": {} }, "required": ["any"] }));
    job.dialect = Dialect::OpenaiStrict;
    job.policy.reasks = 0;
    let adapted = r#"{"any":{"json":"5"}}"#;
    let played = play(job.clone(), vec![calls(vec![answer("1", adapted)])]);
    assert_eq!(played.value().as_deref(), Some(r#"{"any":5}"#));
    let played = play(job, vec![text(adapted)]);
    assert_eq!(played.report.outcome, Outcome::AttemptsExhausted);
    assert_eq!(played.report.attempts[0].violations.list[0].keyword, "ambiguous");
}

#[test_case(r#"{"any":{"json":"{broken"}}"#; "text that is no JSON")]
#[test_case(r#"{"any":{"json":"{broken"},}"#; "text that is no JSON in a damaged answer")]
fn what_only_the_adapted_schema_has_is_not_named(said: &str) {
    let mut job =
        job(json!({ "type": "object", "properties": { "any": {} }, "required": ["any"] }));
    job.dialect = Dialect::OpenaiStrict;
    let right = r#"{"any":{"json":"5"}}"#;
    let replies = vec![calls(vec![answer("1", said)]), calls(vec![answer("2", right)])];
    let played = play(job, replies);
    let violation = &played.report.attempts[0].violations.list[0];
    assert_eq!(violation.pointer.as_str(), "/any");
    let told = played.last_results()[0].1;
    assert!(told.contains("- /any: is ") && !told.contains("json"), "{told}");
}

#[test]
fn the_root_and_an_answer_without_words_can_be_seen_in_errors() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let message = |reply| play(job.clone(), vec![reply]).report.error.unwrap().to_string();
    let rootless = message(calls(vec![answer("1", "{}")]));
    assert!(rootless.contains("fails at (root): lacks the required member"), "{rootless}");
    let wordless = message(text(" "));
    assert!(wordless.ends_with("Output preview: (nothing)"), "{wordless}");
}

/// Codex hands on whatever its model said: prose too, and members left out that were asked for as null.
#[test_case(r#"{"a":1}"# => Some(r#"{"a":1}"#.to_owned()); "as the contract has it")]
#[test_case(r#"{"a":1,"b":null,"c":null}"# => Some(r#"{"a":1}"#.to_owned()); "as it was asked for")]
#[test_case(r#"{"a":1,"b":null}"# => Some(r#"{"a":1}"#.to_owned()); "half and half")]
#[test_case(r#"{"a":"one"}"# => None; "neither")]
fn an_answer_amid_prose_is_judged_by_the_original_contract(said: &str) -> Option<String> {
    let text_of = |said: &str| text(&format!("Here it is:\n\n```json\n{said}\n```\n"));
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "integer" }, "b": { "type": "string" }, "c": { "type": "string" },
        },
        "required": ["a"],
        "additionalProperties": false,
    });
    let mut job = job(schema);
    (job.mode, job.dialect, job.policy.reasks) = (Mode::Native, Dialect::Codex, 0);
    let played = play(job, vec![text_of(said)]);
    // What is wrong is said of the contract's own members.
    let attempts = played.report.attempts.iter().flat_map(|it| &it.violations.list);
    assert!(attempts.map(|it| it.pointer.as_str()).all(|it| it == "/a"), "{:?}", played.report);
    played.value()
}

#[test]
fn null_for_an_absent_member_is_absent() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "string" } },
        "required": ["a"],
        "additionalProperties": false,
    });
    let mut job = job(schema);
    job.dialect = Dialect::OpenaiStrict;
    let played = play(job, vec![calls(vec![answer("1", r#"{"a":1,"b":null}"#)])]);
    assert_eq!(played.value().as_deref(), Some(r#"{"a":1}"#));
    assert_eq!(played.report.rung, Some(Rung::Tool));
}

#[test]
fn native_text_is_native_and_says_what_the_provider_did_not_enforce() {
    let mut job = job(review());
    (job.mode, job.dialect) = (Mode::Native, Dialect::Anthropic);
    let played = play(job, vec![text(GOOD)]);
    assert_eq!(played.report.rung, Some(Rung::Native));
    let lost: Vec<_> = played.report.losses.iter().map(|loss| loss.keyword.as_str()).collect();
    assert_eq!(lost, ["maximum", "minimum"]);
}

#[test]
fn text_that_a_grammar_held_is_its_own_rung_and_the_verdict_still_decides() {
    let mut schema = review();
    schema["x-rules"] = json!([{ "rule": "self.score != 7", "message": "seven is no score" }]);
    let mut job = job(review());
    (job.mode, job.dialect) = (Mode::Auto, Dialect::Llguidance);
    job.tools.clear();
    let played = play(job.clone(), vec![text(GOOD)]);
    assert_eq!(played.report.rung, Some(Rung::Grammar));
    // No grammar follows a rule; still the contract is put natively, and asked for again.
    job.contract = Some(contract(schema));
    let other = r#"{"summary":"Reads well.","score":8}"#;
    let played = play(job, vec![text(GOOD), text(other)]);
    assert_eq!(played.value().as_deref(), Some(other));
    assert_eq!(played.report.attempts[0].rung, Rung::Grammar);
}

#[test]
fn prompted_text_is_judged_and_asked_for_again_in_json() {
    let mut job = job(review());
    job.mode = Mode::Prompt;
    let played = play(job, vec![text(BAD), text(GOOD)]);
    assert_eq!(played.report.rung, Some(Rung::ReAsk));
    let told = played.last_text();
    assert!(told.contains("/score") && told.contains("nothing but that JSON"), "{told}");
}

#[test_case(r#"{"summary":"Reads w"#; "inside a string")]
#[test_case(r#"{"summary":"Reads well.","score":1"#; "behind a number that may go on")]
#[test_case("```json\n{\"summary\":\"A draft.\",\"score\":1}\n```\nOn second"; "amid text that may go on")]
fn what_the_token_limit_cut_is_not_accepted(said: &str) {
    let mut job = job(review());
    (job.mode, job.policy.reasks) = (Mode::Prompt, 0);
    let mut reply = text(said);
    reply.stop = Some(Stop::MaxTokens);
    let played = play(job, vec![reply]);
    assert_eq!(played.report.outcome, Outcome::Truncated);
    assert_eq!(played.report.attempts[0].ending, Ending::Truncated);
    assert_eq!(played.report.raw.as_deref(), Some(said));
}

#[test]
fn a_whole_answer_at_the_token_limit_is_accepted() {
    let mut reply = calls(vec![answer("1", GOOD)]);
    reply.stop = Some(Stop::MaxTokens);
    assert_eq!(play(job(review()), vec![reply]).report.outcome, Outcome::Met);
}

#[test_case(Some(Stop::MaxTokens), Outcome::Truncated; "at the token limit")]
#[test_case(Some(Stop::Other("pause_turn".to_owned())), Outcome::Truncated; "for a reason nobody knows")]
#[test_case(None, Outcome::Truncated; "for no reason")]
#[test_case(Some(Stop::ToolUse), Outcome::Met; "to call the tool")]
fn arguments_that_never_came_are_none_only_if_the_model_stopped(stop: Option<Stop>, ends: Outcome) {
    let mut job = job(json!({"type": "object", "properties": {"findings": {"type": "array"}}}));
    job.policy.reasks = 0;
    let mut reply = calls(vec![answer("1", "")]);
    reply.stop = stop;
    assert_eq!(play(job, vec![reply]).report.outcome, ends);
}

#[test]
fn a_cut_answer_is_asked_for_again_and_shorter() {
    let mut cut = calls(vec![answer("1", r#"{"summary":"Reads"#)]);
    cut.stop = Some(Stop::MaxTokens);
    let played = play(job(review()), vec![cut, calls(vec![answer("2", GOOD)])]);
    assert_eq!(played.report.rung, Some(Rung::ReAsk));
    assert!(played.last_results()[0].1.contains("shorter"));
}

#[test]
fn a_cut_call_is_not_run() {
    let mut cut = calls(vec![call("1", "write_file", "{}"), call("2", "write_file", "{\"pa")]);
    cut.stop = Some(Stop::MaxTokens);
    let played = play(job(review()), vec![cut, calls(vec![answer("3", GOOD)])]);
    assert_eq!(played.executed.len(), 1);
    assert!(played.last_results()[1].1.starts_with("Skipped: your turn was cut"));
}

#[test]
fn an_answer_that_nobody_said_is_complete_is_not_called_cut_at_the_token_limit() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let reply = Reply { stop: None, ..text(&format!("Here: {GOOD}")) };
    let report = play(job, vec![reply]).report;
    assert_eq!(report.outcome, Outcome::Truncated);
    let error = report.error.unwrap();
    assert_eq!(
        error.message,
        "the stream ended without saying that the answer is complete (turns: 1, attempts: 1)"
    );
    assert_eq!(error.advice, Some(Advice::AskAgain));
}

#[test]
fn what_an_error_quotes_is_masked_before_it_is_cut() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let key = format!("sk-{}", "a1".repeat(20));
    let said = format!("{} {key}", "x".repeat(190));
    let error = play(job, vec![text(&said)]).report.error.unwrap();
    assert!(!error.to_string().contains("sk-a1"), "{error}");
    assert!(!error.message.contains("xx"), "{}", error.message);
    assert!(!error.told(|text| text.replace(&key, "")).contains('+'));
}
