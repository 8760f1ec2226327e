//! Bounds, failures and the one outcome of a run.

use std::time::Duration;

use airtight_core::Advice;
use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Stop};
use airtight_core::message::ToolChoice;
use airtight_core::price::{Cost, LongPrice, Price};
use airtight_core::run::{CallFailure, Ending, EventKind, Mode, Outcome, Run, Step, TERMINAL_TOOL};
use test_case::test_case;

use crate::support::*;

#[test_case(0)]
#[test_case(2)]
#[test_case(5)]
fn a_rejected_answer_is_asked_for_again_as_often_as_the_policy_says(reasks: u8) {
    let mut job = job(review());
    job.policy.reasks = reasks;
    let replies = (0..=reasks).map(|_| calls(vec![answer("1", BAD)])).collect();
    let played = play(job, replies);
    assert_eq!(played.report.outcome, Outcome::AttemptsExhausted);
    assert_eq!(played.report.attempts.len(), usize::from(reasks) + 1);
    assert_eq!(played.report.raw.as_deref(), Some(BAD));
    assert!(played.report.error.unwrap().message.contains("/score"));
}

#[test]
fn text_and_calls_share_the_bound_of_re_asks() {
    let replies = vec![text("Well."), calls(vec![answer("1", BAD)]), text("Hm.")];
    let played = play(job(review()), replies);
    assert_eq!(played.report.outcome, Outcome::AttemptsExhausted);
    assert_eq!(played.requests.len(), 3);
}

#[test]
fn text_instead_of_the_tool_forces_the_tool() {
    let played = play(job(review()), vec![text("Fine."), calls(vec![answer("1", GOOD)])]);
    let forced = ToolChoice::Tool(TERMINAL_TOOL.to_owned());
    let choices: Vec<_> = played.requests.iter().map(|it| it.choice.clone()).collect();
    assert_eq!(choices, [ToolChoice::Auto, forced]);
    assert!(played.last_text().contains("Plain text is discarded."));
}

#[test]
fn the_last_turn_forces_the_tool_and_then_the_cap_ends_the_run_with_a_hint() {
    let mut job = job(review());
    job.policy.max_turns = Some(2);
    let work = |id: &str| calls(vec![call(id, "write_file", id)]);
    let played = play(job, vec![work("1"), work("2")]);
    assert_eq!(played.requests[1].choice, ToolChoice::Tool(TERMINAL_TOOL.to_owned()));
    assert_eq!((played.report.outcome, played.report.turns), (Outcome::TurnCap, 2));
    assert_eq!(played.report.error.unwrap().advice, Some(Advice::AllowTurn));
}

#[test_case(Some(Stop::Refusal), None; "by the stop reason")]
#[test_case(Some(Stop::EndTurn), Some("I cannot help with that."); "in words")]
fn a_refusal_ends_the_run(stop: Option<Stop>, refusal: Option<&str>) {
    let refusal = refusal.map(str::to_owned);
    let reply = Reply { stop, refusal, usage: usage(3, 1), ..Reply::default() };
    let played = play(job(review()), vec![reply]);
    assert_eq!(played.report.outcome, Outcome::Refused);
    assert_eq!(played.report.attempts[0].ending, Ending::Refused);
}

#[test_case(0, 0)]
#[test_case(2, 2)]
fn exactly_as_many_tools_run_as_the_budget_has(budget: u32, run: usize) {
    let mut job = job(review());
    job.policy.budget.tool_calls = Some(budget);
    let batch = ["1", "2", "3"].map(|id| call(id, "write_file", id)).to_vec();
    let played = play(job, vec![calls(batch)]);
    assert_eq!(played.report.outcome, Outcome::Budget);
    assert_eq!(played.executed.len(), run);
    assert_eq!(played.report.tool_calls, budget);
    assert_eq!(played.heard()[0].len(), 3);
}

#[test]
fn the_terminal_tool_costs_nothing_of_the_budget() {
    let mut job = job(review());
    job.policy.budget.tool_calls = Some(0);
    let replies = vec![calls(vec![answer("1", BAD)]), calls(vec![answer("2", GOOD)])];
    let played = play(job, replies);
    assert_eq!((played.report.outcome, played.report.tool_calls), (Outcome::Met, 0));
}

