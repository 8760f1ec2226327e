//! The MCP client against a real server, over both transports.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use airtight_agent::{CallContext, Environment, Mcp, McpServer, Tool, ToolError};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_case::test_case;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;

/// Examples lie beside the folder of the tests.
fn server_path() -> PathBuf {
    let folder = std::env::current_exe().unwrap();
    folder.parent().unwrap().parent().unwrap().join("examples/mcp_server")
}

fn stdio(name: &str, extra: &Value) -> (String, Value) {
    let mut entry = json!({ "command": server_path(), "timeout": 20_000 });
    entry.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    (name.to_owned(), entry)
}

async fn connect(servers: impl IntoIterator<Item = (String, Value)>) -> Mcp {
    let secret = ("MODEL_API_KEY".into(), "hidden".into());
    let environment = Environment::without_secrets(std::env::vars_os().chain([secret]));
    let servers = McpServer::read(&servers.into_iter().collect::<Value>()).unwrap();
    Mcp::connect(servers, &environment).await
}

fn tool(mcp: &Mcp, server: &str, name: &str) -> Arc<dyn Tool> {
    mcp.tools().find(|(of, tool)| *of == server && tool.spec().name == name).unwrap().1
}

async fn call(tool: &dyn Tool, arguments: &Value) -> Result<String, ToolError> {
    let context = CallContext { call_id: "c".to_owned(), cancel: CancellationToken::new() };
    tool.call(arguments.as_object().unwrap(), &context).await
}

