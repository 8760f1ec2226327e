//! A run ends cleanly wherever it is stopped, and the server sees it.

use std::time::Duration;

use airtight_agent::provider::Vendor;
use airtight_core::codec::Delta;
use airtight_core::run::{EventKind, Outcome};
use airtight_fake::Turn;
use serde_json::json;

use crate::rig::Rig;

fn answer() -> Turn {
    Turn::call("structured_output", json!({ "ok": true, "why": "tested" })).usage(100, 20)
}

#[tokio::test]
async fn before_the_head_of_the_response() {
    let (fake, running) = Rig::new(Vendor::Anthropic, [answer().delay_ms(600_000)]).await.start();
    fake.next_request().await;
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Interrupted);
    assert_eq!(fake.next_cancel().await.chunks, 0);
}

#[tokio::test]
async fn in_the_middle_of_an_answer_which_is_kept() {
    let talk = Turn::text("Let me see what there is.").usage(7, 3).gate(2, "middle");
    let (fake, mut running) = Rig::new(Vendor::Anthropic, [talk]).await.start();
    fake.gate("middle").reached().await;
    let is_second = |kind: &EventKind| *kind_text(kind) == *"ee what ";
    running.until(is_second).await;
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Interrupted);
    assert_eq!(done.report.raw.as_deref(), Some("Let me see what "));
    assert_eq!(done.report.usage.input_tokens, Some(7));
    assert_eq!(fake.next_cancel().await.chunks, 2);
}

fn kind_text(kind: &EventKind) -> &str {
    if let EventKind::Delta(Delta::Text(text)) = kind { text } else { "" }
}

#[tokio::test]
async fn between_two_requests() {
    let busy = Turn::status(429).header("retry-after", "60");
    let (fake, mut running) = Rig::new(Vendor::Anthropic, [busy, answer()]).await.start();
    running.until(|kind| matches!(kind, EventKind::Retried(_))).await;
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!(done.report.outcome, Outcome::Interrupted);
    assert_eq!((done.report.retries, fake.requests().len()), (1, 1));
}

#[tokio::test]
async fn before_it_has_begun() {
    let rig = Rig::new(Vendor::Anthropic, [answer()]).await;
    let (fake, running) = rig.start();
    running.interrupt.cancel();
    let done = running.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Interrupted, 0));
}

#[tokio::test]
async fn the_wall_time_ends_an_answer_under_way() {
    let mut rig = Rig::new(Vendor::Anthropic, [answer().stall_after(1)]).await;
    rig.job.policy.budget.wall = Some(Duration::from_secs(3));
    let (fake, done) = rig.finish().await;
    assert_eq!(done.report.outcome, Outcome::Budget);
    assert_eq!(fake.next_cancel().await.chunks, 1);
}
