//! Processes that are killed at each stage: nothing that was acknowledged is lost.

use std::io::{BufRead as _, BufReader};

use airtight_fake::Turn;
use serde_json::{Value, json};

use super::{ask, listed, shown};
use crate::interrupts::{block_on, signal};
use crate::stage::{Stage, await_end, good};

/// Kills a run once it has reached the gate `at`, and returns what is on record.
fn killed(stage: &Stage, arguments: &[&str], at: &str) -> Value {
    let mut child = stage.start(&[&["--idempotency-key", "k"], arguments].concat());
    block_on(stage.fake.gate(at).reached());
    child.kill().unwrap();
    child.wait().unwrap();
    let runs = listed(stage);
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

/// Claims that the run goes on under its own name, to one final result.
fn goes_on(stage: &Stage, run: &Value, arguments: &[&str]) {
    let said = stage.stream(&[&["--idempotency-key", "k"], arguments].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("is done again"), "{said:?}");
    assert_eq!(said.result()["run_id"], run["id"]);
    let runs = listed(stage);
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("done")));
}

#[test]
fn before_the_first_byte() {
    let stage = Stage::new([Turn::text("x").gate(0, "start"), good()]);
    let run = killed(&stage, &["Review"], "start");
    assert_eq!(run["state"], "unknown");
    let log = shown(&stage, run["id"].as_str().unwrap())["attemptLog"].clone();
    assert_eq!((log[0]["state"].as_str(), log.as_array().unwrap().len()), (Some("unknown"), 1));
    goes_on(&stage, &run, &["Review"]);
    let log = shown(&stage, run["id"].as_str().unwrap())["attemptLog"].clone();
    let states: Vec<&str> =
        log.as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["unknown", "closed"]);
}

#[test]
fn in_the_middle_of_an_answer() {
    let stage = Stage::new([Turn::text("I will look at it.").gate(2, "middle"), good()]);
    let run = killed(&stage, &["Review"], "middle");
    assert_eq!(run["state"], "unknown");
    goes_on(&stage, &run, &["Review"]);
}

#[test]
fn after_the_last_word_and_before_the_end_of_the_answer() {
    let stage = Stage::new([good().gate(usize::MAX, "said"), good()]);
    let run = killed(&stage, &["Review"], "said");
    assert_eq!(run["state"], "unknown");
    goes_on(&stage, &run, &["Review"]);
}

#[test]
fn when_the_answer_is_whole_and_not_judged_yet() {
    // A hook is asked when the call is whole. It goes with the folder, too, should the test fail.
    let hook = "[[hooks.PreToolUse]]\nmatcher = \"structured_output\"\ncommand = \"echo $$ > asked; \
                until [ -e go ] || [ ! -e review.json ]; do sleep 0.01; done\"";
    let stage = Stage::new([good(), good()]).with("config/airtight/airtight.toml", hook);
    let mut child = stage.start(&["--idempotency-key", "k", "Review"]);
    stage.pid("asked");
    child.kill().unwrap();
    child.wait().unwrap();
    let run = listed(&stage)[0].clone();
    assert_eq!(run["state"], "unknown");
    std::fs::write(stage.path("go"), "").unwrap();
    goes_on(&stage, &run, &["Review"]);
}

#[test]
fn when_the_end_is_on_record_and_not_told_yet() {
    // More than a pipe holds: nobody reads it, so it cannot have been told.
    let long = json!({ "summary": "x".repeat(200_000), "score": 9 });
    let answer = Turn::call("structured_output", long).chunk_chars(1 << 16).gate(0, "start");
    let stage = Stage::new([answer]);
    let run = ["run", "--json-schema", "review.json", "--idempotency-key", "k", "Review"];
    let mut child = stage.command(&run).spawn().unwrap();
    block_on(stage.fake.gate("start").reached());
    stage.fake.gate("start").open();
    while listed(&stage)[0]["state"] != "done" {
        std::thread::yield_now();
    }
    assert_eq!(child.try_wait().unwrap(), None, "it waits for whoever reads its answer");
    child.kill().unwrap();
    child.wait().unwrap();
    let said = stage.run(&["--idempotency-key", "k", "Review"]);
    assert_eq!((said.code, said.stdout.len() > 200_000), (0, true), "{}", said.stderr);
    assert!(said.stderr.contains("nothing was asked"), "{}", said.stderr);
    assert_eq!((stage.fake.requests().len(), listed(&stage).len()), (1, 1));
}

#[test]
fn between_two_requests() {
    let stage = Stage::new([
        Turn::call("list_directory", json!({ "path": "." })),
        good().gate(0, "second"),
        good(),
    ]);
    let run = killed(&stage, &["Review"], "second");
    let log = shown(&stage, run["id"].as_str().unwrap())["attemptLog"].clone();
    let states: Vec<&str> =
        log.as_array().unwrap().iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["closed", "unknown"]);
    goes_on(&stage, &run, &["Review"]);
}

#[test]
fn a_run_whose_name_was_told_is_there() {
    let stage = Stage::new([Turn::text("x").gate(0, "start")]);
    let mut child = stage.start(&["Review"]);
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let told: Value = serde_json::from_str(&first).unwrap();
    let run = &listed(&stage)[0];
    assert_eq!((&run["id"], &run["state"]), (&told["run_id"], &json!("unknown")));
}

#[test]
fn a_run_without_a_key_can_be_resumed_by_its_name() {
    let stage = Stage::new([Turn::text("x").gate(0, "start"), good()]);
    let mut child = stage.start(&["@@Review with \"quotes\""]);
    block_on(stage.fake.gate("start").reached());
    child.kill().unwrap();
    child.wait().unwrap();
    let id = listed(&stage)[0]["id"].as_str().unwrap().to_owned();
    let said = stage.command(&["runs", "resume", &id, "--", "--max-turns", "5"]).output().unwrap();
    let said = crate::stage::Said::from(said);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout, "{\"summary\":\"fine\",\"score\":9}\n");
    let run = shown(&stage, &id);
    assert_eq!(
        (&run["state"], &run["prompt"]),
        (&json!("done"), &json!("@Review with \"quotes\""))
    );
    let said = stage.command(&["runs", "resume", &id]).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
}

#[test]
fn an_interrupted_run_is_on_record_as_that() {
    let stage = Stage::new([Turn::text("x").gate(0, "start")]);
    let child = stage.start(&["Review"]);
    block_on(stage.fake.gate("start").reached());
    signal(&child, "TERM");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let run = &listed(&stage)[0];
    assert_eq!((&run["state"], &run["outcome"]), (&json!("done"), &json!("interrupted")));
}

#[test]
fn no_tool_outlives_a_second_signal_and_the_run_is_unknown() {
    let command = "sleep 600 & echo $! > pid; wait";
    let shell = Turn::call("run_shell_command", json!({ "command": command }));
    let stage = Stage::new([shell, good()]);
    let mut child = stage.start(&["--approval-mode", "yolo", "Review"]);
    let left_behind = stage.pid("pid");
    signal(&child, "INT");
    signal(&child, "INT");
    child.wait().unwrap();
    await_end(&left_behind);
    let said = ask(&stage, &["runs", "list", "--state", "open"]);
    assert_eq!(said.stdout, "", "{said:?}");
}
