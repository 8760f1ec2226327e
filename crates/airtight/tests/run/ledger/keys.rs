//! Idempotency keys: one answer for each.

use airtight_fake::Turn;
use serde_json::Value;

use super::listed;
use crate::interrupts::block_on;
use crate::stage::{Stage, bad, good};

#[test]
fn a_key_with_an_answer_is_not_asked_again() {
    let stage = Stage::new([good()]);
    let first = stage.stream(&["--idempotency-key", "k1", "Review"]);
    let again = stage.stream(&["--idempotency-key", "k1", "Review"]);
    assert_eq!((first.code, again.code), (0, 0), "{again:?}");
    assert!(again.stderr.contains("nothing was asked"), "{again:?}");
    let (first, again) = (first.result(), again.result());
    assert_eq!(again["repeated"], true);
    assert_eq!(again["run_id"], first["run_id"]);
    assert_eq!(again["structured_output"], first["structured_output"]);
    assert_eq!(again["total_cost_usd"], 0.0);
    let text = stage.run(&["--idempotency-key", "k1", "Review"]);
    assert_eq!(text.stdout, "{\"summary\":\"fine\",\"score\":9}\n");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn a_key_belongs_to_one_job() {
    let stage = Stage::new([good()]);
    assert_eq!(stage.run(&["--idempotency-key", "k", "Review"]).code, 0);
    let said = stage.run(&["--idempotency-key", "k", "Something else"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains("the key `k` belongs to another job"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 1);
}

#[test]
fn a_key_without_an_answer_is_tried_again_and_remembers() {
    let stage = Stage::new([bad(), good()]);
    let flags = ["--reasks", "0", "--idempotency-key", "k", "Review"];
    assert_eq!((stage.run(&flags).code, stage.run(&flags).code), (1, 0));
    let runs = listed(&stage);
    assert_eq!(runs[0]["parent"], runs[1]["id"]);
    assert_eq!((&runs[0]["key"], &runs[1]["key"]), (&Value::from("k"), &Value::Null));
}

#[test]
fn a_key_that_is_under_way_says_who_is_at_it() {
    let stage = Stage::new([Turn::text("x").gate(0, "start")]);
    let mut child = stage.start(&["--idempotency-key", "k", "Review"]);
    block_on(stage.fake.gate("start").reached());
    let said = stage.run(&["--idempotency-key", "k", "Review"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains(&child.id().to_string()), "{said:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}
