//! Hooks object to answers and endings, and the model is told.

use airtight_agent::provider::Vendor;
use airtight_agent::{Environment, Event, Hook, HookEvent, Hooks, Observer, Subagents};
use airtight_core::run::{DeniedBy, Ending, Outcome, Run, Terminal};
use airtight_fake::Turn;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

/// Objects the first time only.
const ONCE: &str = "if [ -e asked ]; then exit 0; fi; touch asked; echo look again >&2; exit 2";

fn answer() -> Turn {
    Turn::call("structured_output", json!({ "ok": true, "why": "tested" }))
}

async fn rig(folder: &TempDir, event: HookEvent, command: &str, turns: Vec<Turn>) -> Rig {
    let mut rig = Rig::new(Vendor::Anthropic, turns).await;
    let hook = Hook::new(event, None, command).unwrap();
    let environment = Environment::without_secrets(std::env::vars_os());
    rig.agent.hooks = Hooks::new(vec![hook], "session", folder.path().to_owned(), environment);
    rig
}

fn without_contract(mut rig: Rig) -> Rig {
    rig.job.contract = None;
    rig.job.terminal = Terminal::Denied;
    rig
}

#[tokio::test]
async fn an_answer_that_a_hook_refuses_is_asked_for_again() {
    let folder = TempDir::new().unwrap();
    let turns = vec![answer(), answer()];
    let (fake, done) = rig(&folder, HookEvent::PreToolUse, ONCE, turns).await.finish().await;
    assert_eq!((done.report.outcome, done.report.turns), (Outcome::Met, 2), "{}", done.error());
    let endings: Vec<&Ending> = done.report.attempts.iter().map(|it| &it.ending).collect();
    assert_eq!(endings, [&Ending::Rejected, &Ending::Accepted]);
    assert!(fake.requests()[1].body.to_string().contains("look again"));
}

#[tokio::test]
async fn hooks_are_told_what_came_of_an_answer() {
    let folder = TempDir::new().unwrap();
    let turns = vec![answer()];
    let command = "cat > seen.json";
    let (_fake, done) = rig(&folder, HookEvent::PostToolUse, command, turns).await.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met);
    let seen = std::fs::read_to_string(folder.path().join("seen.json")).unwrap();
    assert!(seen.contains("structured_output") && seen.contains("tested"), "{seen}");
}

#[tokio::test]
async fn a_text_that_a_hook_does_not_let_end_is_not_the_last() {
    let folder = TempDir::new().unwrap();
    let turns = vec![Turn::text("Done, I think."), Turn::text("Done, I looked.")];
    let rig = without_contract(rig(&folder, HookEvent::Stop, ONCE, turns).await);
    let (fake, done) = rig.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    assert_eq!(done.report.text.as_deref(), Some("Done, I looked."));
    assert!(fake.requests()[1].body.to_string().contains("look again"));
}

#[tokio::test]
async fn a_hook_that_always_objects_does_not_go_on_for_ever() {
    let folder = TempDir::new().unwrap();
    let turns = vec![Turn::text("Done.").forever()];
    let never = "echo never >&2; exit 2";
    let rig = without_contract(rig(&folder, HookEvent::Stop, never, turns).await);
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Met, 6));
}

#[tokio::test]
async fn stop_hooks_hear_of_an_accepted_answer_and_cannot_refuse_it() {
    let folder = TempDir::new().unwrap();
    let command = "echo told >> told; echo never >&2; exit 2";
    let rig = rig(&folder, HookEvent::Stop, command, vec![answer()]).await;
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Met, 1));
    assert_eq!(std::fs::read_to_string(folder.path().join("told")).unwrap(), "told\n");
}

#[tokio::test]
async fn stop_hooks_hear_of_an_interrupt() {
    let folder = TempDir::new().unwrap();
    let rig = rig(&folder, HookEvent::Stop, "echo told >> told", vec![answer()]).await;
    let (_fake, running) = rig.start();
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Interrupted);
    assert_eq!(std::fs::read_to_string(folder.path().join("told")).unwrap(), "told\n");
}

#[tokio::test]
async fn a_veto_is_told_as_a_failure_however_it_begins() {
    let folder = TempDir::new().unwrap();
    let turns = vec![answer(), answer()];
    let command = "if [ -e asked ]; then exit 0; fi; touch asked; echo Skipped a test >&2; exit 2";
    let mut rig = rig(&folder, HookEvent::PreToolUse, command, turns).await;
    let hooks = [(HookEvent::PreToolUse, command), (HookEvent::PostToolUseFailure, "cat > failed")];
    let hooks = hooks.map(|(event, command)| Hook::new(event, None, command).unwrap());
    let environment = Environment::without_secrets(std::env::vars_os());
    let place = folder.path().to_owned();
    rig.agent.hooks = Hooks::new(hooks.to_vec(), "session", place, environment);
    let (_fake, done) = rig.finish().await;
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    let failed = std::fs::read_to_string(folder.path().join("failed")).unwrap();
    assert!(failed.contains("Skipped a test"), "{failed}");
}

#[tokio::test]
async fn what_hooks_refuse_is_among_the_denials_be_it_a_tool_or_not() {
    let folder = TempDir::new().unwrap();
    let send = Turn::call("agent", json!({ "description": "d", "prompt": "p" })).id("call-1");
    let turns = vec![send, answer().id("call-2"), answer().id("call-3")];
    let command = "if [ -e asked ] && [ -e again ]; then exit 0; fi; \
        if [ -e asked ]; then touch again; fi; touch asked; echo no >&2; exit 2";
    let mut rig = rig(&folder, HookEvent::PreToolUse, command, turns).await;
    rig.agent.subagents = Some(Subagents::default());
    rig.job.tools = rig.agent.specs();
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Met, 3), "{}", done.error());
    let denied = done.report.denials.iter();
    let denied: Vec<_> = denied.map(|it| (it.tool.as_str(), it.call_id.as_str(), it.by)).collect();
    let expected =
        [("agent", "call-1", DeniedBy::Hook), ("structured_output", "call-2", DeniedBy::Hook)];
    assert_eq!(denied, expected);
}

struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _event: &Event) {}
}

#[tokio::test]
async fn each_run_of_an_agent_has_its_own_denials() {
    let folder = TempDir::new().unwrap();
    let turns = vec![answer(), answer(), answer()];
    let rig = rig(&folder, HookEvent::PreToolUse, ONCE, turns).await;
    let mut denied = Vec::new();
    for _ in 0..2 {
        let run = Run::new(rig.job.clone()).unwrap();
        let report = rig.agent.drive(run, &mut Nobody, CancellationToken::new()).await;
        assert_eq!(report.outcome, Outcome::Met);
        denied.push(report.denials.len());
    }
    assert_eq!(denied, [1, 0]);
}
