//! Requests are on record before they leave.

use std::sync::{Arc, Mutex};

use airtight_agent::provider::Vendor;
use airtight_agent::{Arrival, Course, Departure, Entry, Event, Journal, Landing, Observer};
use airtight_core::run::{Bill, Outcome, Run};
use airtight_fake::{Fake, Turn};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

/// Writes down what it is told, and how many requests the server had seen by then.
struct Scribe {
    fake: Fake,
    lines: Mutex<Vec<String>>,
}

impl Scribe {
    fn write(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

impl Journal for Scribe {
    fn open<'a>(&'a self, departure: Departure<'a>) -> Entry<'a, Option<i64>> {
        let seen = self.fake.requests().len();
        self.write(format!("open {} after {seen}", departure.model));
        Box::pin(async move { i64::try_from(seen).ok() })
    }

    fn close<'a>(&'a self, number: i64, arrival: Arrival<'a>) -> Entry<'a, ()> {
        let end = match arrival.end {
            Landing::Whole => "whole".to_owned(),
            Landing::Stopped => "stopped".to_owned(),
            Landing::Failed(failure) => format!("{:?}", failure.kind),
        };
        let cost = if arrival.bill == Bill::Free { "free" } else { "counted" };
        let course = if arrival.course == Course::Over { ", over" } else { "" };
        self.write(format!("close {number}: {end}, {cost}{course}"));
        Box::pin(async {})
    }
}

struct Watcher(Arc<Scribe>);

impl Observer for Watcher {
    fn event(&mut self, _event: &Event) {}

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        let scribe = Arc::clone(&self.0);
        Some(scribe)
    }
}

async fn journal_of(turns: Vec<Turn>, interrupt: CancellationToken) -> (Outcome, Vec<String>) {
    let Rig { fake, agent, job } = Rig::new(Vendor::Anthropic, turns).await;
    let scribe = Arc::new(Scribe { fake, lines: Mutex::default() });
    let run = Run::new(job).unwrap();
    let report = agent.drive(run, &mut Watcher(Arc::clone(&scribe)), interrupt).await;
    let lines = scribe.lines.lock().unwrap().clone();
    (report.outcome, lines)
}

#[tokio::test]
async fn every_request_is_opened_before_it_leaves_and_closed_after() {
    let good = json!({ "ok": true, "why": "it is" });
    let turns = vec![
        Turn::status(529),
        Turn::call("structured_output", json!({ "ok": 1, "why": "no" })),
        Turn::call("structured_output", good),
    ];
    let (outcome, lines) = journal_of(turns, CancellationToken::new()).await;
    assert_eq!(outcome, Outcome::Met);
    let expected = [
        "open model-1 after 0",
        "close 0: Overload, free",
        "open model-1 after 1",
        // A number where a boolean is wanted is past saving at once.
        "close 1: stopped, counted",
        "open model-1 after 2",
        "close 2: whole, counted, over",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn nothing_is_opened_for_a_run_that_may_not_begin() {
    let interrupt = CancellationToken::new();
    interrupt.cancel();
    let (outcome, lines) = journal_of(vec![Turn::text("x")], interrupt).await;
    assert_eq!((outcome, lines), (Outcome::Interrupted, Vec::new()));
}
