//! What is known of what a run used, and budgets that hold where it is not.

use std::time::Duration;

use airtight_core::codec::{FailureKind, ProviderFailure, Reply, Usage};
use airtight_core::message::Block;
use airtight_core::price::{Cost, Price};
use airtight_core::run::{
    Budget, CallFailure, EventKind, Household, Job, Outcome, Report, Run, Step,
};
use test_case::test_case;

use crate::support::*;

/// A price of one dollar for each token.
fn dollar() -> Price {
    const EACH: u64 = 1_000_000_000_000;
    Price { input: EACH, output: EACH, cache_read: EACH, cache_write: EACH, long: None }
}

fn dollars(amount: f64) -> Cost {
    Cost::from_usd(amount).unwrap()
}

fn priced() -> Job {
    Job { price: Some(dollar()), ..job(review()) }
}

fn failure(kind: FailureKind) -> ProviderFailure {
    let message = "it broke".to_owned();
    ProviderFailure { kind, status: None, code: None, message, retry_after: None }
}

fn asked(job: Job) -> Run {
    let mut run = Run::new(job).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.sent();
    run
}

fn begun() -> Reply {
    Reply { id: Some("msg_1".to_owned()), ..Reply::default() }
}

/// Lets the first request of a run fail, and the second one bring an answer of 15 tokens.
fn after_a_retry(partial: &Reply, kind: FailureKind) -> Report {
    let mut run = asked(priced());
    run.retried(partial, &failure(kind), Duration::ZERO);
    run.sent();
    run.answered(calls(vec![answer("1", GOOD)]));
    run.finish(Duration::ZERO)
}

#[test_case(FailureKind::Auth)]
#[test_case(FailureKind::RateLimit)]
#[test_case(FailureKind::Overload)]
#[test_case(FailureKind::Request)]
#[test_case(FailureKind::Unreachable)]
fn a_request_that_was_turned_away_is_free(kind: FailureKind) {
    assert_eq!(after_a_retry(&Reply::default(), kind).cost, Some(dollars(15.0)));
}

#[test_case(&Reply::default(), FailureKind::Network; "that stalled or broke before a word")]
#[test_case(&Reply::default(), FailureKind::Malformed; "whose answer cannot be read")]
#[test_case(&begun(), FailureKind::Overload; "that broke after its answer began")]
#[test_case(&Reply { stop: None, ..text("Let me") }, FailureKind::Network; "with a count that still grew")]
fn a_request_that_nobody_counted_makes_the_cost_unknown(partial: &Reply, kind: FailureKind) {
    let report = after_a_retry(partial, kind);
    assert_eq!((report.outcome, report.cost), (Outcome::Met, None));
    let counted = partial.usage.total() + 15;
    assert_eq!(report.usage.total(), counted, "estimates are no usage");
}

#[test]
fn a_failed_request_that_says_what_it_used_is_exact() {
    let report = after_a_retry(&text("Let me"), FailureKind::Overload);
    assert_eq!(report.cost, Some(dollars(30.0)));
}

#[test]
fn what_a_driver_says_that_a_failed_call_cost_is_known() {
    let partial = Reply { stop: None, cost: Some(dollars(3.5)), ..text("Let me") };
    let report = after_a_retry(&partial, FailureKind::Rejected);
    assert_eq!(report.cost, Some(dollars(18.5)));
}

#[test_case(Usage::default(); "at all")]
#[test_case(Usage { input_tokens: Some(10), ..Usage::default() }; "of the output")]
#[test_case(Usage { output_tokens: Some(5), ..Usage::default() }; "of the input")]
fn a_whole_answer_without_a_count_makes_the_cost_unknown(usage: Usage) {
    let reply = Reply { usage, ..calls(vec![answer("1", GOOD)]) };
    let report = play(priced(), vec![reply]).report;
    assert_eq!((report.outcome, report.cost, report.usage), (Outcome::Met, None, usage));
}

