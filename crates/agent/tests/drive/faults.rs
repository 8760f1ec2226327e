//! Errors before the stream: what is asked again, and what is not.

use std::time::Duration;

use airtight_agent::provider::Vendor;
use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_core::run::{EventKind, Outcome};
use airtight_fake::{Script, Turn};
use serde_json::json;
use test_case::test_case;

use crate::rig::{Finished, KEY, PRICE, Rig};

fn answer() -> Turn {
    Turn::call("structured_output", json!({ "ok": true, "why": "tested" })).usage(100, 20)
}

#[test_case(Vendor::Anthropic)]
#[test_case(Vendor::Openai)]
#[test_case(Vendor::OpenaiChat)]
#[test_case(Vendor::Gemini)]
#[tokio::test]
async fn a_busy_provider_is_asked_the_same_again(vendor: Vendor) {
    let script = [408, 409, 500, 529].map(Turn::status).into_iter().chain([answer()]);
    let rig = Rig::new(vendor, Script::new(script)).await;
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, done.report.retries), (Outcome::Met, 4), "{}", done.error());
    let requests = fake.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|request| request.bytes == requests[0].bytes));
    let told = done.events.iter().filter(|event| matches!(event.kind, EventKind::Retried(_)));
    assert_eq!(told.count(), 4);
}

#[tokio::test]
async fn retries_end_and_the_last_error_is_told() {
    let script = Script::new([Turn::status(500).message("out to lunch").forever()]);
    let (fake, done) = Rig::new(Vendor::Anthropic, script).await.finish().await;
    assert_eq!(done.report.outcome, Outcome::Provider);
    assert_eq!((done.report.retries, fake.requests().len()), (4, 5));
    assert!(done.error().contains("out to lunch"), "{}", done.error());
}

#[test_case(401, Outcome::Auth)]
#[test_case(403, Outcome::Auth)]
#[test_case(400, Outcome::Provider)]
#[test_case(404, Outcome::Provider)]
#[tokio::test]
async fn what_waiting_does_not_mend_is_not_sent_again(status: u16, outcome: Outcome) {
    let refusal = Turn::status(status).message(format!("not with the key {KEY}"));
    let (fake, done) = Rig::new(Vendor::Openai, [refusal, answer()]).await.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (outcome, 1));
    let expected = format!("openai answered {status} ");
    assert!(done.error().starts_with(&expected), "{}", done.error());
    assert!(done.error().ends_with(": not with the key [masked]"), "{}", done.error());
}

/// Returns how long nothing was sent before each request that was sent again.
fn pauses(done: &Finished) -> Vec<Duration> {
    let pauses = done.events.iter().filter_map(|event| {
        let EventKind::Retried(retry) = &event.kind else { return None };
        Some(retry.pause)
    });
    pauses.collect()
}

#[test_case("retry-after", "1", Duration::from_secs(1))]
#[test_case("retry-after-ms", "40", Duration::from_millis(40))]
#[tokio::test]
async fn a_provider_is_left_alone_for_as_long_as_it_asks(name: &str, value: &str, asked: Duration) {
    let busy = Turn::status(429).header(name, value);
    let (fake, done) = Rig::new(Vendor::Anthropic, [busy, answer()]).await.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Met, 2));
    assert_eq!(pauses(&done), [asked], "a pause of our own is a millisecond at most");
}

#[tokio::test]
async fn requests_that_were_turned_away_cost_nothing() {
    let script = [429, 500, 529].map(Turn::status).into_iter().chain([answer()]);
    let mut rig = Rig::new(Vendor::Anthropic, Script::new(script)).await;
    rig.job.price = Some(PRICE);
    let (_fake, done) = rig.finish().await;
    let usage = Usage { input_tokens: Some(100), output_tokens: Some(20), ..Usage::default() };
    assert_eq!(done.report.cost, Some(PRICE.cost(&usage)));
}

#[tokio::test]
async fn nobody_there_costs_nothing() {
    let mut rig = Rig::new(Vendor::Anthropic, [answer()]).await;
    rig.fake = airtight_fake::Fake::start([answer()]).await.unwrap();
    rig.job.price = Some(PRICE);
    let (_fake, done) = rig.finish().await;
    assert_eq!(done.report.cost, Some(Cost::default()));
}

#[tokio::test]
async fn a_provider_that_asks_for_an_hour_is_not_waited_for() {
    let busy = Turn::status(429).header("retry-after", "3600");
    let (fake, done) = Rig::new(Vendor::Anthropic, [busy, answer()]).await.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Provider, 1));
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = Turn::status(307).header("location", "http://elsewhere.invalid/v1");
    let (fake, done) = Rig::new(Vendor::Anthropic, [elsewhere, answer()]).await.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Provider, 1));
    assert_eq!(
        done.error(),
        "anthropic answered 307: it redirects to elsewhere.invalid; the base URL must name it directly"
    );
}

#[tokio::test]
async fn a_page_is_not_taken_for_an_answer() {
    let page = Turn::raw(["<html>log in</html>"]).header("content-type", "text/html").forever();
    let (_fake, done) = Rig::new(Vendor::OpenaiChat, [page]).await.finish().await;
    assert_eq!(done.report.outcome, Outcome::Provider);
    assert_eq!(done.error(), "openai-chat answered 200: text/html instead of an event stream");
}

#[tokio::test]
async fn nobody_there_is_a_failure_of_the_provider() {
    let mut rig = Rig::new(Vendor::Anthropic, [answer()]).await;
    let place = rig.fake.anthropic_base().replace("http://", "");
    rig.fake = airtight_fake::Fake::start([answer()]).await.unwrap();
    let (_fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, done.report.retries), (Outcome::Provider, 4));
    let expected = format!("anthropic: no connection to {place}: Connection refused");
    assert!(done.error().starts_with(&expected), "{}", done.error());
}

#[tokio::test]
async fn a_pause_that_outlasts_the_budget_is_not_made() {
    let busy = Turn::status(429).header("retry-after", "30");
    let mut rig = Rig::new(Vendor::Anthropic, [busy, answer()]).await;
    rig.job.policy.budget.wall = Some(Duration::from_secs(20));
    let (fake, done) = rig.finish().await;
    assert_eq!((done.report.outcome, fake.requests().len()), (Outcome::Provider, 1));
}
