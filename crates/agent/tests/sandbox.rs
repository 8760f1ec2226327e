//! The sandbox on a real kernel.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

use std::ffi::OsString;
use std::fs;
use std::sync::Arc;

use airtight_agent::{
    ApprovalMode, Environment, Hooks, Permissions, Sandbox, SandboxError, Standard, Toolbox,
    Workspace,
};
use airtight_core::message::ToolCall;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const HELPER: &str = env!("CARGO_BIN_EXE_airtight-sandbox");

struct Ground {
    folder: TempDir,
    toolbox: Toolbox,
}

/// Makes a workspace `ws` beside a folder `outside`; says so if the kernel has no landlock.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn ground() -> Option<Ground> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("ws")).unwrap();
    fs::create_dir(folder.path().join("outside")).unwrap();
    fs::write(folder.path().join("outside/file"), "theirs").unwrap();
    let sandbox = match Sandbox::new(HELPER, folder.path()) {
        Ok(sandbox) => sandbox,
        Err(error @ SandboxError::NotEnforceable(_)) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let permissions = Arc::new(Permissions::new(ApprovalMode::Yolo));
    let tools = Standard {
        workspace: Arc::new(Workspace::open(folder.path().join("ws")).unwrap()),
        permissions: Arc::clone(&permissions),
        environment: Environment::without_secrets([(
            OsString::from("PATH"),
            "/usr/bin:/bin".into(),
        )]),
        sandbox: Some(sandbox),
        private_hosts: vec![],
    };
    let toolbox = Toolbox::builder().permissions(permissions).tools(tools.into_tools()).build();
    Some(Ground { folder, toolbox })
}

impl Ground {
    async fn sh(&self, command: &str) -> String {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "run_shell_command".to_owned(),
            arguments: serde_json::json!({ "command": command }).to_string(),
            signature: None,
        };
        self.toolbox.call(&call, &Hooks::default(), &CancellationToken::new()).await.content
    }
}

#[tokio::test]
async fn a_sandboxed_command_reads_everywhere_and_writes_in_the_workspace() {
    let Some(ground) = ground() else { return };
    assert_eq!(ground.sh("cat ../outside/file").await, "Exit code: 0\ntheirs");
    assert_eq!(
        ground.sh("mkdir -p a/b && echo x > a/b/c && mv a/b/c d && rm -r a && cat d").await,
        "Exit code: 0\nx\n"
    );
    assert_eq!(
        ground.sh("echo x > /dev/null && : > d && cat d").await,
        "Exit code: 0\n[no output]"
    );
}

#[tokio::test]
async fn a_sandboxed_command_has_a_temporary_folder_of_its_own() {
    let Some(ground) = ground() else { return };
    let path = ground.sh("echo x > \"$TMPDIR/f\" && cat \"$TMPDIR/f\" && echo \"$TMPDIR\"").await;
    let (before, path) = path.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(before, "Exit code: 0\nx");
    assert!(fs::exists(path).unwrap());
    drop(ground.toolbox);
    assert!(!fs::exists(path).unwrap(), "the folder goes with the sandbox");
}

#[tokio::test]
async fn a_sandboxed_command_changes_nothing_outside() {
    let Some(ground) = ground() else { return };
    let outside = ground.folder.path().join("outside");
    for command in [
        "echo x > ../outside/new",
        "echo x >> ../outside/file",
        "truncate -s 0 ../outside/file",
        "rm ../outside/file",
        "mv ../outside/file .",
        "ln ../outside/file here && echo x > here",
        "mkdir ../outside/folder",
        "ln -s x ../outside/link",
        "mkfifo ../outside/pipe",
        "ln -s ../outside there; echo x > there/new",
        "sh -c 'setsid sh -c \"echo x > ../outside/new\"'",
        "echo x > /proc/self/root/tmp/airtight-escape",
        "mknod zero c 1 5",
        "mknod disk b 1 0",
    ] {
        let said = ground.sh(command).await;
        assert!(!said.starts_with("Exit code: 0"), "{command}: {said}");
    }
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[tokio::test]
async fn a_sandboxed_command_cannot_trace_the_process_that_started_it() {
    let Some(ground) = ground() else { return };
    // The kernel asks for the right to trace, which the sandbox takes also from root.
    assert_eq!(ground.sh("readlink /proc/$PPID/cwd").await, "Exit code: 1\n[no output]");
    assert!(ground.sh("readlink /proc/self/cwd").await.starts_with("Exit code: 0\n/"));
}

#[test]
fn the_helper_runs_nothing_it_cannot_hold() {
    let run = |arguments: &[&str]| {
        std::process::Command::new(HELPER).arg("__sandbox").args(arguments).output().unwrap()
    };
    for arguments in [
        &["--", "echo", "ran"][..],
        &["--workspace", "/", "--", "echo", "ran"],
        &["--workspace", "/no/such/folder", "--scratch", "/tmp", "--", "echo", "ran"],
        &["--workspace", "/", "--scratch", "/tmp", "--", "/no/such/program"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(44), "{arguments:?}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}
