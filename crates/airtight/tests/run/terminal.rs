//! What people see who sit in front of it.

use airtight_fake::Turn;
use serde_json::json;

pub(crate) use crate::screen::Terminal;
use crate::stage::{Stage, good};

#[test]
fn progress_is_live_and_the_answer_is_spread_out() {
    let look = Turn::call("list_directory", json!({ "path": "." })).usage(1_000, 20);
    let stage = Stage::new([look.gate(1, "calling"), good().gate(0, "answering")]);
    let mut terminal = Terminal::open();
    let model = ["--model", "anthropic:claude-sonnet-4-5", "Review"];
    let arguments = [&["run", "--json-schema", "review.json"], &model[..]].concat();
    let mut command = stage.command(&arguments);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdout(terminal.device.try_clone().unwrap());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    terminal.shows(&["turn 1", "list_directory"]);
    stage.fake.gate("calling").open();
    terminal.shows(&["turn 2", "1020 tokens", "$0.0033"]);
    stage.fake.gate("answering").open();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let seen = terminal.close();
    let answer = "{\r\n  \"summary\": \"fine\",\r\n  \"score\": 9\r\n}\r\n";
    assert!(seen.ends_with(answer), "{seen:?}");
}

#[test]
fn quiet_runs_show_the_answer_alone() {
    let stage = Stage::new([good()]);
    let terminal = Terminal::open();
    let mut command = stage.command(&["run", "--json-schema", "review.json", "--quiet", "Review"]);
    command.env("TERM", "xterm");
    command.stdout(terminal.device.try_clone().unwrap());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(terminal.close(), "{\r\n  \"summary\": \"fine\",\r\n  \"score\": 9\r\n}\r\n");
}

#[test]
fn a_summary_of_a_transcript_is_a_table() {
    let stage = Stage::new([good()]);
    let terminal = Terminal::open();
    let stream =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts/claude/older.ndjson");
    let mut command = stage.command(&["transcript", stream, "--summary"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdout(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let expected = "\
program  claude 2.1.197 with claude-opus-5-5
outcome  says it succeeded
payload  {\"answer\":42}
session  5e55-01
stopped  tool_use
turns    3
tokens   22 in, 14 out
cost     0.00023 USD
time     0.298 s
lines    7, 7 of them events
";
    assert_eq!(terminal.close().replace("\r\n", "\n"), expected);
}