#[test]
fn an_answer_that_was_stopped_makes_the_cost_unknown() {
    let mut run = asked(priced());
    run.interrupt();
    let partial = Reply { stop: None, ..text("Let me") };
    run.failed(partial, CallFailure::Provider(failure(FailureKind::Network)));
    assert_eq!(run.finish(Duration::ZERO).cost, None);
}

#[test]
fn a_request_that_never_came_back_makes_the_cost_unknown() {
    let run = asked(priced());
    assert_eq!(run.finish(Duration::ZERO).cost, None);
}

#[test]
fn a_run_that_asked_nothing_cost_nothing() {
    let run = Run::new(priced()).unwrap();
    assert_eq!(run.finish(Duration::ZERO).cost, Some(Cost::default()));
}

#[test_case(Budget { tokens: Some(1_000), ..Budget::default() }, "of them by estimate"; "of tokens")]
#[test_case(Budget { cost: Cost::from_usd(1_000.0), ..Budget::default() }, "by estimate"; "of money")]
fn a_budget_ends_a_run_whose_provider_never_counts(budget: Budget, said: &str) {
    let mut job = priced();
    job.policy.budget = budget;
    job.policy.reasks = 5;
    let long = format!(r#"{{"summary":"{}","score":70}}"#, "x".repeat(4_000));
    let reply = Reply { usage: Usage::default(), ..calls(vec![answer("1", &long)]) };
    let report = play(job, vec![reply]).report;
    assert_eq!((report.outcome, report.usage), (Outcome::Budget, Usage::default()));
    let message = report.error.unwrap().message;
    assert!(message.contains(said), "{message}");
}

#[test]
fn a_request_is_not_sent_again_once_the_budget_is_spent() {
    let mut job = priced();
    job.policy.budget.tokens = Some(15);
    let mut run = asked(job);
    run.retried(&text("Let me"), &failure(FailureKind::Overload), Duration::ZERO);
    assert!(matches!(run.step(), Step::Done));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.outcome, report.retries), (Outcome::Budget, 0));
}

#[test]
fn what_is_sent_is_estimated_too() {
    let mut job = priced();
    job.policy.budget.tokens = Some(1_000);
    job.prompt = "x".repeat(4_000);
    let reply = Reply { usage: Usage::default(), ..calls(vec![answer("1", BAD)]) };
    assert_eq!(play(job, vec![reply]).report.outcome, Outcome::Budget);
}

fn subagent(household: &Household, price: Option<Price>) -> Run {
    let mut run = Run::within(household, Job { price, contract: None, ..priced() }).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    run.sent();
    run
}

#[test]
fn what_a_subagent_uses_is_spent_by_the_run_at_the_subagents_own_price() {
    let mut run = asked(priced());
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let half = Price { input: dollar().input / 2, output: dollar().output / 2, ..dollar() };
    let mut child = subagent(&run.household(), Some(half));
    child.answered(text("Done."));
    let childs = child.finish(Duration::ZERO);
    assert_eq!((childs.cost, childs.usage), (Some(dollars(7.5)), usage(10, 5)));
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.cost, report.usage), (Some(dollars(22.5)), usage(20, 10)));
}

#[test]
fn a_subagent_without_a_price_makes_the_cost_unknown() {
    let mut run = asked(priced());
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let mut child = subagent(&run.household(), None);
    child.answered(text("Done."));
    assert_eq!(run.finish(Duration::ZERO).cost, None);
}

#[test]
fn a_dropped_subagent_is_counted_and_its_last_request_makes_the_cost_unknown() {
    let mut run = asked(priced());
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let mut child = subagent(&run.household(), Some(dollar()));
    child.answered(calls(vec![call("2", "write_file", "{}")]));
    child.tools_returned(Vec::new());
    assert!(matches!(child.step(), Step::CallModel(_)));
    child.sent();
    drop(child);
    let report = run.finish(Duration::ZERO);
    assert_eq!((report.cost, report.usage, report.tool_calls), (None, usage(20, 10), 2));
}

