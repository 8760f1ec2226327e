//! The one way to call a tool, whatever the tool does.

use std::sync::Arc;

use airtight_core::message::{Enforcement, ToolSpec, ToolStatus};
use serde_json::{Map, Value, json};
use test_case::test_case;
use tokio_util::sync::CancellationToken;

use super::{CallContext, Called, Denial, DeniedBy, Effect, Note, Tool, ToolError, Toolbox};
use crate::hooks::Hooks;
use crate::permission::{ApprovalMode, Permissions};
use crate::tools::RESULT_LIMIT_BYTES;
use crate::tools::trial::{Trial, call};

/// A tool that behaves as its name says.
#[derive(Debug)]
struct Fake {
    spec: ToolSpec,
}

impl Fake {
    fn named(name: &str) -> Arc<dyn Tool> {
        Self::with(name, json!({"type": "object"}))
    }

    fn with(name: &str, parameters: Value) -> Arc<dyn Tool> {
        let (name, description, parameters) = (name.to_owned(), String::new(), parameters.into());
        let spec = ToolSpec { name, description, parameters, enforcement: Enforcement::Hint };
        Arc::new(Self { spec })
    }
}

impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> Effect {
        Effect::Executes
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        context: &'a CallContext,
    ) -> Called<'a> {
        Box::pin(async move {
            match self.spec.name.as_str() {
                "panics" => panic!("with a secret"),
                "hangs" => std::future::pending().await,
                "heeds" => {
                    context.cancel.cancelled().await;
                    Ok("heard".to_owned())
                }
                "floods" => Ok("x".repeat(1_000_000)),
                "floods_errors" => Err(ToolError("\u{1}".repeat(1_000_000))),
                _ => Ok(Value::Object(arguments.clone()).to_string()),
            }
        })
    }
}

fn yolo() -> Arc<Permissions> {
    Arc::new(Permissions::new(ApprovalMode::Yolo))
}

fn toolbox(names: &[&str]) -> Toolbox {
    let tools = names.iter().map(|name| Fake::named(name));
    Toolbox::builder().permissions(yolo()).tools(tools).build()
}

async fn say(toolbox: &Toolbox, name: &str, arguments: &str) -> (String, ToolStatus) {
    let none = CancellationToken::new();
    let result = toolbox.call(&call(name, arguments), &Hooks::default(), &none).await;
    assert_eq!((result.call_id, result.name), (format!("call-{name}"), name.to_owned()));
    (result.content, result.status)
}

fn names(toolbox: &Toolbox) -> Vec<String> {
    toolbox.specs().into_iter().map(|spec| spec.name).collect()
}

#[test]
fn the_standard_tools_come_in_a_fixed_order_with_closed_schemas() {
    let trial = Trial::new();
    let specs = trial.toolbox.specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "read_file",
            "list_directory",
            "glob",
            "grep",
            "write_file",
            "edit",
            "run_shell_command",
            "web_fetch"
        ]
    );
    for spec in &specs {
        assert_eq!(spec.parameters["additionalProperties"], false);
        for (key, property) in spec.parameters["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{} {key}", spec.name);
        }
        airtight_core::Contract::compile(Value::clone(&spec.parameters)).unwrap();
    }
    assert_eq!(trial.toolbox.notes(), []);
}

#[test]
fn tools_of_servers_come_last_by_name_and_shadow_nothing() {
    let toolbox = Toolbox::builder()
        .permissions(yolo())
        .mcp("zed", Fake::named("read_file"))
        .mcp("evil", Fake::named("structured_output"))
        .mcp("zed", Fake::named("read_file"))
        .tool(Fake::named("read_file"))
        .tool(Fake::named("structured_output"))
        .build();
    assert_eq!(
        names(&toolbox),
        [
            "read_file",
            "tool__structured_output",
            "mcp__evil__structured_output",
            "mcp__zed__read_file"
        ]
    );
    assert_eq!(toolbox.notes(), [Note::Duplicate("mcp__zed__read_file".to_owned())]);
}

#[tokio::test]
async fn a_disabled_qualified_name_is_neither_shown_nor_called() {
    let disabled = "mcp__evil__structured_output".parse().unwrap();
    let permissions = Permissions::new(ApprovalMode::Yolo).exclude([disabled]);
    let toolbox = Toolbox::builder()
        .permissions(Arc::new(permissions))
        .mcp("evil", Fake::named("structured_output"))
        .build();
    assert_eq!(names(&toolbox), Vec::<String>::new());
    let (said, status) = say(&toolbox, "mcp__evil__structured_output", "{}").await;
    assert!(said.starts_with("permission denied") && status == ToolStatus::Failed);
    let (said, _) = say(&toolbox, "structured_output", "{}").await;
    assert!(said.starts_with("there is no tool"), "{said}");
}

