//! The shell, called as the model calls it.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::hooks::Hooks;
use crate::tools::RESULT_LIMIT_BYTES;
use crate::tools::trial::{Trial, call};

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_says_its_code() {
    let trial = Trial::new();
    trial.put("sub/f", "");
    assert_eq!(
        trial.done("run_shell_command", json!({"command": "ls"})).await,
        "Exit code: 0\nsub\n"
    );
    assert_eq!(
        trial.done("run_shell_command", json!({"command": "ls", "directory": "sub"})).await,
        "Exit code: 0\nf\n"
    );
    assert_eq!(
        trial.failed("run_shell_command", json!({"command": "echo no >&2; exit 7"})).await,
        "Exit code: 7\nno\n"
    );
    assert_eq!(
        trial.failed("run_shell_command", json!({"command": "kill -9 $$"})).await,
        "Ended by signal 9\n[no output]"
    );
}

#[tokio::test]
async fn a_command_sees_no_secrets() {
    let trial = Trial::new();
    let seen = trial.done("run_shell_command", json!({"command": "env"})).await;
    assert!(seen.contains("KEPT=yes") && !seen.contains("canary"), "{seen}");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended() {
    let trial = Trial::new();
    let slow = json!({"command": "echo begun; sleep 600", "timeout_seconds": 1});
    assert_eq!(
        trial.failed("run_shell_command", slow).await,
        "Ended after 1 s: it took too long.\nbegun\n"
    );
}

#[tokio::test]
async fn a_flood_is_shown_by_its_ends() {
    let trial = Trial::new();
    let flood = json!({"command": "echo first; yes '\"x\"' | head -n 1000000; echo last"});
    let shown = trial.done("run_shell_command", flood).await;
    assert!(shown.starts_with("Exit code: 0\nfirst\n") && shown.ends_with("last\n"));
    assert!(shown.contains("bytes left out"));
    assert!(serde_json::to_string(&shown).unwrap().len() <= RESULT_LIMIT_BYTES);
}

#[tokio::test]
async fn cancelling_the_run_ends_the_command() {
    let trial = Trial::new();
    let cancel = CancellationToken::new();
    let slow = call("run_shell_command", &json!({"command": "echo > on; sleep 600"}).to_string());
    let started = trial.path("on");
    let cancelling = async {
        while !started.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let hooks = Hooks::default();
    let (result, ()) = tokio::join!(trial.toolbox.call(&slow, &hooks, &cancel), cancelling);
    assert_eq!(result.content, "Ended: the run was cancelled.\n[no output]");
}
