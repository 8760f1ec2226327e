//! Hooks, run as real commands.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use airtight_agent::{Environment, Hook, HookEvent, Hooks, Veto};
use airtight_core::message::{ToolCall, ToolResult, ToolStatus};
use serde_json::{Value, json};
use tempfile::TempDir;

fn call(name: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        id: "call_1".to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_string(),
        signature: None,
    }
}

/// An environment with a secret, scrubbed as for every run.
fn environment() -> Environment {
    let secret = ("MODEL_API_KEY".into(), "hidden".into());
    Environment::without_secrets(std::env::vars_os().chain([secret]))
}

/// Waits until there is no process of this number, or only its remains.
async fn is_gone(pid: &str) {
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

fn hooks(folder: &Path, list: &[(HookEvent, Option<&str>, &str)]) -> Hooks {
    let list = list.iter().map(|(event, matcher, command)| {
        let mut hook = Hook::new(*event, *matcher, *command).unwrap();
        hook.timeout = Duration::from_secs(20);
        hook
    });
    Hooks::new(list.collect(), "session", folder.to_owned(), environment())
}

#[tokio::test]
async fn exit_2_objects_in_the_words_of_the_hook() {
    let folder = TempDir::new().unwrap();
    let hooks =
        hooks(folder.path(), &[(HookEvent::PreToolUse, None, "echo not today >&2; exit 2")]);
    let answer = hooks.before(&call("write_file", &json!({}))).await;
    assert_eq!(answer, Err(Veto("not today".to_owned())));
}

#[tokio::test]
async fn other_exits_are_no_objection() {
    let folder = TempDir::new().unwrap();
    for command in ["exit 0", "exit 1", "kill -9 $$", "no-such-command-here"] {
        let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, command)]);
        assert_eq!(hooks.before(&call("edit", &json!({}))).await, Ok(()), "{command}");
    }
}

/// Returns what is told of hooks that failed.
fn told(hooks: &Hooks) -> Vec<String> {
    hooks.faults().take().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_hook_that_fails_is_told_once_without_its_words() {
    let folder = TempDir::new().unwrap();
    let commands = ["exit 0", "echo payload >&2; exit 1", "no-such-command-here", "kill -9 $$"];
    let hooks = hooks(folder.path(), &commands.map(|it| (HookEvent::PreToolUse, None, it)));
    hooks.before(&call("edit", &json!({}))).await.unwrap();
    assert_eq!(
        told(&hooks),
        [
            "hook `echo payload >&2; exit 1` (PreToolUse) exited with 1, which counts as no objection",
            "hook `no-such-command-here` (PreToolUse) exited with 127, which counts as no objection",
            "hook `kill -9 $$` (PreToolUse) was ended by a signal, which counts as no objection",
        ]
    );
    hooks.before(&call("edit", &json!({}))).await.unwrap();
    assert_eq!(told(&hooks), Vec::<String>::new());
}

#[tokio::test]
async fn an_objection_is_no_failure() {
    let folder = TempDir::new().unwrap();
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, "exit 2")]);
    assert!(hooks.before(&call("edit", &json!({}))).await.is_err());
    assert_eq!(told(&hooks), Vec::<String>::new());
}

#[tokio::test]
async fn a_guard_can_be_made_to_fail_closed() {
    let folder = TempDir::new().unwrap();
    for command in ["no-such-command-here || exit 2", "false || exit 2"] {
        let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, command)]);
        assert!(hooks.before(&call("edit", &json!({}))).await.is_err(), "{command}");
    }
}

#[tokio::test]
async fn a_hook_sees_the_raw_arguments_also_of_the_terminal_tool() {
    let folder = TempDir::new().unwrap();
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, "cat > seen.json")]);
    hooks.before(&call("structured_output", &json!({ "secret": 1 }))).await.unwrap();
    let seen: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("seen.json")).unwrap())
            .unwrap();
    assert_eq!(
        seen,
        json!({
            "hook_event_name": "PreToolUse",
            "session_id": "session",
            "cwd": folder.path(),
            "tool_name": "structured_output",
            "tool_use_id": "call_1",
            "tool_input": { "secret": 1 },
        })
    );
}

#[tokio::test]
async fn a_matcher_is_about_whole_names() {
    let folder = TempDir::new().unwrap();
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, Some("write_.*|edit"), "exit 2")]);
    for (name, is_heard) in
        [("write_file", true), ("edit", true), ("editor", false), ("read_file", false)]
    {
        assert_eq!(hooks.before(&call(name, &json!({}))).await.is_err(), is_heard, "{name}");
    }
}

