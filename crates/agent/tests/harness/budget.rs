//! Budgets, and what was used when a run is stopped.

use std::time::Duration;

use airtight_core::run::Outcome;
use airtight_fake::{Deed, Matter};
use tokio_util::sync::CancellationToken;

use crate::scene::{ACCEPTED, COMMAND, INIT, Scene, say, success};

#[tokio::test]
async fn calls_over_the_budget_end_the_program() {
    let call = r#"{"type":"assistant","session_id":"s1","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
    let mut scene = Scene::new(&[say(INIT), say(call), Deed::Stall]);
    scene.policy.budget.tool_calls = Some(0);
    let (report, seen) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Budget);
    assert!(seen.records[0].warnings.iter().any(|it| it.starts_with("cancelled")));
}

#[tokio::test]
async fn tokens_over_the_budget_end_the_program() {
    let mut scene = Scene::new(&[say(INIT), say(COMMAND[0]), say(COMMAND[1]), Deed::Stall]);
    scene.policy.budget.tokens = Some(15);
    let (report, _) = scene.run().await;
    assert_eq!(report.outcome, Outcome::Budget);
    assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (Some(10), Some(5)));
    // Nobody knows what else it used.
    assert_eq!(report.cost, None);
}

#[tokio::test]
async fn an_answer_counts_that_used_up_the_budget() {
    let result = success(r#"{"answer":42}"#);
    let mut scene = Scene::new(&[say(INIT), say(ACCEPTED), say(COMMAND[1]), say(&result)]);
    scene.policy.budget.tokens = Some(15);
    let (report, _) = scene.run().await;
    assert_eq!((report.outcome, report.usage.total()), (Outcome::Met, 15));
}

#[tokio::test]
async fn claude_is_told_what_is_left_of_the_budget_for_cost() {
    let deeds = [
        Deed::Note { what: Matter::Arguments, path: "arguments".into() },
        say(INIT),
        say(&success(r#"{"answer":"forty-two"}"#)),
    ];
    for (reasks, left) in [(0, "--max-budget-usd=1\n"), (1, "--max-budget-usd=0.75\n")] {
        let mut scene = Scene::new(&deeds);
        scene.policy.reasks = reasks;
        scene.policy.budget.cost = airtight_core::price::Cost::from_usd(1.0);
        scene.run().await;
        let arguments = std::fs::read_to_string(scene.path("arguments")).unwrap();
        assert!(format!("{arguments}\n").contains(left), "{arguments}");
    }
}

#[tokio::test]
async fn what_was_used_until_an_interrupt_is_told() {
    let scene = Scene::new(&[
        say(INIT),
        say(COMMAND[0]),
        Deed::Note { what: Matter::Pid, path: "spoke".into() },
        Deed::Stall,
    ]);
    let interrupt = CancellationToken::new();
    let (token, spoke) = (interrupt.clone(), scene.path("spoke"));
    let soon = async move {
        while !spoke.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        token.cancel();
    };
    let ((report, seen), ()) = tokio::join!(scene.run_until(interrupt), soon);
    assert_eq!((report.outcome, report.cost), (Outcome::Interrupted, None));
    assert_eq!((report.usage.input_tokens, report.usage.output_tokens), (Some(10), Some(5)));
    assert_eq!(seen.records[0].input_tokens, 10);
}

#[tokio::test]
async fn an_interrupt_ends_the_program_and_the_run() {
    let scene = Scene::new(&[say(INIT), Deed::Stall]);
    let interrupt = CancellationToken::new();
    let token = interrupt.clone();
    let soon = async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        token.cancel();
    };
    let ((report, seen), ()) = tokio::join!(scene.run_until(interrupt), soon);
    assert_eq!(report.outcome, Outcome::Interrupted);
    assert_eq!(seen.records.len(), 1);
}
