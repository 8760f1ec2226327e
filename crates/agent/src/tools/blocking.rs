//! Work on files, away from the threads that must not wait.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::toolbox::{CallContext, ToolError};

/// How long one call may work on files: a walk through a large monorepo takes seconds.
const LIMIT: Duration = Duration::from_mins(1);

/// How long the work has to notice that it was stopped before it is left to itself.
const NOTICE: Duration = Duration::from_secs(1);

/// Tells work that it must end.
#[derive(Debug)]
pub(super) struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
}

impl Stop {
    /// Fails if the work must end; to be asked for each file or line.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() {
            return Err(cancelled());
        }
        if Instant::now() > self.deadline {
            return Err(too_slow());
        }
        Ok(())
    }
}

/// Does `work` on a thread that may wait.
pub(super) async fn blocking(
    context: &CallContext,
    work: impl FnOnce(&Stop) -> Result<String, ToolError> + Send + 'static,
) -> Result<String, ToolError> {
    let stop = Stop { cancel: context.cancel.clone(), deadline: Instant::now() + LIMIT };
    let mut working = tokio::task::spawn_blocking(move || work(&stop));
    tokio::select! {
        done = &mut working => done.unwrap_or_else(|_| Err(ToolError("the tool failed".to_owned()))),
        () = context.cancel.cancelled() => {
            // Whoever writes should finish, so that the answer tells what is on disk.
            match tokio::time::timeout(NOTICE, working).await {
                Ok(Ok(done)) => done,
                Ok(Err(_)) | Err(_) => Err(cancelled()),
            }
        }
        () = tokio::time::sleep(LIMIT + NOTICE) => Err(too_slow()),
    }
}

fn cancelled() -> ToolError {
    ToolError("cancelled".to_owned())
}

fn too_slow() -> ToolError {
    ToolError(format!("stopped after {} s; ask for less", LIMIT.as_secs()))
}
