//! When a run has to stop, whatever it waits for: somebody interrupts it, or its time is up.

use std::future::pending;
use std::time::{Duration, Instant};

use airtight_core::run;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Outcome};

/// When a run has to stop. Its time counts from the start of the command.
#[derive(Debug, Clone)]
pub(in crate::commands) struct Limit {
    pub(super) started: Instant,
    pub(super) interrupt: CancellationToken,
    wall: Option<Duration>,
}

impl Limit {
    /// Lets a run that began at `started` take as long as `wall`, or for ever.
    pub(in crate::commands) fn new(
        started: Instant,
        wall: Option<Duration>,
        interrupt: CancellationToken,
    ) -> Self {
        Self { started, interrupt, wall }
    }

    /// Says why a run that has not asked its model yet must not go on, if it must not.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.interrupt.is_cancelled() {
            return Err(interrupted());
        }
        match self.wall {
            Some(wall) if self.started.elapsed() >= wall => Err(out_of_time(wall)),
            _ => Ok(()),
        }
    }

    /// Waits until a run that has not asked its model yet must not go on, and says why.
    pub(in crate::commands) async fn reached(&self) -> Error {
        let out_of_time = async {
            match self.wall.and_then(|wall| Some((wall, self.started.checked_add(wall)?))) {
                Some((wall, deadline)) => {
                    sleep_until(deadline.into()).await;
                    out_of_time(wall)
                }
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.interrupt.cancelled() => interrupted(),
            error = out_of_time => error,
        }
    }
}

fn interrupted() -> Error {
    Error::new(Outcome::Run(run::Outcome::Interrupted), "the run was interrupted")
}

fn out_of_time(wall: Duration) -> Error {
    let seconds = wall.as_secs_f64();
    let message = format!("the budget of {seconds} s of wall time is spent, and nothing was asked");
    Error::new(Outcome::Run(run::Outcome::Budget), message)
        .hint("raise `--max-wall-time`; it counts from the start, with stdin and MCP servers")
}
