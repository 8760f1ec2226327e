//! A command whose whole output is wanted: all of it, within limits, or none.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::{Capture, Group};

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Why the output of a command is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectError {
    /// It could not be started, or not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It took too long.
    #[error("it took longer than {} s", limit.as_secs())]
    TimedOut {
        /// The longest that it may take.
        limit: Duration,
    },
    /// Somebody stopped it.
    #[error("it was interrupted")]
    Cancelled,
    /// It said too much.
    #[error("it said more than {limit_bytes} bytes")]
    TooLarge {
        /// The most that it may say.
        limit_bytes: usize,
    },
}

/// Runs `command` to its end, or ends it with all its children.
pub(crate) async fn collect(
    mut command: Command,
    limit: Duration,
    limit_bytes: usize,
    cancel: &CancellationToken,
) -> Result<Collected, CollectError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::spawn(command)?;
    let attended = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(CollectError::Cancelled),
        collected = attend(&mut group, limit_bytes) => collected,
        () = tokio::time::sleep(limit) => Err(CollectError::TimedOut { limit }),
    };
    match attended {
        Ok(collected) => {
            group.kill_rest().await;
            Ok(collected)
        }
        Err(error) => {
            // Why it is ended matters more than how that went.
            drop(group.end().await);
            Err(error)
        }
    }
}

async fn attend(group: &mut Group, limit_bytes: usize) -> Result<Collected, CollectError> {
    let (stdout, stderr) = (group.stdout(), group.stderr());
    let said = async {
        match stdout {
            Some(stdout) => read(stdout, limit_bytes).await,
            None => Ok(Vec::new()),
        }
    };
    let complained = async {
        let mut capture = Capture::default();
        if let Some(mut stderr) = stderr {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
                capture.push(buffer.get(..count).unwrap_or_default());
            }
        }
        Ok(capture.into_text())
    };
    let (stdout, stderr) = tokio::try_join!(said, complained)?;
    Ok(Collected { status: group.wait().await?, stdout, stderr })
}

async fn read(stdout: impl AsyncRead + Unpin, limit_bytes: usize) -> Result<Vec<u8>, CollectError> {
    let mut bytes = Vec::new();
    stdout.take(limit_bytes as u64 + 1).read_to_end(&mut bytes).await?;
    if bytes.len() > limit_bytes {
        return Err(CollectError::TooLarge { limit_bytes });
    }
    Ok(bytes)
}
