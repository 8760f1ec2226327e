//! What codex does that others do not.

use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::stage::{Stage, calls, outcome};

/// Codex exits with 0 and says `turn.completed`, whatever its model said.
#[test]
fn the_lie_of_prose_with_exit_code_0_is_caught() {
    for prose in ["The answer is forty-two.", "", r#"{"answer":"forty-two"}"#] {
        let Some(stage) = Stage::open(Cli::Codex, [Turn::text(prose).forever()]) else { return };
        let said = stage.ask(&["--reasks", "0"]);
        let result = said.result();
        assert_eq!((said.code, &result["structured_output"]), (1, &json!(null)), "{said:?}");
        assert_eq!(calls(&result)[0]["exit_code"], 0, "{said:?}");
        assert_eq!(calls(&result)[0]["error"], json!(null), "{said:?}");
    }
}

#[test]
fn an_answer_at_the_token_limit_is_truncated() {
    let cut = Turn::text(r#"{"answer":4"#).max_tokens().forever();
    let Some(stage) = Stage::open(Cli::Codex, [cut]) else { return };
    let said = stage.ask(&["--reasks", "0"]);
    let result = said.result();
    assert_eq!(result["structured_output"], json!(null), "{said:?}");
    assert_ne!(said.code, 0);
}

#[test]
fn commands_of_codex_write_nothing_unless_allowed() {
    for (mode, made) in [("default", false), ("auto-edit", true)] {
        let turns = [
            Turn::call("exec_command", json!({ "cmd": "touch made" })),
            Turn::text(r#"{"answer":42}"#),
        ];
        let Some(stage) = Stage::open(Cli::Codex, turns) else { return };
        let said = stage.ask(&["--approval-mode", mode]);
        outcome(&said, 0, "met");
        assert_eq!(stage.path("work/made").exists(), made, "{mode}: {said:?}");
    }
}
