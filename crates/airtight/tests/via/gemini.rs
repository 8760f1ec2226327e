//! What gemini does that others do not.

use airtight_fake::Turn;
use serde_json::json;

use crate::cli::Cli;
use crate::stage::{CONTRACT, Stage, calls, outcome};

/// Gemini exits with 0 and says `success` when an answer ends at the token limit.
#[test]
fn the_lie_of_a_truncated_answer_with_exit_code_0_is_caught() {
    let cut = Turn::text(r#"{"answer":4"#).max_tokens().forever();
    let Some(stage) = Stage::open(Cli::Gemini, [cut]) else { return };
    let said = stage.ask(&["--reasks", "0"]);
    let result = said.result();
    assert_eq!((said.code, &result["structured_output"]), (1, &json!(null)), "{said:?}");
    assert_eq!(calls(&result)[0]["exit_code"], 0, "{said:?}");
    assert_eq!(calls(&result)[0]["succeeded"], true, "{said:?}");
}

/// Gemini takes terminal escapes out of answers unless it is told not to; U+009B begins one.
#[test]
fn what_looks_like_a_terminal_escape_is_kept() {
    let answer = json!({ "answer": 42, "note": "a\u{9b}31mred" });
    let Some(stage) = Stage::open(Cli::Gemini, [Turn::text(answer.to_string()).chunk_chars(100)])
    else {
        return;
    };
    assert_eq!(outcome(&stage.ask(&[]), 0, "met")["structured_output"], answer);
}

/// Gemini exits with 0, says `success` and asks nobody when a question is too long for its model.
#[test]
fn a_question_that_is_never_asked_has_no_answer() {
    let Some(stage) = Stage::open(Cli::Gemini, [Turn::text(r#"{"answer":42}"#)]) else { return };
    let stage = stage.with("work/long.txt", &"much too long ".repeat(400_000));
    let long = std::fs::File::open(stage.path("work/long.txt")).unwrap();
    let child = stage.command(CONTRACT, &["--reasks", "0"]).stdin(long).spawn().unwrap();
    let said = stage.end(child);
    assert!(stage.fake.requests().is_empty());
    outcome(&said, 1, "no_answer");
}