#[test]
fn tokens_of_every_request_count_towards_the_budget() {
    let mut job = job(review());
    job.policy.budget.tokens = Some(30);
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    let broken = Reply { usage: usage(10, 5), ..Reply::default() };
    run.retried(&broken, &failure(FailureKind::Overload), Duration::ZERO);
    run.answered(calls(vec![answer("1", BAD)]));
    assert!(matches!(run.step(), Step::Done));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.outcome, report.retries), (Outcome::Budget, 1));
    assert_eq!(report.usage, usage(20, 10));
}

#[test]
fn an_accepted_answer_stands_even_if_it_spends_the_rest() {
    let mut job = job(review());
    job.policy.budget.tokens = Some(1);
    assert_eq!(play(job, vec![calls(vec![answer("1", GOOD)])]).report.outcome, Outcome::Met);
}

#[test]
fn a_budget_of_money_needs_a_price() {
    let mut job = job(review());
    job.policy.budget.cost = Some(Cost::default());
    assert_eq!(Run::new(job.clone()).unwrap_err().outcome, Outcome::Config);
    job.price = Some(price());
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::Done));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.outcome, report.turns), (Outcome::Budget, 0));
    assert!(report.cost.is_some());
}

fn price() -> Price {
    let long =
        LongPrice { above_input_tokens: 10, input: 9, output: 9, cache_read: 9, cache_write: 9 };
    Price { input: 1, output: 1, cache_read: 1, cache_write: 1, long: Some(long) }
}

#[test]
fn each_request_is_priced_by_its_own_size() {
    let mut job = job(review());
    job.price = Some(price());
    let each = price().cost(&usage(10, 5));
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![answer("1", BAD)]));
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![answer("1", GOOD)]));
    let report = run.finish(Duration::ZERO);
    assert_eq!(report.cost, Some([each, each].into_iter().sum()));
    assert_eq!(report.usage, usage(20, 10));
}

#[test]
fn an_unknown_price_is_an_unknown_cost() {
    assert_eq!(play(job(review()), vec![calls(vec![answer("1", GOOD)])]).report.cost, None);
}

#[test]
fn wall_time_ends_the_run_wherever_it_stands() {
    let mut job = job(review());
    job.policy.budget.wall = Some(Duration::from_secs(5));
    let mut run = Run::new(job).unwrap();
    assert_eq!(run.wall(), Some(Duration::from_secs(5)));
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.elapsed(Duration::from_secs(4));
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.elapsed(Duration::from_secs(5));
    assert!(matches!(run.step(), Step::Done));
    run.answered(calls(vec![answer("1", GOOD)]));
    let report = run.finish(Duration::from_secs(5));
    assert_eq!((report.outcome, report.value.is_none()), (Outcome::Budget, true));
    assert_eq!(report.usage, usage(10, 5));
}

#[test]
fn the_same_call_three_times_in_a_row_is_a_loop() {
    let work = |id: &str| calls(vec![call(id, "write_file", "{}")]);
    let played = play(job(review()), vec![work("1"), work("2"), work("3")]);
    assert_eq!(played.report.outcome, Outcome::Loop);
    assert_eq!(played.executed.len(), 2);
    assert_eq!(played.heard().len(), 3);
}

#[test]
fn the_same_call_three_times_in_one_turn_is_no_loop() {
    let work = |id: &str| call(id, "read_file", "{}");
    let replies =
        vec![calls(vec![work("1"), work("2"), work("3")]), calls(vec![answer("4", GOOD)])];
    let played = play(job(review()), replies);
    assert_eq!((played.report.outcome, played.executed.len()), (Outcome::Met, 3));
}

#[test]
fn other_calls_in_between_are_no_loop() {
    let work = |id: &str, path: &str| calls(vec![call(id, "write_file", path)]);
    let replies = vec![
        work("1", "a"),
        work("2", "a"),
        work("3", "b"),
        work("4", "a"),
        calls(vec![answer("5", GOOD)]),
    ];
    assert_eq!(play(job(review()), replies).report.outcome, Outcome::Met);
}

fn failure(kind: FailureKind) -> ProviderFailure {
    let message = "it broke".to_owned();
    ProviderFailure { kind, status: None, code: None, message, retry_after: None }
}

