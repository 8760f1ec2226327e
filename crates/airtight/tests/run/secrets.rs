//! Secrets show nowhere, wherever they come from and however the run ends.

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{Said, Stage, good};
use crate::{loopback, mcp};

/// Known only from the settings of a server.
const SECRET: &str = "hunter2-of-a-server";

/// Runs with everything that is ever told, told.
fn run(stage: Stage, base_url: Option<&str>) -> (Said, Stage) {
    let stage = mcp::with_server(stage, &json!({ "SERVICE_TOKEN": SECRET }));
    let flags = ["--output-format", "stream-json", "--mcp-config", "mcp.json", "Review"];
    let mut command =
        stage.command(&[&["run", "--json-schema", "review.json"], &flags[..]].concat());
    // What a model says is kept exactly, unless it is to be masked.
    command.env("AIRTIGHT_LOG", "trace").env("AIRTIGHT_STORE_LEVEL", "masked");
    if let Some(url) = base_url {
        command.env("ANTHROPIC_BASE_URL", url);
    }
    (command.output().unwrap().into(), stage)
}

/// Asserts that output, log and transcript were written, and that none of them has the secret.
fn hides(said: &Said, stage: &Stage) {
    assert!(!said.stdout.contains(SECRET), "{}", said.stdout);
    assert!(said.stderr.contains("\"level\":"), "{}", said.stderr);
    assert!(!said.stderr.contains(SECRET), "{}", said.stderr);
    assert!(stage.contents("data").iter().all(|kept| !kept.contains(SECRET)));
    let kept = stage.contents("data/airtight/runs");
    assert_eq!(kept.len(), 1);
    assert!(kept[0].contains("[masked]") && !kept[0].contains(SECRET), "{}", kept[0]);
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// A thought that only the provider can read, and a call.
fn sealed_thought() -> Turn {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let sealed = json!({ "type": "redacted_thinking", "data": format!("sealed {SECRET}") });
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {} });
    let arguments = json!({ "path": "notes.txt" }).to_string();
    let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": sealed }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": call }),
        json!({ "type": "content_block_delta", "index": 1, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 1 }),
        json!({
            "type": "message_delta",
            "delta": { "stop_reason": "tool_use", "stop_sequence": null },
            "usage": { "output_tokens": 2 },
        }),
        json!({ "type": "message_stop" }),
    ];
    Turn::raw(events.iter().map(event))
}

#[test]
fn in_thoughts_sealed_thoughts_texts_and_results_of_tools() {
    let thought = Turn::say()
        .then_thinking(format!("I must not say {SECRET}"))
        .then_text(format!("Oh: {SECRET}"))
        .then_call("grep", json!({ "pattern": SECRET }));
    let stage = Stage::new([sealed_thought(), thought, good()])
        .with("notes.txt", format!("the secret is {SECRET}"));
    let (said, stage) = run(stage, None);
    assert_eq!(said.code, 0, "{said:?}");
    hides(&said, &stage);
    for kind in ["opaque", "thinking", "text", "tool_use"] {
        let blocks = said.lines().into_iter().filter(|line| line["type"] == "assistant");
        let mut blocks =
            blocks.flat_map(|line| line["message"]["content"].as_array().unwrap().clone());
        assert!(blocks.any(|block| block["type"] == kind), "{kind}: {}", said.stdout);
    }
}

#[test]
fn in_what_a_provider_says_when_it_fails() {
    let body = json!({
        "type": "error",
        "error": { "type": format!("code-{SECRET}"), "message": format!("{SECRET} is bad") },
    });
    for status in ["400 Bad Request", "500 Internal Server Error"] {
        let address = loopback::server(status, "application/json", &body.to_string());
        let (said, stage) = run(Stage::new([good()]), Some(&format!("http://{address}")));
        assert_eq!(said.code, 3, "{said:?}");
        hides(&said, &stage);
        assert!(said.result()["error"]["message"].as_str().unwrap().contains("[masked]"));
    }
}

#[test]
fn in_the_last_words_of_a_run_that_fails() {
    let (said, stage) = run(Stage::new([Turn::text(format!("It is {SECRET}.")).forever()]), None);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.result()["raw"], "It is [masked].");
    assert!(!said.stdout.contains(SECRET) && !said.stderr.contains(SECRET), "{said:?}");
    assert!(stage.contents("data").iter().all(|kept| !kept.contains(SECRET)));
}

#[test]
fn in_violations_and_warnings() {
    let token = format!("ghp_{}", "0123456789abcdefghij".repeat(2));
    let config = format!(
        "[[hooks.PreToolUse]]\ncommand = \"exit 1 # {} {token}\"\n",
        "some words before it, ".repeat(4)
    );
    let wrong = Turn::text(json!({ "summary": 1, "score": SECRET }).to_string());
    let shell = Turn::call("read_file", json!({ "path": "notes.txt" }));
    let stage = Stage::new([shell, wrong, good()]).with("notes.txt", "fine");
    let stage = stage.with("config/airtight/airtight.toml", config);
    let stage = mcp::with_server(stage, &json!({ "SERVICE_TOKEN": SECRET }));
    let flags = ["--output-format", "stream-json", "--mcp-config", "mcp.json", "x"];
    let mut command =
        stage.command(&[&["run", "--json-schema", "review.json"], &flags[..]].concat());
    let said: Said = command.env("AIRTIGHT_STORE_LEVEL", "masked").output().unwrap().into();
    assert!(said.stderr.contains("warning: hook"), "{said:?}");
    assert!(said.stdout.contains("`[masked]`"), "{said:?}");
    for place in [said.stdout.clone(), said.stderr.clone()].iter().chain(&stage.contents("data")) {
        assert!(!place.contains(SECRET) && !place.contains("ghp_"), "{place}");
    }
}
