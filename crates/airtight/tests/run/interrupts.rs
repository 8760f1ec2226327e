//! Ctrl-C, `kill` and a lost terminal at each stage.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use airtight_fake::Turn;
use serde_json::json;

use crate::mcp;
use crate::stage::{Said, Stage, await_end, good};

const SIGNALS: [&str; 3] = ["INT", "TERM", "HUP"];

/// Leaves a process behind that no polite signal ends.
const STUBBORN: &str = "trap '' INT TERM HUP; sleep 600 & echo $! > pid; wait";

fn server(script: &str) -> String {
    json!({ "mcpServers": { "s": { "command": "sh", "args": ["-c", script] } } }).to_string()
}

pub(crate) fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
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
    for name in SIGNALS {
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
    for name in SIGNALS {
        let command = "sleep 600 & echo $! > pid; wait";
        let shell = Turn::call("run_shell_command", json!({ "command": command }));
        let stage = Stage::new([shell, good()]);
        let child = stage.start(&["--approval-mode", "yolo", "Review"]);
        let left_behind = stage.pid("pid");
        signal(&child, name);
        interrupted(child);
        await_end(&left_behind);
    }
}

#[test]
fn while_servers_start() {
    for name in SIGNALS {
        let stage =
            Stage::new([good()]).with("mcp.json", server("sleep 600 & echo $! > pid; wait"));
        let child = stage.start(&["--mcp-config", "mcp.json", "Review"]);
        let left_behind = stage.pid("pid");
        signal(&child, name);
        interrupted(child);
        await_end(&left_behind);
        assert!(stage.fake.requests().is_empty());
    }
}

#[test]
fn while_the_contract_is_awaited() {
    for name in SIGNALS {
        let stage = Stage::new([good()]);
        let arguments = ["run", "--json-schema", "-", "--output-format", "stream-json", "Review"];
        let mut child = stage.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // More than a pipe holds: once it is written somebody reads, and so signals are caught.
        stdin.write_all(&vec![b' '; 256 * 1024]).unwrap();
        signal(&child, name);
        interrupted(child);
        drop(stdin);
    }
}

#[test]
fn whoever_asked_to_outlive_the_terminal_does() {
    let stage = Stage::new([good().gate(0, "start")]);
    let run = stage.command(&["run", "--json-schema", "review.json", "Review"]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(run.get_program());
    command.args(run.get_args()).current_dir(stage.path("")).env_clear();
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    block_on(stage.fake.gate("start").reached());
    signal(&child, "HUP");
    stage.fake.gate("start").open();
    let said: Said = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn while_the_prompt_is_awaited() {
    let stage = Stage::new([good()]);
    let mut command =
        stage.command(&["run", "--json-schema", "review.json", "--output-format", "json"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
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

#[test]
fn the_second_signal_leaves_nothing_behind() {
    let shell = Turn::call("run_shell_command", json!({ "command": STUBBORN }));
    let hook = format!("[[hooks.PostToolUse]]\ncommand = \"{STUBBORN}\"");
    let stages = [
        Stage::new([shell, good()]),
        Stage::new([Turn::call("list_directory", json!({ "path": "." })), good()])
            .with("config/airtight/airtight.toml", hook),
        Stage::new([Turn::call("mcp__s__hang", json!({})), good()]),
    ];
    for (stage, name) in stages.into_iter().zip(SIGNALS) {
        let stage = mcp::with_server(stage, &json!({}));
        let arguments = ["--approval-mode", "yolo", "--mcp-config", "mcp.json", "Review"];
        let mut child = stage.start(&arguments);
        let left_behind = stage.pid("pid");
        while child.try_wait().unwrap().is_none() {
            signal(&child, name);
            std::thread::yield_now();
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
        await_end(&left_behind);
    }
}