#[test_case(FailureKind::Auth, Outcome::Auth, 41)]
#[test_case(FailureKind::Overload, Outcome::Provider, 3)]
#[test_case(FailureKind::Request, Outcome::Provider, 3)]
fn a_provider_that_fails_ends_the_run(kind: FailureKind, outcome: Outcome, exit: u8) {
    let mut run = Run::new(job(review())).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    let partial = Reply { stop: None, ..text("Let me") };
    run.failed(partial, CallFailure::Provider(failure(kind)));
    assert!(matches!(run.step(), Step::Done));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.outcome, report.outcome.exit_code()), (outcome, exit));
    assert_eq!(report.attempts[0].ending, Ending::Failed);
    assert_eq!(report.raw.as_deref(), Some("Let me"));
    assert_eq!(report.usage, usage(10, 5));
}

#[test]
fn an_interrupt_ends_the_run_unless_an_answer_was_accepted() {
    let mut run = Run::new(job(review())).unwrap();
    run.interrupt();
    assert!(matches!(run.step(), Step::Done));
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::Interrupted);

    let mut run = Run::new(job(review())).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![answer("1", GOOD)]));
    run.interrupt();
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::Met);
}

#[test]
fn events_tell_the_run_in_order() {
    let first = calls(vec![call("1", "write_file", "{}")]);
    let replies = vec![first, calls(vec![answer("2", BAD)]), calls(vec![answer("3", GOOD)])];
    let kinds: Vec<_> = play(job(review()), replies)
        .events
        .iter()
        .map(|event| match event {
            EventKind::Began(_) => "began",
            EventKind::Said { .. } => "said",
            EventKind::Heard(_) => "heard",
            EventKind::Judged(_) => "judged",
            _ => "other",
        })
        .collect();
    let judged = ["said", "judged", "heard"];
    assert_eq!(kinds, [&["began", "said", "heard"][..], &judged, &judged].concat());
}

#[test]
fn every_turn_without_words_is_left_out_of_the_conversation() {
    let empty = Reply { stop: Some(Stop::EndTurn), ..Reply::default() };
    let played = play(job(review()), vec![empty, calls(vec![answer("1", GOOD)])]);
    assert_eq!(played.requests[1].messages.len(), 1);
    assert_eq!(played.requests[1].messages[0].blocks.len(), 2);
}

#[test]
fn feedback_is_bounded() {
    let mut job = job(serde_json::json!({ "type": "array", "items": { "type": "integer" } }));
    job.mode = Mode::Prompt;
    let many = format!("[{}]", vec!["{}"; 5_000].join(","));
    let played = play(job, vec![text(&many), text("[1]")]);
    let told = played.last_text();
    assert!(told.len() < 4_000 && told.contains("and more"), "{} bytes", told.len());
}

#[test]
fn tools_at_work_when_the_run_ends_are_told_so_once() {
    let mut run = Run::new(job(review())).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let Step::CallTools(calls) = run.step() else { panic!("tools") };
    run.interrupt();
    run.tools_returned(calls.iter().map(done).collect());
    assert!(matches!(run.step(), Step::Done));
    let heard = run.take_events().into_iter().filter_map(|event| match event {
        EventKind::Heard(results) => Some(results),
        _ => None,
    });
    let contents: Vec<_> = heard.flatten().map(|result| result.content).collect();
    assert_eq!(contents, ["Skipped: the turn was not completed."]);
}

#[test_case(BAD => (1, Ending::Rejected); "one that breaks the contract")]
#[test_case(GOOD => (0, Ending::Failed); "one that the contract accepts")]
fn an_answer_that_the_driver_rejected_is_judged_and_never_accepted(
    arguments: &str,
) -> (usize, Ending) {
    let mut run = Run::new(job(review())).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.sent();
    let partial = Reply { stop: None, ..calls(vec![answer("1", arguments)]) };
    let (kind, message) = (FailureKind::Rejected, "it gave up".to_owned());
    let failure = ProviderFailure { kind, status: None, code: None, message, retry_after: None };
    run.failed(partial, CallFailure::Provider(failure));
    let report = run.finish(Duration::ZERO);
    assert_eq!(report.outcome, Outcome::AttemptsExhausted);
    assert!(report.needs_review());
    let [attempt] = report.attempts.as_slice() else { panic!("{:?}", report.attempts) };
    assert_eq!(attempt.raw, arguments);
    (attempt.violations.list.len(), attempt.ending.clone())
}
