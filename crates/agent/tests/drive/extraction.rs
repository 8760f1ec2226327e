//! A second model that looks for the answer in what the first one wrote.

use std::time::Duration;

use airtight_agent::provider::{Provider, Timeouts, Vendor};
use airtight_core::run::{Ending, EventKind, Outcome, Rung};
use airtight_fake::Turn;
use serde_json::json;
use test_case::test_case;

use crate::rig::{Finished, Rig, endpoint};

const PROSE: &str = "Yes, it is fine: all 12 tests pass.";

fn prose() -> Turn {
    Turn::text(PROSE).when_model("model-1").usage(100, 20)
}

fn found(why: &str) -> Turn {
    let answer = json!({ "ok": true, "why": why });
    Turn::call("structured_output", answer).when_model("small-1").usage(10, 2)
}

/// Starts a server that serves the model and a small one, which extracts.
async fn rig(vendor: Vendor, script: Vec<Turn>) -> Rig {
    let mut rig = Rig::new(vendor, script).await;
    let mut endpoint = endpoint(vendor, &rig.fake);
    "small-1".clone_into(&mut endpoint.model);
    let provider = Provider::new(endpoint, Timeouts::default()).unwrap();
    rig.job.extractor = Some(provider.extractor());
    rig.agent.extractor = Some(provider);
    rig
}

fn rungs(done: &Finished) -> Vec<(Rung, Ending)> {
    done.report.attempts.iter().map(|it| (it.rung, it.ending.clone())).collect()
}

#[test_case(Vendor::Anthropic)]
#[test_case(Vendor::Openai)]
#[test_case(Vendor::OpenaiChat)]
#[test_case(Vendor::Gemini)]
#[tokio::test]
async fn an_answer_is_found_in_prose_by_whoever_extracts(vendor: Vendor) {
    let rig = rig(vendor, vec![prose(), found("all 12 tests pass")]).await;
    let (fake, done) = rig.finish().await;
    assert_eq!(done.report.rung, Some(Rung::Extract), "{}", done.error());
    assert_eq!(done.value(), Some(json!({ "ok": true, "why": "all 12 tests pass" })));
    assert_eq!(done.report.usage.total(), 132);
    assert_eq!(done.report.unchecked[0].as_str(), "/ok");
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn what_the_extractor_says_is_not_taken_for_what_the_model_said() {
    let rig = rig(Vendor::Anthropic, vec![prose(), found("all 12 tests pass")]).await;
    let (_fake, done) = rig.finish().await;
    let said = done.events.iter().filter(|it| matches!(it.kind, EventKind::Said { .. })).count();
    assert_eq!(said, 1);
    let begun = done.events.iter().find_map(|event| {
        let EventKind::Extracting { model } = &event.kind else { return None };
        Some(model.as_str())
    });
    assert_eq!(begun, Some("small-1"));
    assert!(done.events.iter().all(|event| event.parent_call_id.is_none()));
    assert_eq!(done.report.raw.as_deref(), Some(PROSE));
}

#[test_case(Turn::status(500).message("out to lunch"), "out to lunch"; "down")]
#[test_case(Turn::status(401), "401"; "closed to us")]
#[test_case(Turn::refusal("I would rather not."), "declined"; "unwilling")]
#[tokio::test]
async fn an_extractor_that_fails_costs_nothing_but_the_attempt(turn: Turn, why: &str) {
    let answer = Turn::call("structured_output", json!({ "ok": true, "why": "asked" }));
    let script = vec![prose(), answer.when_model("model-1"), turn.when_model("small-1").forever()];
    let (_fake, done) = rig(Vendor::Anthropic, script).await.finish().await;
    assert_eq!(done.report.rung, Some(Rung::ReAsk), "{}", done.error());
    let extraction = &done.report.attempts[1];
    assert_eq!(extraction.rung, Rung::Extract);
    let message = &extraction.violations.list[0].message;
    assert!(message.contains(why), "{message}");
}

#[tokio::test]
async fn a_busy_extractor_is_asked_again() {
    let busy = Turn::status(529).when_model("small-1");
    let script = vec![prose(), busy, found("all 12 tests pass")];
    let (_fake, done) = rig(Vendor::Anthropic, script).await.finish().await;
    assert_eq!((done.report.rung, done.report.retries), (Some(Rung::Extract), 1));
    let told = done.events.iter().filter(|event| matches!(event.kind, EventKind::Retried(_)));
    assert_eq!(told.count(), 1);
}

#[tokio::test]
async fn an_extractor_that_calls_tools_has_none() {
    let call = Turn::call("run_shell_command", json!({ "command": "rm -rf ." }));
    let mut rig = rig(Vendor::Anthropic, vec![prose(), call.when_model("small-1")]).await;
    rig.job.policy.reasks = 0;
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, done.report.tool_calls), (Outcome::NoAnswer, 1));
    assert_eq!(rungs(&done)[1], (Rung::Extract, Ending::Failed));
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn wall_time_and_interrupts_hold_for_the_extractor() {
    let stalled = || found("all 12 tests pass").stall_after(0).forever();
    let mut timed = rig(Vendor::Anthropic, vec![prose(), stalled()]).await;
    timed.job.policy.budget.wall = Some(Duration::from_secs(1));
    let (_fake, done) = timed.finish().await;
    assert_eq!(done.report.outcome, Outcome::Budget);
    let (_fake, mut running) = rig(Vendor::Anthropic, vec![prose(), stalled()]).await.start();
    running.until(|kind| matches!(kind, EventKind::Extracting { .. })).await;
    running.interrupt.cancel();
    assert_eq!(running.finish().await.report.outcome, Outcome::Interrupted);
}
