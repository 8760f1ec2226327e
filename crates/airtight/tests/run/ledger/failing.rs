//! A ledger that fails: nothing is spent, or the answer is told.

use std::process::Command;

use airtight_fake::Turn;
use serde_json::json;

use super::{ask, listed};
use crate::stage::{Said, Stage, good};

fn refused(said: &Said, stage: &Stage, why: &str) {
    assert_eq!(said.code, 4, "{said:?}");
    let result = said.result();
    assert_eq!(result["outcome"], "store");
    assert_eq!(result["total_cost_usd"], 0.0);
    assert!(said.stderr.contains(why), "{said:?}");
    assert!(said.stderr.contains("--no-store"), "{said:?}");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn a_ledger_that_is_none_is_left_as_it_is() {
    let stage =
        Stage::new([good()]).with("data/airtight/ledger.db", "this is my diary\n".repeat(400));
    refused(&stage.stream(&["Review"]), &stage, "damaged or is no database");
    assert!(stage.contents("data")[0].starts_with("this is my diary"));
    assert_eq!(stage.run(&["--no-store", "Review"]).code, 0);
}

#[test]
fn a_place_where_nothing_can_be_written() {
    let stage = Stage::new([good()]);
    let said = stage.stream(&["--database", "/proc/ledger.db", "Review"]);
    refused(&said, &stage, "cannot open the ledger");
}

#[test]
fn a_disk_that_fills_up_costs_the_record_and_not_the_answer() {
    let long = json!({ "summary": "x".repeat(3_000_000), "score": 9 });
    let stage = Stage::new([Turn::call("structured_output", long)]);
    assert_eq!(stage.run(&["--no-store", "Review"]).code, 0);
    let long = json!({ "summary": "x".repeat(3_000_000), "score": 9 });
    let stage = Stage::new([Turn::call("structured_output", long), good()]);
    // No file of this process may grow beyond 2 MB, which is what a full disk looks like.
    let limited = stage.command(&[]);
    let mut command = Command::new("sh");
    let program = limited.get_program().to_str().unwrap();
    let script = format!(
        "ulimit -f 2048; exec {program} run --json-schema review.json --output-format json --no-record Review"
    );
    command.args(["-c", &script]).current_dir(stage.path(""));
    command.env_clear();
    command.envs(limited.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = told.as_array().unwrap().last().unwrap();
    assert_eq!(result["structured_output"]["score"], 9);
    assert_eq!((&result["outcome"], &result["exit_code"]), (&json!("met"), &json!(4)));
    assert!(result["store_error"].as_str().unwrap().contains("not on record"), "{result}");
    assert!(stderr.contains("not on record"), "{stderr}");
    // With room again, it works again, and says what it does not know.
    assert_eq!(stage.run(&["Review"]).code, 0);
    let states: Vec<String> =
        listed(&stage).iter().map(|run| run["state"].as_str().unwrap().to_owned()).collect();
    assert_eq!(states, ["done", "unknown"]);
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let stage = Stage::new([good()]);
    assert_eq!(stage.run(&["Review"]).code, 0);
    let said = ask(&stage, &["runs", "show", "ffffffff"]);
    assert_eq!(said.code, 42, "{said:?}");
    assert!(said.stderr.contains("no run `ffffffff`"), "{said:?}");
    assert!(said.stderr.contains("hint: `airtight runs list`"), "{said:?}");
}
