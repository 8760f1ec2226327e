//! A command with an end: bounded in time and in what it may say, and gone with all its children.
//!
//! The command leads a session of its own, without a terminal to ask on. When it ends, is
//! cancelled or runs out of time, its whole group is ended. Left out: children that leave the group
//! on purpose (`setsid`) live on; only a container could hold them.

mod capture;
mod environment;
mod roster;

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use rustix::process::Signal;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

pub(crate) use capture::Capture;
pub use environment::{Environment, hide_process};
use roster::Place;
pub use roster::kill_groups;

/// How long a group may take to end itself after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);

/// How long is waited for the rest of the output once the group is gone: only a child that left
/// the group still holds the pipe then, and it may hold it for ever.
pub(crate) const DRAIN: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// It took too long.
    TimedOut,
    /// The run ended first.
    Cancelled,
}

/// A command whose group dies with it.
#[derive(Debug)]
pub(crate) struct Group {
    child: Box<dyn ChildWrapper>,
    /// Absent once its leader was waited for and the rest killed: its number may soon be somebody
    /// else's.
    place: Option<Place>,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Group {
    /// Starts `command` as the leader of a session of its own.
    pub(crate) fn spawn(command: Command) -> io::Result<Self> {
        let mut wrapped = CommandWrap::from(command);
        wrapped.wrap(ProcessSession).wrap(KillOnDrop);
        let (child, place) = roster::enlist(|| wrapped.spawn())?;
        Ok(Self { child, place: Some(place) })
    }

    /// Returns the leader's stdin, once, if it is a pipe.
    pub(crate) fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin().take()
    }

    /// Returns the leader's stdout, once, if it is a pipe.
    pub(crate) fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout().take()
    }

    /// Returns the leader's stderr, once, if it is a pipe.
    pub(crate) fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr().take()
    }

    /// Waits for the leader to exit.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Kills what is left of the group.
    fn kill(&mut self) {
        if self.place.is_some() {
            // An error means that nobody is left.
            drop(self.child.start_kill());
        }
    }

    /// Kills what its leader, which was waited for, left behind.
    pub(crate) fn kill_rest(&mut self) {
        self.kill();
        self.place = None;
    }

    /// Ends the group without asking.
    pub(crate) async fn end(&mut self) -> io::Result<()> {
        self.kill();
        let _: ExitStatus = self.child.wait().await?;
        self.place = None;
        Ok(())
    }

    /// Asks the group to end, then ends it.
    async fn stop(&mut self) -> io::Result<()> {
        if self.child.signal(Signal::TERM.as_raw()).is_ok() {
            drop(tokio::time::timeout(GRACE, self.child.wait()).await);
        }
        self.end().await
    }
}

/// Runs `command` with stdout and stderr captured in the order they were written.
pub(crate) async fn run(
    mut command: Command,
    limit: Duration,
    cancel: &CancellationToken,
) -> io::Result<(Ended, Capture)> {
    let (reader, writer) = io::pipe()?;
    command.stdin(std::process::Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    // The command goes with it: it holds our ends of the pipe, which would never close.
    let mut group = Group::spawn(command)?;
    let mut output = pipe::Receiver::from_owned_fd(reader.into())?;
    let mut capture = Capture::default();

    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => Ended::Cancelled,
        status = attend(&mut group, &mut output, &mut capture) => Ended::Exited(status?),
        () = tokio::time::sleep(limit) => Ended::TimedOut,
    };
    match ended {
        Ended::Exited(_) => group.kill_rest(),
        Ended::TimedOut | Ended::Cancelled => {
            tokio::select! {
                stopped = group.stop() => stopped?,
                // A child that is blocked on a full pipe could not end.
                never = pump(&mut output, &mut capture) => match never {},
            }
        }
    }
    drop(tokio::time::timeout(DRAIN, read_to_end(&mut output, &mut capture)).await);
    Ok((ended, capture))
}

/// Waits for the command to exit while its output is read.
async fn attend(
    group: &mut Group,
    output: &mut pipe::Receiver,
    capture: &mut Capture,
) -> io::Result<ExitStatus> {
    tokio::select! {
        status = group.wait() => status,
        never = pump(output, capture) => match never {},
    }
}

/// Reads for as long as somebody writes, then waits for ever.
async fn pump(output: &mut pipe::Receiver, capture: &mut Capture) -> std::convert::Infallible {
    read_to_end(output, capture).await;
    std::future::pending().await
}

async fn read_to_end(output: &mut pipe::Receiver, capture: &mut Capture) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match output.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => capture.push(buffer.get(..count).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests;
