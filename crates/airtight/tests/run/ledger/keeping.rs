//! What is kept of a run.

use std::os::unix::fs::PermissionsExt;

use airtight_fake::Turn;
use serde_json::{Value, json};

use super::{ask, bytes, holds, listed, newest, shown};
use crate::stage::{KEY, Stage, bad, good};

#[test]
fn a_run_is_on_record_before_its_name_is_told() {
    let stage = Stage::new([good()]);
    let said = stage.stream(&["Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    let (first, result) = (&said.lines()[0], said.result());
    assert_eq!(first["run_id"], result["run_id"]);
    let run = shown(&stage, result["run_id"].as_str().unwrap());
    assert_eq!(run["state"], "done");
    assert_eq!(run["outcome"], "met");
    assert_eq!(run["rung"], "tool");
    assert_eq!(run["outputValid"], true);
    assert_eq!(run["prompt"], "Review");
    assert_eq!(run["parsedOutput"], json!({ "summary": "fine", "score": 9 }));
    let output: Value = serde_json::from_str(run["output"].as_str().unwrap()).unwrap();
    assert_eq!(output, run["parsedOutput"]);
    assert_eq!(run["outputErrors"], Value::Null);
    assert_eq!(run["usage"]["input_tokens"], 100);
    assert_eq!(
        (&run["driver"], &run["provider"], &run["model"]),
        (&json!("api"), &json!("anthropic"), &json!("fake"))
    );
}

#[test]
fn the_file_is_for_the_eyes_of_its_owner() {
    let stage = Stage::new([good()]);
    assert_eq!(stage.run(&["Review"]).code, 0);
    let mode =
        |path: &str| std::fs::metadata(stage.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data/airtight"), mode("data/airtight/ledger.db")), (0o700, 0o600));
}

#[test]
fn every_request_is_an_attempt_with_its_verdict() {
    let stage = Stage::new([Turn::status(529), bad(), good()]);
    let said = stage.stream(&["Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    let run = shown(&stage, said.result()["run_id"].as_str().unwrap());
    assert_eq!(run["rung"], "re-ask");
    let log = run["attemptLog"].as_array().unwrap();
    let endings: Vec<&str> = log.iter().map(|it| it["ending"].as_str().unwrap()).collect();
    // A score of 11 is past saving before the answer ends.
    assert_eq!(endings, ["overload", "cancelled", "accepted"]);
    assert_eq!((&run["attempts"], &run["earlyCancels"]), (&json!(2), &json!(1)));
    assert!(log.iter().all(|attempt| attempt["state"] == "closed"));
    assert_eq!(log[1]["violations"][0]["pointer"], "/score");
    assert!(log[1]["output"].as_str().unwrap().contains("too much"), "{}", log[1]);
    // What was accepted is the output of the run, and not stored twice.
    assert_eq!(log[2]["output"], Value::Null);
}

#[test]
fn a_run_that_fails_is_kept_with_what_was_said_and_flagged() {
    let stage = Stage::new([Turn::text("No idea. \u{1b}[31m").forever()]);
    let said = stage.run(&["Review"]);
    assert_eq!(said.code, 1, "{said:?}");
    let run = shown(&stage, &newest(&stage));
    assert_eq!(run["outcome"], "no_answer");
    assert_eq!(run["review"], "flagged");
    assert_eq!(run["outputValid"], false);
    assert_eq!(run["parsedOutput"], Value::Null);
    assert!(run["outputErrors"]["message"].as_str().unwrap().contains("plain text"), "{run}");
    let raw = ask(&stage, &["runs", "show", run["id"].as_str().unwrap(), "--raw"]);
    assert_eq!(raw.stdout, "No idea. \u{1b}[31m");
}

#[test]
fn events_are_those_of_the_stream_without_its_result() {
    let stage = Stage::new([bad(), good()]);
    let said = stage.stream(&["Review"]);
    let id = said.result()["run_id"].as_str().unwrap().to_owned();
    let events = ask(&stage, &["runs", "show", &id, "--events"]);
    let told = said.lines();
    assert_eq!(events.lines(), told[..told.len() - 1]);
}

#[test]
fn nothing_is_kept_where_nobody_wants_it() {
    let stage = Stage::new([good()]);
    let said = stage.stream(&["--no-store", "Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.result().get("run_id"), None);
    assert!(!stage.path("data/airtight/ledger.db").exists());
    let said = ask(&stage, &["runs", "list"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.stderr.contains("hint: record a run first"), "{said:?}");
}

#[test]
fn metadata_leaves_no_payload_in_the_file() {
    let planted = json!({ "summary": "xylograph", "score": 9 });
    let stage = Stage::new([Turn::call("structured_output", planted).usage(7, 3)]);
    let said = stage.stream(&["--store-level", "metadata", "--store-keep", "90d", "Ask zymurgy"]);
    assert_eq!(said.code, 0, "{said:?}");
    let file = bytes(&stage);
    assert!(!holds(&file, "xylograph") && !holds(&file, "zymurgy"));
    let run = shown(&stage, said.result()["run_id"].as_str().unwrap());
    assert_eq!((&run["store"], &run["outcome"]), (&json!("metadata"), &json!("met")));
    let kept = run["expiresAt"].as_i64().unwrap() - run["endedAt"].as_i64().unwrap();
    assert_eq!(kept, 90 * 86_400_000);
}

#[test]
fn keys_are_neither_in_the_ledger_nor_in_its_log() {
    let error = Turn::status(500).message(format!("your key {KEY} is wrong"));
    let leak = Turn::call("read_file", json!({ "path": "notes.txt" }));
    let stage = Stage::new([error, leak, good()]).with("notes.txt", format!("the key is {KEY}"));
    let said = stage.run(&["Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(listed(&stage).len(), 1);
    let file = bytes(&stage);
    assert!(holds(&file, "your key [masked] is wrong"));
    assert!(!holds(&file, KEY));
}

#[test]
fn naughty_strings_come_back_as_they_went_and_are_inert() {
    let naughty = "'; DROP TABLE runs; --\u{0}\u{202e}\u{1b}]52;c;aGk=\u{7}=cmd|' /C calc'!A1";
    let answer = json!({ "summary": naughty, "score": 1 });
    let stage = Stage::new([Turn::call("structured_output", answer.clone())]);
    let said = stage.run(&[&format!("Review {}", naughty.replace('\0', ""))]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(shown(&stage, &newest(&stage))["parsedOutput"], answer);
}

#[test]
fn a_subagent_is_part_of_its_run() {
    let send = Turn::call("agent", json!({ "description": "d", "prompt": "count" }));
    let stage = Stage::new([send, Turn::text("three"), good()]);
    let said = stage.stream(&["Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    let run = shown(&stage, said.result()["run_id"].as_str().unwrap());
    let log = run["attemptLog"].as_array().unwrap();
    let purposes: Vec<&str> = log.iter().map(|it| it["purpose"].as_str().unwrap()).collect();
    assert_eq!(purposes, ["", "subagent", ""]);
}