#[test_case("" => "{}"; "no arguments are an empty object")]
#[test_case(" {\"n\": 1} " => "{\"n\":1}")]
#[test_case("{\"n\": 1" => "FAILED the arguments are not JSON"; "cut off")]
#[test_case("{\"n\": 1} {}" => "FAILED the arguments are not JSON"; "two values")]
#[test_case("{'n': 1}" => "FAILED the arguments are not JSON"; "nothing is repaired")]
#[test_case("{\"n\": \"1\"}" => "FAILED the arguments do not fit the tool's schema"; "nothing is coerced")]
#[test_case("{\"n\": 1, \"n\": 2}" => "FAILED the arguments do not fit the tool's schema"; "a key twice")]
#[test_case("{\"m\": 1}" => "FAILED the arguments do not fit the tool's schema"; "an unknown key")]
#[test_case("[]" => "FAILED the arguments do not fit the tool's schema"; "no object")]
#[tokio::test]
async fn arguments_are_judged_as_they_were_written(arguments: &str) -> String {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "additionalProperties": false,
    });
    let toolbox = Toolbox::builder().permissions(yolo()).tool(Fake::with("echo", schema)).build();
    let (said, status) = say(&toolbox, "echo", arguments).await;
    match status {
        ToolStatus::Done => said,
        ToolStatus::Failed | ToolStatus::Skipped => {
            format!("FAILED {}", said.split(':').next().unwrap())
        }
    }
}

#[tokio::test]
async fn every_violation_is_told_with_its_place() {
    let trial = Trial::new();
    let said = trial.failed("read_file", json!({"offset": 0, "colour": "red"})).await;
    assert_eq!(said.lines().count(), 4, "{said}");
    assert!(said.contains("- /offset:") && said.contains("path") && said.contains("colour"));
}

#[tokio::test]
async fn a_schema_that_cannot_be_used_leaves_the_tool_usable() {
    let odd = Fake::with("odd", json!({"type": 42}));
    let toolbox = Toolbox::builder().permissions(yolo()).mcp("s", odd).build();
    assert_eq!(say(&toolbox, "mcp__s__odd", "{\"a\":1}").await.0, "{\"a\":1}");
    let (said, status) = say(&toolbox, "mcp__s__odd", "[1]").await;
    assert_eq!(
        (said.as_str(), status),
        ("the arguments are not a JSON object", ToolStatus::Failed)
    );
}

#[tokio::test]
async fn a_panic_is_a_failure_without_its_message() {
    let (said, status) = say(&toolbox(&["panics"]), "panics", "{}").await;
    assert_eq!((said.as_str(), status), ("the tool failed unexpectedly", ToolStatus::Failed));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_is_given_up() {
    let (said, status) = say(&toolbox(&["hangs"]), "hangs", "{}").await;
    let expected = "the tool did not answer within 630 s";
    assert_eq!((said.as_str(), status), (expected, ToolStatus::Failed));
}

#[test_case("heeds" => "heard"; "a tool that listens ends by itself")]
#[test_case("hangs" => "cancelled: the run has ended"; "one that does not is left")]
#[tokio::test(start_paused = true)]
async fn cancelling_ends_a_call(name: &str) -> String {
    let toolbox = toolbox(&[name]);
    let cancel = CancellationToken::new();
    let (call, hooks) = (call(name, "{}"), Hooks::default());
    let cancelling = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(toolbox.call(&call, &hooks, &cancel), cancelling);
    result.content
}

#[tokio::test]
async fn nothing_starts_after_the_run_has_ended() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = toolbox(&["echo"]).call(&call("echo", "{}"), &Hooks::default(), &cancel).await;
    assert_eq!(result.content, "cancelled: the run has ended");
}

#[test_case("floods")]
#[test_case("floods_errors")]
#[tokio::test]
async fn every_result_is_bounded(name: &str) {
    let (said, _) = say(&toolbox(&[name]), name, "{}").await;
    assert!(serde_json::to_string(&said).unwrap().len() <= RESULT_LIMIT_BYTES);
    assert!(said.contains("bytes left out here]"));
}

#[tokio::test]
async fn denials_are_kept_in_order_and_shared_by_parts_of_a_toolbox() {
    let trial = Trial::with(Permissions::default());
    let part = trial.toolbox.only(|name| name != "grep");
    let (said, _) = say(&part, "write_file", "{\"path\":\"x\",\"content\":\"y\"}").await;
    let expected =
        "permission denied: approval mode default does not allow this call, and no rule does";
    assert_eq!(said, expected);
    let (_, status) = say(&trial.toolbox, "run_shell_command", "{\"command\":\"ls\"}").await;
    assert_eq!(status, ToolStatus::Failed);
    let denial = |tool: &str, arguments: &str| Denial {
        tool: tool.to_owned(),
        call_id: format!("call-{tool}"),
        arguments: arguments.to_owned(),
        by: DeniedBy::Permission,
    };
    assert_eq!(
        trial.toolbox.denials(),
        [
            denial("write_file", "{\"path\":\"x\",\"content\":\"y\"}"),
            denial("run_shell_command", "{\"command\":\"ls\"}"),
        ]
    );
    assert!(!trial.path("x").exists());
}

#[test]
fn a_headless_model_is_shown_what_it_may_call() {
    let shown = |mode| names(&Trial::with(Permissions::new(mode)).toolbox);
    let reading = ["read_file", "list_directory", "glob", "grep"];
    assert_eq!(shown(ApprovalMode::Plan), reading);
    assert_eq!(shown(ApprovalMode::Default), reading);
    assert_eq!(shown(ApprovalMode::AutoEdit)[4..], ["write_file", "edit"]);
}
