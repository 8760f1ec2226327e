//! Tools of one answer: those that read run together, those with effects alone and in order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use airtight_agent::provider::Vendor;
use airtight_agent::{
    ApprovalMode, CallContext, Called, Effect, Permissions, Subagents, Tool, ToolError, Toolbox,
};
use airtight_core::message::{Enforcement, ToolSpec};
use airtight_core::run::{EventKind, Outcome};
use airtight_fake::Turn;
use serde_json::{Map, Value, json};
use tokio::sync::{Barrier, Notify};

use crate::rig::{Finished, Rig};

/// A tool whose deeds are watched.
#[derive(Debug)]
struct Probe {
    spec: ToolSpec,
    effect: Effect,
    deed: Deed,
}

#[derive(Debug)]
enum Deed {
    /// Returns once as many calls as the barrier wants are there.
    Meet(Barrier),
    /// Notes when it begins and ends.
    Note(Arc<Mutex<Vec<String>>>),
    /// Says that it has begun, and works until it is cancelled.
    Linger(Arc<Notify>),
    Panic,
}

impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            let name = arguments.get("n").map(Value::to_string).unwrap_or_default();
            match &self.deed {
                Deed::Meet(barrier) => {
                    barrier.wait().await;
                }
                Deed::Note(log) => {
                    log.lock().unwrap().push(format!("begin {name}"));
                    tokio::task::yield_now().await;
                    log.lock().unwrap().push(format!("end {name}"));
                }
                Deed::Linger(begun) => {
                    begun.notify_one();
                    context.cancel.cancelled().await;
                    return Err(ToolError("cancelled".to_owned()));
                }
                Deed::Panic => panic!("a tool that breaks"),
            }
            Ok(format!("done {name}"))
        })
    }
}

async fn rig(effect: Effect, deed: Deed, turns: Vec<Turn>) -> Rig {
    let spec = ToolSpec {
        name: "probe".to_owned(),
        description: "A probe.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "n": { "type": "integer" } } })
            .into(),
        enforcement: Enforcement::Hint,
    };
    let mut rig = Rig::new(Vendor::Anthropic, turns).await;
    let permissions = Arc::new(Permissions::new(ApprovalMode::Yolo));
    let probe = Arc::new(Probe { spec, effect, deed });
    rig.agent.toolbox = Toolbox::builder().permissions(permissions).tool(probe).build();
    rig.job.tools = rig.agent.specs();
    rig
}

fn calls(count: usize) -> Turn {
    let call =
        |turn: Turn, n: usize| turn.then_call("probe", json!({ "n": n })).id(format!("c{n}"));
    (0..count).fold(Turn::say(), call)
}

fn answer() -> Turn {
    Turn::call("structured_output", json!({ "ok": true, "why": "tested" }))
}

/// Returns what the tools said, in the order the model hears it.
fn heard(done: &Finished) -> Vec<String> {
    let heard = done.events.iter().filter_map(|event| {
        let EventKind::Heard(results) = &event.kind else { return None };
        Some(results.iter().filter(|result| result.name == "probe"))
    });
    heard.flatten().map(|result| result.content.clone()).collect()
}

#[tokio::test]
async fn calls_that_read_run_together_and_answer_in_order() {
    let rig = rig(Effect::Reads, Deed::Meet(Barrier::new(4)), vec![calls(4), answer()]).await;
    let (_fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, done.report.tool_calls), (Outcome::Met, 4));
    assert_eq!(heard(&done), ["done 0", "done 1", "done 2", "done 3"]);
}

#[tokio::test]
async fn calls_with_effects_run_one_after_the_other() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let deed = Deed::Note(Arc::clone(&log));
    let (_fake, done) = rig(Effect::Edits, deed, vec![calls(3), answer()]).await.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met);
    let expected = ["begin 0", "end 0", "begin 1", "end 1", "begin 2", "end 2"];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_tool_that_breaks_is_one_failed_call() {
    let (_fake, done) =
        rig(Effect::Reads, Deed::Panic, vec![calls(1), answer()]).await.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    assert_eq!(heard(&done), ["the tool failed unexpectedly"]);
}

#[tokio::test]
async fn an_interrupt_ends_a_tool_at_work() {
    let begun = Arc::new(Notify::new());
    let deed = Deed::Linger(Arc::clone(&begun));
    let (fake, running) = rig(Effect::Executes, deed, vec![calls(2), answer()]).await.start();
    begun.notified().await;
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Interrupted, 1));
}

#[tokio::test]
async fn the_wall_time_ends_a_tool_at_work() {
    let deed = Deed::Linger(Arc::new(Notify::new()));
    let mut rig = rig(Effect::Executes, deed, vec![calls(1), answer()]).await;
    rig.job.policy.budget.wall = Some(Duration::from_secs(3));
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Budget, 1));
}

#[tokio::test]
async fn a_subagent_has_the_tools_it_was_given() {
    let errand = json!({ "description": "d", "prompt": "p", "tools": ["probe"] });
    let turns = vec![
        Turn::call("agent", errand).when_lacks("You are a subagent"),
        calls(1).when_contains("You are a subagent"),
        Turn::text("It is 0.").when_contains("You are a subagent"),
        answer().when_lacks("You are a subagent"),
    ];
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut rig = rig(Effect::Edits, Deed::Note(Arc::clone(&log)), turns).await;
    rig.agent.subagents = Some(Subagents::default());
    rig.job.tools = rig.agent.specs();
    let (_fake, done) = rig.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    assert_eq!(*log.lock().unwrap(), ["begin 0", "end 0"]);
}
