//! What the model may do, end to end.

use airtight_fake::Turn;
use serde_json::json;

use crate::stage::{Stage, good};

#[test]
fn denied_calls_are_listed_in_the_result() {
    let write = Turn::call("write_file", json!({ "path": "a.txt", "content": "x" }));
    let stage = Stage::new([write, good()]);
    let result = stage.stream(&["Review"]).result();
    assert_eq!(result["outcome"], "met");
    assert_eq!(result["permission_denials"][0]["tool_name"], "write_file");
    assert_eq!(result["permission_denials"][0]["tool_input"]["path"], "a.txt");
    assert!(!stage.path("a.txt").exists());
}

#[test]
fn what_is_allowed_is_done() {
    let write = || Turn::call("write_file", json!({ "path": "a.txt", "content": "x" }));
    for flags in [["--approval-mode", "auto-edit"], ["--allow-tool", "write_file"]] {
        let stage = Stage::new([write(), good()]);
        let result = stage.stream(&[flags[0], flags[1], "Review"]).result();
        assert_eq!((&result["outcome"], &result["num_tool_calls"]), (&json!("met"), &json!(1)));
        assert!(stage.path("a.txt").exists());
    }
}

#[test]
fn a_denied_terminal_tool_is_not_offered() {
    let stage = Stage::new([Turn::text("Fine.").forever()]);
    let said = stage.stream(&["--exclude-tool", "structured_output", "--mode", "tool", "Review"]);
    let result = said.result();
    assert_ne!(said.code, 0);
    assert_eq!(result["is_error"], true);
    for request in stage.fake.requests() {
        assert!(!request.body["tools"].to_string().contains("\"structured_output\""));
    }
}

#[test]
fn a_hook_of_the_user_can_object() {
    let look = Turn::call("list_directory", json!({ "path": "." }));
    let hook = "[[hooks.PreToolUse]]\nmatcher = \"list_directory\"\ncommand = \"echo not now >&2; exit 2\"";
    let stage = Stage::new([look, good()]).with("config/airtight/airtight.toml", hook);
    let said = stage.stream(&["Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = said.lines().into_iter().find(|line| line["type"] == "user").unwrap();
    let result = &told["message"]["content"][0];
    assert!(result["content"].as_str().unwrap().contains("not now"), "{result}");
    assert_eq!(result["is_error"], true);
}

#[test]
fn one_shot_runs_have_no_tools() {
    let stage = Stage::new([good()]);
    assert_eq!(stage.run(&["--no-tools", "--mode", "tool", "Review"]).code, 0);
    let tools = stage.fake.requests()[0].body["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["structured_output"]);
}

#[test]
fn the_sandbox_holds_commands_or_the_run_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let escape = outside.path().join("escaped");
    let command = format!("echo x > inside; echo x > '{}'; true", escape.display());
    let stage =
        Stage::new([Turn::call("run_shell_command", json!({ "command": command })), good()]);
    let said = stage.stream(&["--sandbox", "--approval-mode", "yolo", "Review"]);
    let result = said.result();
    assert!(!escape.exists());
    match said.code {
        0 => assert!(stage.path("inside").exists(), "{said:?}"),
        // A kernel without landlock.
        _ => assert_eq!((said.code, &result["outcome"]), (44, &json!("sandbox"))),
    }
}

#[test]
fn servers_that_cannot_be_read_refuse_the_run_and_dead_ones_cost_their_tools() {
    let stage = Stage::new([good()])
        .with("bad.json", "{\"mcpServers\": {\"a\": {}}}")
        .with("dead.json", "{\"mcpServers\": {\"a\": {\"command\": \"/no/such/program\"}}}");
    assert_eq!(stage.stream(&["--mcp-config", "bad.json", "Review"]).code, 52);
    assert_eq!(stage.stream(&["--mcp-config", "missing.json", "Review"]).code, 52);
    let said = stage.stream(&["--mcp-config", "dead.json", "Review"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.lines()[0]["mcp_servers"], json!([{ "name": "a", "status": "failed" }]));
    assert!(said.stderr.contains("warning: MCP server `a`"), "{said:?}");
}
