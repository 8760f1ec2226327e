//! The calls of one turn: which are run, and what each of them is told.

use std::time::Duration;

use airtight_core::Advice;
use airtight_core::message::{Block, Role};
use airtight_core::run::{Ending, EventKind, Notification, Outcome, Run, Rung, Step, Veto};

use crate::support::*;

const ACCEPTED: &str = "Structured output accepted. The session ends now.";
const SKIPPED: &str =
    "Skipped: this turn's structured_output contract took precedence as the terminal output.";
const SKIPPED_FOR_NOW: &str = "Skipped: this turn's structured_output contract took precedence as \
    the terminal output. Re-issue this call in a separate turn if needed.";

#[test]
fn a_an_answer_before_a_sibling_ends_the_run_and_skips_the_sibling() {
    let reply = calls(vec![answer("1", GOOD), call("2", "write_file", "{}")]);
    let played = play(job(review()), vec![reply]);
    assert_eq!(played.report.outcome, Outcome::Met);
    assert_eq!(played.value().as_deref(), Some(GOOD));
    assert_eq!(played.report.rung, Some(Rung::Tool));
    assert_eq!(played.requests.len(), 1);
    assert!(played.executed.is_empty());
    assert_eq!(played.heard(), [[("1", ACCEPTED), ("2", SKIPPED)]]);
}

#[test]
fn b_a_sibling_before_an_answer_is_skipped_and_reported_behind_it() {
    let reply = calls(vec![call("1", "write_file", "{}"), answer("2", GOOD)]);
    let played = play(job(review()), vec![reply]);
    assert_eq!(played.report.outcome, Outcome::Met);
    assert!(played.executed.is_empty());
    assert_eq!(played.heard(), [[("2", ACCEPTED), ("1", SKIPPED)]]);
}

#[test]
fn c_of_several_answers_the_first_that_conforms_wins() {
    let late = r#"{"summary":"Late.","score":1}"#;
    let reply = calls(vec![answer("1", BAD), answer("2", GOOD), answer("3", late)]);
    let played = play(job(review()), vec![reply]);
    assert_eq!(played.value().as_deref(), Some(GOOD));
    assert_eq!(played.report.rung, Some(Rung::Tool));
    assert_eq!(played.report.attempts.len(), 2);
    let heard = &played.heard()[0];
    assert!(heard[0].1.contains("/score"), "{heard:?}");
    assert_eq!(heard[1..], [("2", ACCEPTED), ("3", SKIPPED)]);
}

#[test]
fn d_a_rejected_answer_is_corrected_in_the_next_turn() {
    let replies = vec![calls(vec![answer("1", BAD)]), calls(vec![answer("2", GOOD)])];
    let played = play(job(review()), replies);
    assert_eq!(played.report.outcome, Outcome::Met);
    assert_eq!(played.report.rung, Some(Rung::ReAsk));
    assert_eq!(played.report.attempts.len(), 2);
    let [(id, content)] = played.last_results()[..] else { panic!("one result") };
    assert_eq!(id, "1");
    assert!(content.contains("/score"), "{content}");
}

#[test]
fn e_plain_text_alone_fails_with_its_turns_and_a_preview() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let played = play(job, vec![text(&"All is well. ".repeat(40))]);
    assert_eq!(played.report.outcome, Outcome::NoAnswer);
    let error = played.report.error.as_ref().unwrap();
    let preview: String = "All is well. ".repeat(40).chars().take(200).collect();
    assert_eq!(
        error.to_string(),
        format!(
            "the model answered in plain text instead of calling structured_output (turns: 1). \
             Output preview: {preview}+"
        )
    );
}

#[test]
fn f_a_sibling_of_a_rejected_answer_is_skipped_and_both_are_paired() {
    let first = calls(vec![call("1", "write_file", "{}"), answer("2", BAD)]);
    let played = play(job(review()), vec![first, calls(vec![answer("3", GOOD)])]);
    assert!(played.executed.is_empty());
    let results = played.last_results();
    assert_eq!(results[0], ("1", SKIPPED_FOR_NOW));
    assert_eq!(results[1].0, "2");
    assert!(results[1].1.contains("/score"), "{results:?}");
    let ids: Vec<_> = played.heard()[0].iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, ["2", "1"]);
}

#[test]
fn g_answers_that_share_an_id_are_all_tried_and_paired_apart() {
    let first = calls(vec![answer("1", BAD), answer("1", "{}")]);
    let played = play(job(review()), vec![first, calls(vec![answer("1", BAD), answer("1", GOOD)])]);
    assert_eq!(played.value().as_deref(), Some(GOOD));
    let ids: Vec<_> = played.last_results().iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, ["1", "1_2"]);
    assert_eq!(played.report.attempts.len(), 4);
}

