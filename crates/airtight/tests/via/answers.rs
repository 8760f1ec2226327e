//! What comes of an answer, whichever program brings it.

use airtight_fake::Turn;
use serde_json::json;
use test_case::test_case;

use crate::cli::Cli;
use crate::stage::{CONTRACT, QUESTION, Stage, bare, calls, outcome};

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn an_answer_that_conforms_is_met(cli: Cli) {
    let Some(stage) = Stage::open(cli, [cli.answer(r#"{"answer":42}"#)]) else { return };
    let said = stage.ask(&[]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 42 }));
    assert_eq!(result["attempts"].as_array().unwrap().len(), 1, "{said:?}");
    let [call] = calls(&result) else { panic!("one call: {said:?}") };
    assert_eq!(call["program"], cli.name());
    if cli != Cli::Gemini {
        // Gemini does not tell in its stream, so this is what stands beside the program.
        assert_eq!(call["program_version"], cli.version(), "{said:?}");
    }
    assert_eq!(call["exit_code"], 0, "{said:?}");
    assert!(call["session_id"].as_str().is_some_and(|id| !id.is_empty()), "{said:?}");
    assert_eq!(stage.fake.remaining(), usize::from(cli == Cli::Opencode), "{said:?}");
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
fn a_run_is_on_record_with_every_call_of_the_program(cli: Cli) {
    let Some(stage) = Stage::open(cli, [cli.answer(r#"{"answer":42}"#)]) else { return };
    let result = outcome(&stage.ask(&[]), 0, "met");
    let id = result["run_id"].as_str().unwrap();
    let shown = bare(&stage.path("")).args(["runs", "show", id]).output().unwrap();
    let run: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&run["driver"], &run["prompt"]), (&json!(cli.name()), &json!(QUESTION)));
    assert_eq!(run["parsedOutput"], json!({ "answer": 42 }));
    let log = run["attemptLog"].as_array().unwrap();
    let endings: Vec<_> = log.iter().map(|attempt| &attempt["ending"]).collect();
    assert_eq!(endings, ["accepted"]);
    // Claude tells what it cost, and codex does not.
    assert_eq!(log[0]["costUsd"].is_number(), cli == Cli::Claude, "{run}");
    assert_eq!(log[0]["costUsd"], run["costUsd"], "{run}");
}

/// The contract asks for what no program checks: a date. So it is we who ask again.
#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Gemini)]
pub(crate) fn the_session_goes_on_with_the_violations(cli: Cli) {
    let contract = r#"{
      "type": "object",
      "properties": { "on": { "type": "string", "format": "date" } },
      "required": ["on"],
      "additionalProperties": false
    }"#;
    let turns = [r#"{"on":"Friday, more or less"}"#, r#"{"on":"2026-11-20"}"#];
    let Some(stage) = Stage::open(cli, turns.map(|answer| cli.answer(answer))) else { return };
    let said = stage.ask_by(contract, &[QUESTION]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "on": "2026-11-20" }));
    assert_eq!(result["attempts"].as_array().unwrap().len(), 2, "{said:?}");
    let [first, second] = calls(&result) else { panic!("two calls: {said:?}") };
    assert_eq!(first["session_id"], second["session_id"], "{said:?}");
    let asked = stage.fake.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("Friday, more or less") && asked.contains("/on"), "{asked}");
}

/// Claude and qwen check types themselves, and ask again by themselves.
#[test_case(Cli::Claude, 1)]
#[test_case(Cli::Codex, 2)]
#[test_case(Cli::Qwen, 1)]
#[test_case(Cli::Gemini, 2)]
pub(crate) fn an_answer_that_breaks_the_contract_is_asked_for_again(cli: Cli, num_calls: usize) {
    let turns = [r#"{"answer":"forty-two"}"#, r#"{"answer":42}"#];
    let Some(stage) = Stage::open(cli, turns.map(|answer| cli.answer(answer))) else { return };
    let said = stage.ask(&[]);
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 42 }));
    assert_eq!(calls(&result).len(), num_calls, "{said:?}");
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn prose_is_no_answer(cli: Cli) {
    let prose = Turn::text("The answer is forty-two.").forever();
    let Some(stage) = Stage::open(cli, [prose]) else { return };
    let said = stage.ask(&["--reasks", "0"]);
    let result = outcome(&said, 1, "no_answer");
    assert!(result["error"]["message"].as_str().unwrap().contains("forty-two"), "{said:?}");
}

/// Half a pair stands for no character. Programs pass it on; what the model said is kept as it was.
#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn half_a_surrogate_pair_is_asked_for_again(cli: Cli) {
    let turns = [r#"{"answer":41,"note":"\ud800"}"#, r#"{"answer":42}"#];
    let Some(stage) = Stage::open(cli, turns.map(|answer| cli.answer(answer))) else { return };
    let said = stage.ask(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let last = said.stdout.lines().last().unwrap();
    assert!(last.contains(r#""structured_output":{"answer":42}"#), "{said:?}");
    assert!(said.stdout.contains(r"\ud800"), "{said:?}");
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn nothing_of_a_large_answer_is_lost(cli: Cli) {
    // Line separators and characters of several bytes, since lines and chunks must not be cut there.
    // Numbers, since gemini refuses to hear the same again and again.
    let note = (0..17_000_u64)
        .map(|at| format!("{:x} äöü \u{2028}\u{1f980}", at.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect::<Vec<_>>()
        .concat();
    let answer = json!({ "answer": 42, "note": note });
    let turn = cli.answer(answer.to_string()).chunk_chars(16 * 1024);
    let Some(stage) = Stage::open(cli, [turn]) else { return };
    let result = outcome(&stage.ask(&[]), 0, "met");
    assert!(answer.to_string().len() > 400 * 1024);
    assert!(result["structured_output"] == answer, "{} gave something else", cli.name());
}

/// A question that looks like a command or a flag is a question.
#[test_case(Cli::Claude, "/clear")]
#[test_case(Cli::Codex, "--help")]
#[test_case(Cli::Qwen, "/clear")]
#[test_case(Cli::Gemini, "--version")]
pub(crate) fn every_question_is_asked(cli: Cli, question: &str) {
    let Some(stage) = Stage::open(cli, [cli.answer(r#"{"answer":42}"#)]) else { return };
    let said = stage.ask_by(CONTRACT, &["--", question]);
    outcome(&said, 0, "met");
    let asked = stage.fake.requests().pop().unwrap().body.to_string();
    assert!(asked.contains(question), "{asked}");
}