#[test]
fn subagents_at_work_together_overdraw_by_their_last_request_at_most() {
    let mut job = priced();
    job.policy.budget.tokens = Some(100);
    let mut run = asked(job);
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let household = run.household();
    let mut children: Vec<Run> = (0..5).map(|_| subagent(&household, Some(dollar()))).collect();
    let mut requests = children.len();
    while let Some(mut child) = children.pop() {
        let id = requests.to_string();
        child.answered(calls(vec![call(&id, "write_file", &id)]));
        child.tools_returned(Vec::new());
        if matches!(child.step(), Step::CallModel(_)) {
            requests += 1;
            children.insert(0, child);
        } else {
            assert_eq!(child.finish(Duration::ZERO).outcome, Outcome::Budget);
        }
    }
    let used = run.finish(Duration::ZERO).usage.total();
    assert!((100..100 + 5 * 15).contains(&used), "{used} tokens");
}

#[test]
fn tool_calls_of_subagents_count_towards_the_runs_budget() {
    let mut job = priced();
    job.policy.budget.tool_calls = Some(3);
    let mut run = asked(job);
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let mut child = subagent(&run.household(), Some(dollar()));
    child.answered(calls(["2", "3", "4"].map(|id| call(id, "write_file", id)).to_vec()));
    let Step::CallTools(granted) = child.step() else { panic!("tools") };
    assert_eq!(granted.len(), 2);
    child.tools_returned(Vec::new());
    let childs = child.finish(Duration::ZERO);
    assert_eq!((childs.outcome, childs.tool_calls), (Outcome::Budget, 2));
    assert_eq!(childs.error.unwrap().message, "the budget of 3 tool calls is spent");
    assert_eq!(run.finish(Duration::ZERO).tool_calls, 3);
}

#[test]
fn a_subagent_cannot_evade_a_budget_of_money_by_having_no_price() {
    let mut job = priced();
    job.policy.budget.cost = Cost::from_usd(100.0);
    let run = Run::new(job).unwrap();
    let errand = Job { price: None, ..priced() };
    assert_eq!(Run::within(&run.household(), errand).unwrap_err().outcome, Outcome::Config);
}

#[test]
fn unknown_events_are_counted_and_told() {
    let strange = |reply: Reply| Reply { unknown: 2, ..reply };
    let mut run = asked(priced());
    let partial = Reply { blocks: vec![Block::Text("So".to_owned())], ..Reply::default() };
    run.retried(&strange(partial), &failure(FailureKind::Network), Duration::ZERO);
    run.answered(strange(calls(vec![call("1", "write_file", "{}")])));
    let mut child = subagent(&run.household(), None);
    child.answered(strange(text("Done.")));
    assert_eq!(run.finish(Duration::ZERO).unknown_events, 6);
}

#[test]
fn requests_that_subagents_send_again_count_as_the_runs() {
    let mut run = asked(priced());
    run.retried(&Reply::default(), &failure(FailureKind::Overload), Duration::ZERO);
    run.answered(calls(vec![call("1", "write_file", "{}")]));
    let mut child = subagent(&run.household(), Some(dollar()));
    child.retried(&Reply::default(), &failure(FailureKind::Overload), Duration::ZERO);
    assert_eq!(child.finish(Duration::ZERO).retries, 1);
    assert_eq!(run.finish(Duration::ZERO).retries, 2);
}

#[test]
fn what_was_said_before_a_failure_that_spends_the_budget_is_told() {
    let mut job = priced();
    job.policy.budget.tokens = Some(10);
    let mut run = asked(job);
    run.retried(&text("So far so good."), &failure(FailureKind::Network), Duration::ZERO);
    let said = |event: &EventKind| matches!(event, EventKind::Said { .. });
    assert_eq!(run.take_events().iter().filter(|event| said(event)).count(), 1);
    assert_eq!(run.finish(Duration::ZERO).outcome, Outcome::Budget);
}
