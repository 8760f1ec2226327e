//! Streams that break: what was said is kept and counted, and the model is asked again.

use std::time::Duration;

use airtight_agent::provider::Vendor;
use airtight_core::run::{Ending, Mode, Outcome};
use airtight_fake::Turn;
use serde_json::json;
use test_case::test_case;

use crate::rig::{Finished, PRICE, Rig};

/// An event that no provider sends: over the limit of the stream decoder.
const HUGE_BYTES: usize = 50 * 1024 * 1024;

const VENDORS: [Vendor; 4] =
    [Vendor::Anthropic, Vendor::Openai, Vendor::OpenaiChat, Vendor::Gemini];

fn answer() -> Turn {
    Turn::call("structured_output", json!({ "ok": true, "why": "tested" })).usage(100, 20)
}

fn talk() -> Turn {
    Turn::text("Let me see what there is to see here.").usage(7, 3)
}

/// Lets the first answer break, and checks that the second one counts.
async fn broken(vendor: Vendor, turn: Turn) -> Finished {
    let rig = Rig::new(vendor, [turn, answer()]).await;
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, done.report.retries), (Outcome::Met, 1), "{}", done.error());
    assert_eq!(fake.requests().len(), 2);
    done
}

fn assert_kept(done: &Finished) {
    let first = &done.report.attempts[0];
    assert_eq!((first.raw.as_str(), &first.ending), ("Let me s", &Ending::Failed));
}

#[test_case(talk().error_after(1, 529); "an error within the stream")]
#[test_case(talk().cut_after(1); "a connection cut within an event")]
#[test_case(talk().end_after(1); "an end without the end mark")]
#[test_case(talk().garbage_after(1, "data: {\"nonsense\": tru\n\n"); "data that is no JSON")]
#[test_case(talk().garbage_after(1, b"data: \xff\xfe\n\n".to_vec()); "bytes that are no text")]
#[tokio::test]
async fn what_was_said_before_a_stream_breaks_is_kept(turn: Turn) {
    for vendor in VENDORS {
        assert_kept(&broken(vendor, turn.clone()).await);
    }
}

#[tokio::test]
async fn an_event_without_end_costs_a_retry_and_no_memory() {
    let turn = talk().filler_after(1, HUGE_BYTES);
    assert_kept(&broken(Vendor::Anthropic, turn).await);
}

#[tokio::test]
async fn what_a_broken_answer_used_is_counted() {
    // Anthropic says with the first event how much it read.
    let done = broken(Vendor::Anthropic, talk().cut_after(1)).await;
    assert_eq!(done.report.usage.input_tokens, Some(107));
}

#[tokio::test]
async fn a_broken_answer_makes_the_cost_unknown_on_every_wire() {
    for vendor in VENDORS {
        let mut rig = Rig::new(vendor, [talk().cut_after(1), answer()]).await;
        rig.job.price = Some(PRICE);
        let (_fake, done) = rig.finish().await;
        assert_eq!((done.report.outcome, done.report.cost), (Outcome::Met, None), "{vendor:?}");
    }
}

#[tokio::test]
async fn a_whole_answer_has_its_cost_on_every_wire() {
    for vendor in VENDORS {
        let mut rig = Rig::new(vendor, [answer()]).await;
        rig.job.price = Some(PRICE);
        let (_fake, done) = rig.finish().await;
        assert_eq!(done.report.cost, Some(PRICE.cost(&done.report.usage)), "{vendor:?}");
    }
}

#[tokio::test]
async fn a_silent_stream_is_given_up_and_the_server_sees_it() {
    let rig = Rig::new(Vendor::Openai, [talk().stall_after(1), answer()]).await;
    let (fake, done) = rig.idle(Duration::from_secs(3)).finish().await;
    assert_eq!((done.report.outcome, done.report.retries), (Outcome::Met, 1), "{}", done.error());
    assert_kept(&done);
    assert_eq!(fake.next_cancel().await.request, 0);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let rig = Rig::new(Vendor::Anthropic, [answer().delay_ms(600_000), answer()]).await;
    let (_fake, done) = rig.idle(Duration::from_secs(3)).finish().await;
    assert_eq!((done.report.outcome, done.report.retries), (Outcome::Met, 1), "{}", done.error());
}

#[tokio::test]
async fn characters_split_between_writes_survive() {
    let why = "grün, 緑, 🟢 – зелёный";
    let turn = Turn::call("structured_output", json!({ "ok": true, "why": why }));
    for vendor in VENDORS {
        let rig = Rig::new(vendor, [turn.clone().chunk_chars(1).write_bytes(1)]).await;
        let (_fake, done) = rig.finish().await;
        assert_eq!(done.value(), Some(json!({ "ok": true, "why": why })));
    }
}

#[test_case(Mode::Tool)]
#[test_case(Mode::Native)]
#[tokio::test]
async fn an_answer_that_cannot_conform_is_cancelled_at_the_server(mode: Mode) {
    let wrong = r#"{"ok": ["yes", "certainly it is"], "why": "because"}"#;
    let turn = |text: &str| match mode {
        Mode::Native => Turn::text(text),
        Mode::Auto | Mode::Prompt | Mode::Tool => Turn::call_text("structured_output", text),
    };
    let right = turn(r#"{"ok": true, "why": "tested"}"#);
    let script = [turn(wrong).chunk_chars(12).stall_after(2), right];
    let (fake, done) = Rig::new(Vendor::Anthropic, script).await.mode(mode).finish().await;
    assert_eq!(fake.next_cancel().await.request, 0);
    assert_eq!(done.report.outcome, Outcome::Met, "{}", done.error());
    let endings: Vec<&Ending> = done.report.attempts.iter().map(|it| &it.ending).collect();
    assert_eq!(endings, [&Ending::Cancelled, &Ending::Accepted]);
    assert!(wrong.starts_with(&done.report.attempts[0].raw));
    assert_eq!(done.report.retries, 0, "a cancelled answer is no failure of the provider");
}