#[tokio::test]
async fn a_hanging_guard_objects_and_is_killed_with_its_children() {
    let folder = TempDir::new().unwrap();
    let mut hook =
        Hook::new(HookEvent::PreToolUse, None, "sleep 600 & echo $! > pid; wait").unwrap();
    // Long enough for a shell to start on a busy machine.
    hook.timeout = Duration::from_secs(5);
    let hooks = Hooks::new(vec![hook], "session", folder.path().to_owned(), environment());
    let answer = hooks.before(&call("edit", &json!({}))).await;
    assert_eq!(answer, Err(Veto("a hook did not answer in time".to_owned())));
    let expected = "hook `sleep 600 & echo $! > pid; wait` (PreToolUse) gave no answer within 5 s, \
        which counts as an objection";
    assert_eq!(told(&hooks), [expected]);
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    is_gone(&pid).await;
}

#[tokio::test]
async fn a_hook_that_is_given_up_takes_its_children_along() {
    let folder = TempDir::new().unwrap();
    let command = "sleep 600 & echo $! > new; mv new pid; wait";
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, command)]);
    let pid = folder.path().join("pid");
    let asked = call("edit", &json!({}));
    tokio::select! {
        answer = hooks.before(&asked) => panic!("it ended by itself: {answer:?}"),
        () = async { while !pid.exists() { tokio::task::yield_now().await } } => {}
    }
    is_gone(&fs::read_to_string(pid).unwrap()).await;
}

#[tokio::test]
async fn a_hook_that_leaves_a_child_behind_has_answered() {
    let folder = TempDir::new().unwrap();
    let command = "sleep 600 & echo $! > pid; exit 0";
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, command)]);
    assert_eq!(hooks.before(&call("edit", &json!({}))).await, Ok(()));
    is_gone(&fs::read_to_string(folder.path().join("pid")).unwrap()).await;
}

#[tokio::test]
async fn a_hook_does_not_see_secrets() {
    let folder = TempDir::new().unwrap();
    let command = "echo key: ${MODEL_API_KEY-none} >&2; exit 2";
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, command)]);
    let answer = hooks.before(&call("edit", &json!({}))).await;
    assert_eq!(answer, Err(Veto("key: none".to_owned())));
}

#[tokio::test]
async fn a_veto_without_words_is_still_explained() {
    let folder = TempDir::new().unwrap();
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, "exit 2")]);
    let answer = hooks.before(&call("edit", &json!({}))).await;
    assert_eq!(answer, Err(Veto("a hook denied this call".to_owned())));
}

#[tokio::test]
async fn a_guard_that_cannot_be_started_objects() {
    let hooks = hooks(Path::new("/no/such/folder"), &[(HookEvent::PreToolUse, None, "exit 0")]);
    let answer = hooks.before(&call("edit", &json!({}))).await;
    assert_eq!(answer, Err(Veto("a hook could not be started".to_owned())));
    let expected = "hook `exit 0` (PreToolUse) could not be started, which counts as an objection";
    assert_eq!(told(&hooks), [expected]);
}

#[tokio::test]
async fn success_and_failure_are_told_to_different_hooks() {
    let folder = TempDir::new().unwrap();
    let hooks = hooks(
        folder.path(),
        &[
            (HookEvent::PostToolUse, None, "cat > done.json"),
            (HookEvent::PostToolUseFailure, None, "cat > failed.json"),
        ],
    );
    let mut result = ToolResult {
        call_id: "call_1".to_owned(),
        name: "edit".to_owned(),
        content: "told".to_owned(),
        status: ToolStatus::Done,
    };
    hooks.after(&call("edit", &json!({})), &result).await;
    assert!(
        folder.path().join("done.json").exists() && !folder.path().join("failed.json").exists()
    );
    result.status = ToolStatus::Failed;
    hooks.after(&call("edit", &json!({})), &result).await;
    let told: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("failed.json")).unwrap())
            .unwrap();
    assert_eq!(told["tool_response"], "told");
}

#[tokio::test]
async fn a_flood_on_stderr_and_unread_stdin_harm_nobody() {
    let folder = TempDir::new().unwrap();
    let command = "head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 2";
    let hooks = hooks(folder.path(), &[(HookEvent::PreToolUse, None, command)]);
    let large = json!({ "text": "y".repeat(1 << 20) });
    let Err(Veto(said)) = hooks.before(&call("edit", &large)).await else { panic!("no veto") };
    assert_eq!(said.len(), 4_096);
}

#[tokio::test]
async fn a_stop_hook_may_object_to_the_end() {
    let folder = TempDir::new().unwrap();
    let hooks = hooks(folder.path(), &[(HookEvent::Stop, None, "echo run the tests >&2; exit 2")]);
    assert_eq!(hooks.stop().await, Err(Veto("run the tests".to_owned())));
}
