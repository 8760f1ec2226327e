//! The wall time counts from the start of the command.

use std::process::Stdio;

use serde_json::json;

use crate::stage::{Said, Stage, await_end, good};

fn out_of_time(said: &Said) {
    let result = said.result();
    assert_eq!((said.code, result["outcome"].as_str()), (55, Some("budget")), "{said:?}");
    assert!(said.stderr.starts_with("error: the budget of 1 s of wall time is spent"), "{said:?}");
}

#[test]
fn it_covers_the_wait_for_stdin() {
    let cases: [&[&str]; 3] = [
        &["--json-schema", "review.json"],
        &["--json-schema", "-", "Review"],
        &["--json-schema", "review.json", "--source", "-", "Review"],
    ];
    for arguments in cases {
        let stage = Stage::new([good()]);
        let flags = ["run", "--output-format", "stream-json", "--max-wall-time", "1"];
        let mut command = stage.command(&[&flags, arguments].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let held_open = child.stdin.take();
        out_of_time(&child.wait_with_output().unwrap().into());
        drop(held_open);
        assert!(stage.fake.requests().is_empty());
    }
}

#[test]
fn it_covers_the_start_of_servers() {
    let mute = json!({ "command": "sh", "args": ["-c", "sleep 600 & echo $! > pid; wait"] });
    let stage = Stage::new([good()])
        .with("mcp.json", json!({ "mcpServers": { "mute": mute } }).to_string());
    out_of_time(&stage.stream(&["--max-wall-time", "1", "--mcp-config", "mcp.json", "Review"]));
    await_end(&stage.pid("pid"));
    assert!(stage.fake.requests().is_empty());
}
