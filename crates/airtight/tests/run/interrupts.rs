//! Ctrl-C at each stage.

use std::io::Write;
use std::process::{Child, Command};

use airtight_fake::Turn;
use serde_json::json;

use crate::stage::{Said, Stage, good};

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(std::time::Duration::from_mins(1), future).await.expect("in time")
    })
}

fn interrupted(child: Child) -> serde_json::Value {
    let said: Said = child.wait_with_output().unwrap().into();
    let result = said.result();
    assert_eq!((said.code, result["outcome"].as_str()), (130, Some("interrupted")), "{said:?}");
    result
}

#[test]
fn before_the_first_byte() {
    for name in ["INT", "TERM"] {
        let stage = Stage::new([Turn::text("x").gate(0, "start")]);
        let child = stage.start(&["Review"]);
        block_on(stage.fake.gate("start").reached());
        signal(&child, name);
        interrupted(child);
        block_on(stage.fake.next_cancel());
    }
}

#[test]
fn in_the_middle_of_an_answer() {
    let stage = Stage::new([Turn::text("I will look at it.").gate(2, "middle")]);
    let child = stage.start(&["Review"]);
    block_on(stage.fake.gate("middle").reached());
    signal(&child, "INT");
    interrupted(child);
}

#[test]
fn while_a_request_waits_to_be_sent_again() {
    let stage = Stage::new([Turn::status(429).header("retry-after", "60"), good()]);
    let child = stage.start(&["Review"]);
    block_on(stage.fake.next_request());
    signal(&child, "INT");
    interrupted(child);
}

#[test]
fn while_a_tool_runs() {
    let shell = Turn::call("run_shell_command", json!({ "command": "touch started; sleep 600" }));
    let stage = Stage::new([shell, good()]);
    let child = stage.start(&["--approval-mode", "yolo", "Review"]);
    while !stage.path("started").exists() {
        std::thread::yield_now();
    }
    signal(&child, "INT");
    interrupted(child);
}

#[test]
fn while_the_prompt_is_awaited() {
    let stage = Stage::new([good()]);
    let mut command =
        stage.command(&["run", "--json-schema", "review.json", "--output-format", "json"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: once it is written somebody reads, and so signals are caught.
    stdin.write_all(&vec![b'x'; 256 * 1024]).unwrap();
    signal(&child, "INT");
    let said: Said = child.wait_with_output().unwrap().into();
    drop(stdin);
    assert_eq!(said.code, 130, "{said:?}");
    assert!(said.stdout.contains("\"outcome\":\"interrupted\""), "{said:?}");
}

#[test]
fn the_second_signal_kills() {
    // Nobody reads the pipe, so the clean end cannot be printed.
    let stage = Stage::new([Turn::text("x".repeat(8 << 20)).chunk_chars(1 << 20)]);
    let mut child = stage.start(&["--include-partial-messages", "--reasks", "0", "Review"]);
    let stdout = child.stdout.take();
    block_on(stage.fake.next_request());
    signal(&child, "INT");
    while child.try_wait().unwrap().is_none() {
        signal(&child, "INT");
        std::thread::yield_now();
    }
    drop(stdout);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
