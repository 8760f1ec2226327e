//! What claude does that others do not.

use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::stage::{CONTRACT, GUARD, QUESTION, Stage, calls, outcome};

fn structured(answer: i64) -> Turn {
    Turn::call("StructuredOutput", json!({ "answer": answer }))
}

/// Claude exits with 0, says `success` and `is_error: false`, and has no payload.
#[test]
fn the_lie_of_a_success_without_payload_is_caught() {
    let prose = Turn::text("It is forty-two, I am sure.").forever();
    let Some(stage) = Stage::open(Cli::Claude, [prose]) else { return };
    let said = stage.ask(&["--reasks", "0"]);
    let result = outcome(&said, 1, "no_answer");
    assert_eq!(calls(&result)[0]["exit_code"], 0, "{said:?}");
    assert_eq!(calls(&result)[0]["succeeded"], true, "{said:?}");
}

/// CO-10: claude has answered, and would wait for its task for as long as that takes.
#[test]
fn a_task_in_the_background_is_not_waited_for_and_does_not_survive() {
    let task = json!({
        "command": "sleep 600",
        "description": "wait",
        "run_in_background": true,
    });
    let turns = [Turn::call("Bash", task), structured(42)];
    let Some(stage) = Stage::open(Cli::Claude, turns) else { return };
    let said = stage.ask(&["--via-arg=--allowedTools=Bash"]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 42 }));
    assert!(calls(&result)[0]["warnings"].to_string().contains("exit-forced"), "{said:?}");
}

/// CO-11: the first result comes while a subagent is at work, the second when it is done.
#[test]
fn the_last_of_two_results_counts() {
    let task = json!({
        "description": "look",
        "prompt": "look around",
        "subagent_type": "general-purpose",
    });
    let waiting = || Turn::text("Still waiting on the subagent.");
    let turns = [
        Turn::text("I am the subagent.").when_lacks(QUESTION),
        Turn::call("Task", task),
        waiting(),
        // Claude demands the tool once.
        waiting(),
        structured(43),
    ];
    let Some(stage) = Stage::open(Cli::Claude, turns) else { return };
    let said = stage.ask(&[]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 43 }));
    let [call] = calls(&result) else { panic!("one call: {said:?}") };
    assert_eq!(call["num_results"], 2, "{said:?}");
}

/// Claude refuses such a schema, or drops it without a word if it is older.
#[test]
fn a_contract_as_generators_write_it_is_understood() {
    let contract = r#"{
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Answer",
      "type": "object",
      "properties": { "answer": { "type": "integer", "format": "int64" } },
      "required": ["answer"],
      "x-origin": "generated"
    }"#;
    let Some(stage) = Stage::open(Cli::Claude, [structured(42)]) else { return };
    outcome(&stage.ask_by(contract, &[QUESTION]), 0, "met");
}

#[test]
fn our_hooks_guard_the_tools_of_claude() {
    let touch = json!({ "command": "touch made", "description": "make a file" });
    let turns = [Turn::call("Bash", touch), structured(42)];
    let Some(stage) = Stage::open(Cli::Claude, turns) else { return };
    let stage = stage.with("home/.config/airtight/airtight.toml", GUARD);
    let said = stage.ask(&["--via-arg=--allowedTools=Bash"]);
    outcome(&said, 0, "met");
    assert!(!stage.path("work/made").exists());
    let asked = stage.fake.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("not here"), "{asked}");
}

/// Claude itself asks again for what it refuses, up to five times; it does so as often as we would.
#[test]
fn a_model_that_never_conforms_is_given_up() {
    let wrong = Turn::call("StructuredOutput", json!({ "answer": "forty-two" })).forever();
    let Some(stage) = Stage::open(Cli::Claude, [wrong]) else { return };
    let said = stage.ask_by(CONTRACT, &["--reasks", "1", QUESTION]);
    let result = outcome(&said, 1, "attempts_exhausted");
    let attempts = result["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 1, "{said:?}");
    assert_eq!(attempts[0]["violations"][0]["keyword"], "type", "{said:?}");
    assert_eq!(result["review"], true, "{said:?}");
    assert!(result["total_cost_usd"].as_f64().is_some_and(|cost| cost > 0.0), "{said:?}");
}
