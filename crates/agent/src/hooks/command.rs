//! One run of a hook's command.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, Command};

use crate::process::{DRAIN, Environment, Group};

/// What a hook says to the model is a sentence; the rest of its stderr is read and dropped.
const STDERR_LIMIT_BYTES: usize = 4_096;

/// How a hook's command ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or by a signal if it has no code.
    Exited {
        /// Its exit code.
        code: Option<i32>,
        /// The beginning of what it wrote to stderr.
        stderr: String,
    },
    /// It was killed, with everything it started.
    TimedOut,
    /// There is no such folder or shell.
    NotStarted,
}

/// Where a hook's command runs.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// The folder; empty for that of this process.
    pub folder: &'p Path,
    /// All that it sees of the environment.
    pub environment: &'p Environment,
}

/// Runs `command` in the shell with `input` on stdin; what it leaves running is ended with it.
pub async fn run(command: &str, input: &str, timeout: Duration, place: Place<'_>) -> Ended {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).env_clear().envs(place.environment.iter());
    if !place.folder.as_os_str().is_empty() {
        shell.current_dir(place.folder);
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let Ok(mut group) = Group::spawn(shell) else { return Ended::NotStarted };
    let stdin = group.stdin();
    let mut words = Words { stream: group.stderr(), kept: Vec::new() };
    match tokio::time::timeout(timeout, attend(&mut group, stdin, input, &mut words)).await {
        Ok(Ok(status)) => {
            group.kill_rest().await;
            drop(tokio::time::timeout(DRAIN, words.read()).await);
            Ended::Exited { code: status.code(), stderr: words.into_text() }
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "a hook's command cannot be followed");
            Ended::NotStarted
        }
        Err(_) => {
            // The group is gone before the run goes on.
            if let Err(error) = group.end().await {
                tracing::warn!(%error, "a hook's command cannot be killed");
            }
            Ended::TimedOut
        }
    }
}

/// Waits for the command to exit while it is written to and read from.
async fn attend(
    group: &mut Group,
    stdin: Option<ChildStdin>,
    input: &str,
    words: &mut Words,
) -> io::Result<ExitStatus> {
    tokio::select! {
        status = group.wait() => status,
        never = converse(stdin, input, words) => match never {},
    }
}

async fn converse(stdin: Option<ChildStdin>, input: &str, words: &mut Words) -> Infallible {
    let write = async {
        if let Some(mut stdin) = stdin {
            // A hook need not read what it does not need.
            drop(stdin.write_all(input.as_bytes()).await);
        }
    };
    tokio::join!(write, words.read());
    std::future::pending().await
}

/// The beginning of what a hook says.
struct Words {
    stream: Option<ChildStderr>,
    kept: Vec<u8>,
}

impl Words {
    /// Reads to the end and keeps the beginning.
    async fn read(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        let mut buffer = [0; 4_096];
        loop {
            let count = match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => count,
            };
            let room = STDERR_LIMIT_BYTES.saturating_sub(self.kept.len()).min(count);
            self.kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
        }
    }

    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.kept).trim().to_owned()
    }
}
