//! The door for agent CLIs: their hooks ask here before a command runs.
//!
//! A CLI starts this program again for each tool call; that asks the watch over a socket in a folder
//! that its owner alone may enter, and denies if nobody answers: what nobody counts must not be done.
//! So no login of the database ever comes near a model.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use airtight_core::run::TERMINAL_TOOL;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// The first argument of the program that a CLI's hook starts.
pub const DOOR_ARGUMENT: &str = "__watch-door";

/// The longest call: a command, or a file that is to be written.
const CALL_LIMIT_BYTES: u64 = 16 << 20;

/// The longest answer: a sentence.
const ANSWER_LIMIT_BYTES: u64 = 64 << 10;

/// How long one call may take to be read, decided and answered: a ledger that another process holds
/// is waited for half a minute.
const PATIENCE: Duration = Duration::from_secs(50);

/// A tool call of a CLI, as its hook tells it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Call {
    /// The tool.
    #[serde(default)]
    pub tool_name: String,
    /// The CLI's name of the call, if it tells one.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub tool_input: Value,
}

/// Decides about the calls of a CLI.
pub trait Porter: Send + Sync + 'static {
    /// Returns why the call must not happen, if it must not.
    fn ask(&self, call: Call) -> impl Future<Output = Option<String>> + Send;
}

#[derive(Serialize, Deserialize)]
struct Answer {
    /// Why the call must not happen.
    denied: Option<String>,
}

/// The door, open as long as this lives.
#[derive(Debug)]
pub struct Door {
    /// Removed with the door.
    _folder: TempDir,
    path: PathBuf,
    listening: JoinHandle<()>,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Door {
    /// Opens the door; `porter` decides who passes.
    pub fn open(porter: Arc<impl Porter>) -> io::Result<Self> {
        // The path of a socket has 107 bytes at most, so the folder has a short name.
        let folder = tempfile::Builder::new().prefix("at-").tempdir()?;
        let path = folder.path().join("door");
        let listener = UnixListener::bind(&path)?;
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                drop(tokio::spawn(attend(stream, Arc::clone(&porter))));
            }
        });
        Ok(Self { _folder: folder, path, listening })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

async fn attend(mut stream: UnixStream, porter: Arc<impl Porter>) {
    let work = async {
        let mut text = Vec::new();
        (&mut stream).take(CALL_LIMIT_BYTES + 1).read_to_end(&mut text).await?;
        let denied = if text.len() as u64 > CALL_LIMIT_BYTES {
            Some("the call is too long to be looked at".to_owned())
        } else {
            match serde_json::from_slice(&text) {
                Ok(call) => porter.ask(call).await,
                Err(_) => Some("the call cannot be read".to_owned()),
            }
        };
        let answer = serde_json::to_vec(&Answer { denied }).unwrap_or_default();
        stream.write_all(&answer).await?;
        stream.shutdown().await
    };
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "a hook could not be answered"),
        Err(_) => tracing::warn!("a hook was not answered in time"),
    }
}

/// Asks at the door whether the call that `input` tells may happen; returns why not.
///
/// This is what [`DOOR_ARGUMENT`] stands for, in a process of its own.
pub fn knock(path: &Path, input: impl io::Read) -> Option<String> {
    match ask(path, input) {
        Ok(Answer { denied }) => denied,
        Err(error) => Some(format!("the watch cannot be asked whether this may be done: {error}")),
    }
}

fn ask(path: &Path, input: impl io::Read) -> io::Result<Answer> {
    let mut call = Vec::new();
    input.take(CALL_LIMIT_BYTES + 1).read_to_end(&mut call)?;
    if is_answer(&call) {
        return Ok(Answer { denied: None });
    }
    let mut stream = BlockingStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(&call)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.take(ANSWER_LIMIT_BYTES).read_to_end(&mut answer)?;
    serde_json::from_slice(&answer).map_err(|_| io::Error::other("it says nothing"))
}

/// Claims that a call gives the answer, which does nothing: it is judged after its session, where there is
/// no door any more.
fn is_answer(call: &[u8]) -> bool {
    serde_json::from_slice::<Call>(call).is_ok_and(|call| call.tool_name == TERMINAL_TOOL)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Denies what its command says.
    struct Strict;

    impl Porter for Strict {
        async fn ask(&self, call: Call) -> Option<String> {
            let command = call.tool_input["command"].as_str()?.to_owned();
            (command != "ls").then_some(command)
        }
    }

    async fn knocked(path: &Path, input: Vec<u8>) -> Option<String> {
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || knock(&path, &input[..])).await.unwrap()
    }

    #[tokio::test]
    async fn a_call_passes_the_door_or_is_told_why_not() {
        let door = Door::open(Arc::new(Strict)).unwrap();
        let call = |command: &str| {
            let input = serde_json::json!({ "command": command });
            serde_json::json!({ "tool_name": "Bash", "tool_input": input, "cwd": "/" })
        };
        assert_eq!(knocked(door.path(), call("ls").to_string().into()).await, None);
        let denied = knocked(door.path(), call("rm").to_string().into()).await;
        assert_eq!(denied.as_deref(), Some("rm"));
    }

    /// CO-93: what nobody counts is not done.
    #[tokio::test]
    async fn what_cannot_be_asked_is_denied() {
        let door = Door::open(Arc::new(Strict)).unwrap();
        let garbled = knocked(door.path(), b"no JSON".to_vec()).await;
        assert_eq!(garbled.as_deref(), Some("the call cannot be read"));
        let path = door.path().to_owned();
        drop(door);
        let gone = knocked(&path, b"{}".to_vec()).await.unwrap();
        assert!(gone.starts_with("the watch cannot be asked"), "{gone}");
        let answer = serde_json::json!({ "tool_name": TERMINAL_TOOL, "tool_input": {} });
        assert_eq!(knocked(&path, answer.to_string().into()).await, None, "it does nothing");
    }
}
