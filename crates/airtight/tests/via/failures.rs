//! What comes of a model that cannot be asked, whichever program asks it.

use airtight_fake::Turn;
use test_case::test_case;

use crate::cli::Cli;
use crate::stage::{Stage, calls, outcome};

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn a_key_that_is_refused_is_told_as_such(cli: Cli) {
    let Some(stage) = Stage::open(cli, [Turn::status(401).forever()]) else { return };
    let said = stage.ask(&[]);
    let result = outcome(&said, 41, "auth");
    assert_eq!(calls(&result).len(), 1, "{said:?}");
}

// Qwen sleeps for minutes and says nothing: see `qwen.rs`.
#[test_case(Cli::Claude, 429)]
#[test_case(Cli::Codex, 429)]
#[test_case(Cli::Gemini, 429)]
#[test_case(Cli::Claude, 500)]
#[test_case(Cli::Codex, 500)]
#[test_case(Cli::Gemini, 500)]
pub(crate) fn a_model_that_is_not_available_can_be_tried_later(cli: Cli, status: u16) {
    let Some(stage) = Stage::open(cli, [Turn::status(status).forever()]) else { return };
    outcome(&stage.ask(&[]), 3, "provider");
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn an_answer_that_breaks_off_is_none(cli: Cli) {
    let cut = cli.answer(r#"{"answer":42}"#).chunk_chars(4).cut_after(2).forever();
    let Some(stage) = Stage::open(cli, [cut]) else { return };
    outcome(&stage.ask(&[]), 3, "provider");
}
