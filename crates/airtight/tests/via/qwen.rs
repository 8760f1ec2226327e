//! What qwen does that others do not.

use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::stage::{GUARD, QUESTION, Stage, calls, outcome};

fn structured(answer: &serde_json::Value) -> Turn {
    Turn::call("structured_output", json!({ "answer": answer }))
}

/// Qwen checks a copy in which `"42"` is a number, and says `success` with the string.
#[test]
fn the_lie_of_a_string_for_an_integer_is_caught() {
    let Some(stage) = Stage::open(Cli::Qwen, [structured(&json!("42"))]) else { return };
    let said = stage.ask(&["--reasks", "0"]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 42 }));
    assert!(result["edits"].to_string().contains("string_to_number"), "{said:?}");
    assert_eq!(calls(&result)[0]["succeeded"], true, "{said:?}");

    let Some(strict) = Stage::open(Cli::Qwen, [structured(&json!("42")).forever()]) else { return };
    let said = strict.ask(&["--reasks", "0", "--strict"]);
    let result = outcome(&said, 1, "attempts_exhausted");
    assert_eq!(result["attempts"][0]["claim"], "success", "{said:?}");
}

/// Qwen checks dates as we do, and no rules; so it is we who ask again. The session has the question, and
/// of the answer only that there was one.
#[test]
fn the_session_of_qwen_goes_on_with_the_violations() {
    let contract = r#"{
      "type": "object",
      "properties": { "from": { "type": "integer" }, "to": { "type": "integer" } },
      "required": ["from", "to"],
      "additionalProperties": false,
      "x-rules": [{ "rule": "self.from <= self.to", "message": "from is not after to" }]
    }"#;
    let turns = [r#"{"from":2,"to":1}"#, r#"{"from":1,"to":2}"#];
    let turns = turns.map(|answer| Cli::Qwen.answer(answer));
    let Some(stage) = Stage::open(Cli::Qwen, turns) else { return };
    let said = stage.ask_by(contract, &[QUESTION]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "from": 1, "to": 2 }));
    let [first, second] = calls(&result) else { panic!("two calls: {said:?}") };
    assert_eq!(first["session_id"], second["session_id"], "{said:?}");
    let asked = stage.fake.requests().pop().unwrap().body.to_string();
    assert!(asked.contains(QUESTION) && asked.contains("from is not after to"), "{asked}");
}

/// Qwen skips the second, so it must not be what is judged.
#[test]
fn the_first_of_two_answers_counts() {
    let both = structured(&json!(42)).then_call("structured_output", json!({ "answer": 43 }));
    let Some(stage) = Stage::open(Cli::Qwen, [both]) else { return };
    let result = outcome(&stage.ask(&[]), 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 42 }));
}

/// Qwen sleeps for a minute before it asks again, ten times, and says nothing.
#[test]
fn a_silent_wait_for_the_model_ends_when_time_is_up() {
    for status in [429, 500] {
        let Some(stage) = Stage::open(Cli::Qwen, [Turn::status(status).forever()]) else { return };
        outcome(&stage.ask(&["--max-wall-time", "5s"]), 55, "budget");
    }
}

#[test]
fn our_hooks_guard_the_tools_of_qwen() {
    let touch = json!({ "command": "touch made", "is_background": false });
    let turns = [Turn::call("run_shell_command", touch), structured(&json!(42))];
    let Some(stage) = Stage::open(Cli::Qwen, turns) else { return };
    let stage = stage.with("home/.config/airtight/airtight.toml", GUARD);
    let said = stage.ask(&["--approval-mode", "yolo"]);
    outcome(&said, 0, "met");
    assert!(!stage.path("work/made").exists());
    let asked = stage.fake.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("not here"), "{asked}");
}
