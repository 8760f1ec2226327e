//! Agent CLIs on the `PATH`, and what they say of themselves.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::env::Environment;

/// The programs that are looked for.
pub(super) const NAMES: [&str; 5] = ["claude", "codex", "qwen", "gemini", "opencode"];

/// How long a program may take to say its version: some start a whole runtime first.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much of what it says is read.
const LIMIT_BYTES: u64 = 4096;

/// A program, if it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) path: Option<PathBuf>,
    /// Its first line; absent if it says nothing in time.
    pub(super) version: Option<String>,
}

/// Looks for `name` and asks it for its version.
pub(super) async fn find(name: &'static str, environment: &Environment) -> Program {
    let path = on_path(name, environment);
    let version = match &path {
        Some(path) => timeout(PATIENCE, version(path)).await.ok().flatten(),
        None => None,
    };
    Program { name, path, version }
}

fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let folders = environment.variable("PATH")?;
    std::env::split_paths(folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

async fn version(path: &Path) -> Option<String> {
    let mut child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let mut said = Vec::new();
    child.stdout.take()?.take(LIMIT_BYTES).read_to_end(&mut said).await.ok()?;
    let said = String::from_utf8_lossy(&said);
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}