#[tokio::test]
async fn a_program_on_stdio_lends_its_tools() {
    let mcp = connect([stdio("s", &json!({}))]).await;
    assert_eq!(mcp.statuses()[0].failure, None);
    let echo = tool(&mcp, "s", "echo");
    assert_eq!(call(&*echo, &json!({ "a": 1 })).await.unwrap(), r#"echo: {"a":1}"#);
    let failed = call(&*tool(&mcp, "s", "fail"), &json!({})).await;
    assert_eq!(failed, Err(ToolError("fail: {}".to_owned())));
    drop(echo);
    mcp.close().await;
}

#[tokio::test]
async fn a_service_over_http_lends_its_tools() {
    let mut command = tokio::process::Command::new(server_path());
    let mut server = command.arg("http").stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    let mcp = connect([("web".to_owned(), json!({ "url": url }))]).await;
    assert_eq!(mcp.statuses()[0].failure, None);
    let echo = tool(&mcp, "web", "echo");
    assert_eq!(call(&*echo, &json!({})).await.unwrap(), "echo: {}");
}

#[tokio::test]
async fn a_server_that_dies_costs_its_tools_and_no_other() {
    let mcp = connect([stdio("a", &json!({})), stdio("b", &json!({}))]).await;
    assert!(call(&*tool(&mcp, "a", "crash"), &json!({})).await.is_err());
    let gone = call(&*tool(&mcp, "a", "echo"), &json!({})).await.unwrap_err();
    assert!(gone.0.starts_with("MCP server `a` failed"), "{gone}");
    assert!(call(&*tool(&mcp, "b", "echo"), &json!({})).await.is_ok());
}

#[test_case("flood"; "a line longer than any message")]
#[test_case("garbage"; "lines that are no messages")]
#[tokio::test]
async fn what_is_no_message_is_skipped_and_the_answer_behind_it_is_heard(name: &str) {
    let mcp = connect([stdio("s", &json!({}))]).await;
    assert_eq!(call(&*tool(&mcp, "s", name), &json!({})).await.unwrap(), format!("{name}: {{}}"));
    assert_eq!(call(&*tool(&mcp, "s", "echo"), &json!({})).await.unwrap(), "echo: {}");
}

#[test_case("head -c 40000000 /dev/zero"; "a flood without an end of line")]
#[test_case("read line; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{'"; "half a message")]
#[test_case("read line; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":[]}'"; "an answer of another shape")]
#[tokio::test]
async fn a_program_that_talks_nonsense_costs_its_tools_and_no_other(script: &str) {
    let odd = ("odd".to_owned(), json!({ "command": "sh", "args": ["-c", script] }));
    let mcp = connect([odd, stdio("good", &json!({}))]).await;
    let failed: Vec<bool> = mcp.statuses().iter().map(|status| status.failure.is_some()).collect();
    assert_eq!(failed, [true, false]);
    assert_eq!(call(&*tool(&mcp, "good", "echo"), &json!({})).await.unwrap(), "echo: {}");
}

#[tokio::test]
async fn a_call_without_an_answer_ends_in_time() {
    let mcp = connect([stdio("s", &json!({ "timeout": 200 }))]).await;
    let failed = call(&*tool(&mcp, "s", "hang"), &json!({})).await.unwrap_err();
    assert_eq!(failed.0, "MCP server `s` gave no answer within 200 ms");
}

#[tokio::test]
async fn a_cancelled_run_does_not_wait_for_a_server() {
    let mcp = connect([stdio("s", &json!({}))]).await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let context = CallContext { call_id: "c".to_owned(), cancel };
    let hang = tool(&mcp, "s", "hang");
    let ended = hang.call(&serde_json::Map::new(), &context).await;
    assert_eq!(ended, Err(ToolError("cancelled".to_owned())));
}

#[tokio::test]
async fn servers_that_cannot_start_are_named_and_the_others_serve() {
    let missing = ("missing".to_owned(), json!({ "command": "/no/such/program" }));
    let wrong = ("wrong".to_owned(), json!({ "command": "sh", "args": ["-c", "echo hello"] }));
    let mcp = connect([missing, wrong, stdio("good", &json!({}))]).await;
    let failed: Vec<bool> = mcp.statuses().iter().map(|status| status.failure.is_some()).collect();
    assert_eq!(failed, [true, true, false]);
    assert_eq!(call(&*tool(&mcp, "good", "echo"), &json!({})).await.unwrap(), "echo: {}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_speaks_is_given_up() {
    let mcp = connect([stdio("mute", &json!({ "args": ["mute"] }))]).await;
    assert_eq!(mcp.statuses()[0].failure.as_deref(), Some("it did not start within 30 s"));
}

#[tokio::test]
async fn a_tool_keeps_the_name_that_its_server_gave() {
    let mcp = connect([stdio("s", &json!({}))]).await;
    let odd = tool(&mcp, "s", "odd name!");
    assert_eq!(call(&*odd, &json!({})).await.unwrap(), "odd name!: {}");
}

/// A server behind a shell that notes its environment and leaves a child in its group.
fn behind_a_shell(folder: &TempDir, extra: &Value) -> (String, Value) {
    let script = format!(
        "env > env; sleep 600 & echo $! > pid; {} & wait $!",
        server_path().display().to_string() + " <&3"
    );
    let script = format!("exec 3<&0; {script}");
    let mut entry = json!({ "command": "sh", "args": ["-c", script], "cwd": folder.path() });
    entry.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    ("shell".to_owned(), entry)
}

/// Waits until there is no process of this number, or only its remains.
async fn is_gone(pid: &str) {
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_program_sees_no_secrets_but_its_own() {
    let folder = TempDir::new().unwrap();
    let mcp =
        connect([behind_a_shell(&folder, &json!({ "env": { "OWN_API_KEY": "given" } }))]).await;
    assert_eq!(mcp.statuses()[0].failure, None);
    let seen = fs::read_to_string(folder.path().join("env")).unwrap();
    assert!(seen.contains("OWN_API_KEY=given") && !seen.contains("MODEL_API_KEY"), "{seen}");
}

#[tokio::test]
async fn a_dropped_server_goes_with_its_children() {
    let folder = TempDir::new().unwrap();
    let mcp = connect([behind_a_shell(&folder, &json!({}))]).await;
    assert_eq!(mcp.statuses()[0].failure, None);
    drop(mcp);
    is_gone(&fs::read_to_string(folder.path().join("pid")).unwrap()).await;
}

#[tokio::test]
async fn a_closed_server_goes_with_its_children() {
    let folder = TempDir::new().unwrap();
    let mcp = connect([behind_a_shell(&folder, &json!({}))]).await;
    mcp.close().await;
    is_gone(&fs::read_to_string(folder.path().join("pid")).unwrap()).await;
}

#[tokio::test]
async fn more_tools_than_a_model_can_choose_from_are_left_out_and_said() {
    let mcp = connect([stdio("s", &json!({ "args": ["many"] }))]).await;
    let status = &mcp.statuses()[0];
    let said = (status.failure.as_deref(), status.note.as_deref());
    assert_eq!(said, (None, Some("2 tools over the limit are left out")));
    assert_eq!(mcp.tools().count(), 128);
}
