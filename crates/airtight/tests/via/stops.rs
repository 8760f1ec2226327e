//! Programs that are stopped, with everything that they have started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use airtight_fake::Turn;
use serde_json::json;
use test_case::test_case;

use crate::cli::Cli;
use crate::processes::survivors;
use crate::stage::{CONTRACT, QUESTION, Said, Stage, bare, outcome};

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

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
    signal(&child, "INT");
    outcome(&stage.end(child), 130, "interrupted");
}

#[test]
fn a_second_interrupt_keeps_the_result() {
    let Some(stage) = Stage::open(Cli::Claude, [held(Cli::Claude)]) else { return };
    let child = stage.start(&[]);
    stage.await_gate("held");
    signal(&child, "INT");
    signal(&child, "TERM");
    outcome(&stage.end(child), 130, "interrupted");
}

#[test_case(Cli::Claude)]
#[test_case(Cli::Codex)]
#[test_case(Cli::Qwen)]
#[test_case(Cli::Gemini)]
fn nothing_outlives_a_run_that_is_killed(cli: Cli) {
    let Some(stage) = Stage::open(cli, [held(cli)]) else { return };
    let mut child = stage.start(&[]);
    stage.await_gate("held");
    signal(&child, "KILL");
    child.wait().unwrap();
    let patience = Instant::now() + Duration::from_mins(1);
    while !survivors(&stage.path("")).is_empty() {
        assert!(Instant::now() < patience, "{:?}", survivors(&stage.path("")));
        std::thread::sleep(Duration::from_millis(10));
    }
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

/// Stands in for claude: it has answered at once, and would stay for ten minutes.
const LINGERING: &str = r#"#!/bin/sh
echo '{"type":"system","subtype":"init","session_id":"s","tools":["StructuredOutput"]}'
echo '{"type":"result","subtype":"success","is_error":false,"structured_output":{"answer":42}}'
sleep 600
"#;

#[test]
fn an_answer_counts_although_time_is_up_before_the_program_exits() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    let program = folder.path().join("claude");
    fs::write(&program, LINGERING).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bare(folder.path());
    command.current_dir(folder.path()).args(["run", "--via", "claude", "--via-path", "claude"]);
    command.args(["--json-schema", CONTRACT, "--output-format", "stream-json"]);
    // Less than the five seconds in which a program that has answered may exit by itself.
    let said: Said = command.args(["--max-wall-time", "3s", QUESTION]).output().unwrap().into();
    let result = outcome(&said, 0, "met");
    assert_eq!(result["structured_output"], json!({ "answer": 42 }));
    assert_eq!(survivors(folder.path()), Vec::<String>::new(), "{said:?}");
}
