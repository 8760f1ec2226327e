//! What is asked of the watch through the API: another process leads it, on the same ledger.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout};

use airtight_fake::Turn;
use serde_json::{Value, json};
use test_case::test_case;

use crate::stage::{Backstage, Stage, TOKEN};

const WATCH: &str = "logs = \"logs\"\n[tiers.1]\nmodel = \"anthropic:fake\"\n";

/// A watch of its own, and what it tells.
pub(crate) struct Watch {
    child: Child,
    told: BufReader<ChildStdout>,
}

impl Watch {
    pub(crate) fn start(stage: &Stage) -> Self {
        let mut child = stage.command(&["watch", "--config", "watch.toml"]).spawn().unwrap();
        let told = BufReader::new(child.stdout.take().unwrap());
        Self { child, told }
    }

    /// Waits for a line of this type.
    pub(crate) fn await_notice(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.told.read_line(&mut line).unwrap(), 0, "the watch goes on");
            let notice: Value = serde_json::from_str(&line).unwrap();
            if notice["type"] == kind {
                return notice;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn healthy() -> Turn {
    let report = json!({
        "summary": "all is well", "events": [], "escalation": { "needed": false },
        "services_checked": [],
    });
    Turn::call("structured_output", report).usage(100, 20)
}

pub(crate) fn staged(script: Vec<Turn>, more: &[&str]) -> Stage {
    let arguments = ["serve", "--bind", "127.0.0.1:0", "--token-file", "token.txt"];
    Backstage::new(script).with("watch.toml", WATCH).serve(&[&arguments, more].concat())
}

fn alerting(stage: &Stage, headers: &str, alert: &str) -> crate::stage::Answer {
    let headers = format!("Authorization: Bearer {TOKEN}\r\n{headers}");
    stage.send(&stage.posting("/api/v1/webhook", &headers, alert))
}

/// CO-105, CO-4: a chain begins when somebody asks, at the tier and with the words that they say; while one
/// goes on, another is refused.
#[test]
fn co_105_a_chain_is_triggered_and_a_second_one_is_refused() {
    let held = healthy().when_contains("Look at the disks").gate(0, "asked");
    let stage = staged(vec![healthy().when_lacks("Look at the disks"), held], &[]);
    let asked = json!({ "tier": 2, "prompt": "Look at the disks" });
    assert_eq!(stage.post("/api/v1/watch/trigger", &asked).problem(), (409, "no_watch"));
    let mut watch = Watch::start(&stage);
    watch.await_notice("chain_ended");

    let key = "Idempotency-Key: k1\r\n";
    let wished = stage.post_with("/api/v1/watch/trigger", key, &asked);
    assert_eq!((wished.status, &wished.body["tier"]), (201, &json!(2)), "{wished:?}");
    let again = stage.post_with("/api/v1/watch/trigger", key, &asked);
    assert_eq!(again.body, wished.body);
    assert_eq!(watch.await_notice("chain_began")["trigger"], "api");
    assert_eq!(watch.await_notice("session_began")["tier"], 2);
    assert_eq!(stage.post("/api/v1/watch/trigger", &asked).problem(), (409, "busy"));
    let standing = stage.get("/api/v1/watch", "").body;
    assert_eq!((&standing["chain"]["cause"], &standing["waiting"]), (&json!("api"), &json!([])));
    assert!(standing["leader"].is_string(), "{standing}");
    stage.fake.gate("asked").open();
    watch.await_notice("chain_ended");
    assert_eq!(stage.fake.remaining(), 0);
}

#[test_case(&json!({ "tier": 0 }); "no tier")]
#[test_case(&json!({ "tier": 4 }); "no such tier")]
#[test_case(&json!({ "prompt": " " }); "nothing to do")]
#[test_case(&json!({ "prompt": "x".repeat(10_001) }); "too much to do")]
#[test_case(&json!({ "prompt": "look", "teir": 1 }); "a misspelt member")]
fn what_cannot_be_asked_of_a_watch_is_refused(asked: &Value) {
    let stage = staged(Vec::new(), &[]);
    let answer = stage.post("/api/v1/watch/trigger", asked);
    assert_eq!(answer.problem(), (400, "invalid_request"), "{answer:?}");
}

/// CO-110: what goes on is stopped, and the watch goes on; if nothing does, nothing is.
#[test]
fn co_110_the_running_session_is_stopped_and_the_watch_goes_on() {
    let script = vec![Turn::text("never").stall_after(0), healthy()];
    let stage = staged(script, &[]);
    let mut watch = Watch::start(&stage);
    watch.await_notice("session_began");
    assert_eq!(stage.post("/api/v1/watch/stop", &json!(null)).status, 204);
    assert_eq!(watch.await_notice("session_ended")["status"], "stopped");
    watch.await_notice("waiting");
    assert_eq!(stage.post("/api/v1/watch/stop", &json!(null)).problem(), (409, "nothing_runs"));
    assert_eq!(stage.post("/api/v1/watch/trigger", &json!({})).status, 201);
    assert_eq!(watch.await_notice("session_ended")["status"], "completed");
}

/// CO-107: an alert of any shape waits for what goes on, and is told as data; its tier is taken out.
#[test]
fn co_107_an_alert_waits_and_is_looked_into() {
    let first = healthy().when_lacks("sda1").gate(0, "asked");
    let stage = staged(vec![first, healthy().when_contains("sda1"), healthy()], &[]);
    let mut watch = Watch::start(&stage);
    watch.await_notice("session_began");
    assert_eq!(alerting(&stage, "", " ").problem(), (400, "invalid_request"));
    let long = "x".repeat(65 * 1024);
    assert_eq!(alerting(&stage, "", &long).problem(), (413, "too_large"));
    let json = alerting(&stage, "", r#"{"alert":"```\nsda1 full","tier":3}"#);
    assert_eq!((json.status, &json.body["cause"]), (202, &json!("alert")), "{json:?}");
    assert_eq!(json.body["request"], r#"{"alert":"```\nsda1 full"}"#);
    let key = "Idempotency-Key: a1\r\nContent-Type: text/plain\r\n";
    let text = alerting(&stage, key, "fan\u{1b} stopped");
    assert_eq!(alerting(&stage, key, "fan\u{1b} stopped").body, text.body);
    stage.fake.gate("asked").open();
    for tier in [3, 1] {
        assert_eq!(watch.await_notice("chain_began")["trigger"], "alert");
        assert_eq!(watch.await_notice("session_began")["tier"], tier);
        watch.await_notice("chain_ended");
    }
    let told = stage.fake.requests()[1].body["messages"].to_string();
    assert!(told.contains("````alert"), "{told}");
    assert_eq!(stage.fake.remaining(), 0);
}

/// CO-107: a model that is set puts alerts in a few sentences, by contract; if it cannot, nothing begins.
#[test]
fn co_107_a_model_puts_alerts_in_a_few_sentences() {
    let brief = Turn::text(r#"{"brief":"The disk of web is full."}"#).usage(10, 5);
    let broken = Turn::text(r#"{"brief":""}"#).usage(10, 5).forever();
    let script = vec![healthy(), brief.when_contains("E1234"), broken.when_contains("E5678")];
    let stage = staged(script, &["--alert-model", "anthropic:fake"]);
    let mut watch = Watch::start(&stage);
    watch.await_notice("chain_ended");
    let answer = alerting(&stage, "", "E5678 web");
    assert_eq!(answer.problem(), (502, "no_brief"), "{answer:?}");
    let answer = alerting(&stage, "", "E1234 web");
    assert_eq!((answer.status, &answer.body["request"]), (202, &json!("The disk of web is full.")));
    stage.fake.push(healthy().when_contains("The disk of web is full."));
    watch.await_notice("chain_ended");
}

/// Whoever has no token starts and stops nothing.
#[test_case("/api/v1/watch/trigger"; "trigger")]
#[test_case("/api/v1/watch/stop"; "stop")]
#[test_case("/api/v1/webhook"; "webhook")]
#[test_case("/v1/chat/completions"; "a chat with the watch")]
#[test_case("/watch/look"; "the page that starts")]
#[test_case("/watch/stop"; "the page that stops")]
fn nothing_is_asked_without_the_token(path: &str) {
    let stage = staged(Vec::new(), &[]);
    let answer = stage.send(&stage.posting(path, "Content-Type: application/json\r\n", "{}"));
    assert_eq!(answer.status, 401, "{answer:?}");
}
