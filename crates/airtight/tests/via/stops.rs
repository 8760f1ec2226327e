//! Programs that are stopped, with everything that they have started.

use std::process::Command;

use airtight_fake::Turn;
use test_case::test_case;

use crate::cli::Cli;
use crate::stage::{Stage, outcome};

/// An answer that waits at a gate.
fn held(cli: Cli) -> Turn {
    cli.answer(r#"{"answer":42}"#).gate(0, "held").forever()
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn an_interrupt_stops_the_program(cli: Cli) {
    let Some(stage) = Stage::open(cli, [held(cli)]) else { return };
    let child = stage.start(&[]);
    stage.await_gate("held");
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    outcome(&stage.end(child), 130, "interrupted");
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
pub(crate) fn time_that_is_up_stops_the_program(cli: Cli) {
    let Some(stage) = Stage::open(cli, [held(cli)]) else { return };
    // Longer than any of them takes to ask its model.
    outcome(&stage.ask(&["--max-wall-time", "5s"]), 55, "budget");
}