#[test]
fn h_an_answer_to_a_notification_ends_the_run() {
    let mut run = Run::new(job(review())).unwrap();
    run.background_began("task");
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(text("I wait for the task."));
    assert!(matches!(run.step(), Step::Wait));
    run.notified(notification("task", "it is done"));
    let Step::CallModel(request) = run.step() else { panic!("a model call") };
    let last = request.messages.last().unwrap();
    assert_eq!(last.role, Role::User);
    assert_eq!(
        last.blocks,
        [Block::Text("Background task task completed:\nit is done".to_owned())]
    );
    let sibling = call("2", "write_file", "{}");
    run.answered(calls(vec![sibling, answer("1", GOOD)]));
    assert!(matches!(run.step(), Step::Done));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.outcome, report.turns), (Outcome::Met, 2));
}

#[test]
fn i_a_notification_during_the_holdback_is_an_event_and_nothing_more() {
    let mut run = Run::new(job(review())).unwrap();
    run.background_began("task");
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![answer("1", GOOD)]));
    assert!(matches!(run.step(), Step::Done));
    run.take_events();
    let late = Notification { status: "cancelled".to_owned(), ..notification("task", "") };
    run.notified(late.clone());
    assert!(matches!(run.step(), Step::Done));
    assert!(matches!(&run.take_events()[..], [EventKind::Notified(told)] if *told == late));
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::Met);
}

#[test]
fn j_the_value_is_what_was_said_digit_for_digit() {
    let schema =
        serde_json::json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    let said = r#"{"n":12345678901234567890.10}"#;
    let played = play(job(schema), vec![calls(vec![answer("1", said)])]);
    assert_eq!(played.value().as_deref(), Some(said));
}

#[test]
fn calls_without_an_answer_are_run_in_order_and_the_run_goes_on() {
    let first = calls(vec![call("1", "write_file", "{}"), call("2", "write_file", r#"{"a":1}"#)]);
    let played = play(job(review()), vec![first, calls(vec![answer("3", GOOD)])]);
    assert_eq!(played.last_results(), [("1", "done"), ("2", "done")]);
    assert_eq!(played.report.tool_calls, 2);
}

#[test]
fn a_call_that_repeats_an_id_is_dropped() {
    let first = calls(vec![call("1", "write_file", "{}"), call("1", "write_file", r#"{"a":1}"#)]);
    let played = play(job(review()), vec![first, calls(vec![answer("3", GOOD)])]);
    assert_eq!(played.executed.len(), 1);
    assert_eq!(played.last_results(), [("1", "done")]);
}

#[test]
fn a_call_without_arguments_is_an_empty_object() {
    let schema = serde_json::json!({ "type": "object" });
    let played = play(job(schema), vec![calls(vec![answer("1", "")])]);
    assert_eq!(played.value().as_deref(), Some("{}"));
}

#[test]
fn a_tool_of_that_name_is_nothing_special_without_a_contract() {
    let mut job = job(review());
    job.contract = None;
    let played = play(job, vec![calls(vec![answer("1", GOOD)]), text("done")]);
    assert_eq!(played.executed.len(), 1);
    assert_eq!(played.report.text.as_deref(), Some("done"));
    assert_eq!(played.report.outcome, Outcome::Met);
}

#[test]
fn an_answer_that_is_vetoed_is_not_judged_and_told_why() {
    let mut run = Run::new(job(review())).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.veto(1, Veto { hook: "./guard".to_owned(), why: "not on Fridays".to_owned() });
    run.answered(calls(vec![call("1", "write_file", "{}"), answer("2", GOOD)]));
    let Step::CallModel(request) = run.step() else { panic!("a model call") };
    let told = request.messages.last().unwrap();
    assert!(matches!(&told.blocks[1], Block::Result(it) if it.content.contains("not on Fridays")));
    run.answered(calls(vec![answer("3", GOOD)]));
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::Met);
}

#[test]
fn a_run_whose_answer_is_vetoed_to_the_end_names_the_hook_and_not_the_contract() {
    let mut job = job(review());
    job.policy.reasks = 0;
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.veto(0, Veto { hook: "./guard".to_owned(), why: "it says Reads well.".to_owned() });
    run.answered(calls(vec![answer("1", GOOD)]));
    let report = run.finish(Duration::ZERO);
    assert_eq!(report.attempts[0].ending, Ending::Vetoed);
    let error = report.error.unwrap();
    assert_eq!(
        error.to_string(),
        "the hook `./guard` objects to the answer (turns: 1, attempts: 1)"
    );
    assert_eq!(error.advice, Some(Advice::SeeHook { command: "./guard".to_owned() }));
}

#[test]
fn an_objection_sends_a_run_without_a_contract_back_to_work() {
    let mut free = job(review());
    free.contract = None;
    let mut run = Run::new(free).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(text("Done."));
    run.object("The tests fail.".to_owned());
    let Step::CallModel(request) = run.step() else { panic!("a model call") };
    assert_eq!(request.messages.len(), 3);
    run.answered(text("Done now."));
    run.interrupt();
    assert_eq!(run.finish(Duration::ZERO).text.as_deref(), Some("Done now."));
}
