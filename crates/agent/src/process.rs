//! A command with an end: bounded in time and in what it may say, and gone with all its children.
//!
//! The command leads a session of its own, without a terminal to ask on. When it ends, is
//! cancelled or runs out of time, its whole group is ended. Children that leave the group on purpose
//! (`setsid`) live on, unless the command was started as a [`Family`], which finds them too.

mod capture;
mod collect;
mod environment;
mod family;
mod guard;
mod kin;
mod roster;

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessSession};
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use capture::Capture;
pub(crate) use collect::{CollectError, Collected, collect};
pub use environment::{Environment, hide_process};
pub(crate) use family::{Family, Remains};
pub use guard::{GUARD_ARGUMENT, guard_family};
use roster::Place;
pub use roster::kill_groups;

/// How long a group may take to end itself after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);

/// How long whoever was killed may take to be gone: the kernel has to free its memory first.
const DEATH: Duration = Duration::from_secs(2);

/// How often is looked whether the dead are gone.
const GLANCE: Duration = Duration::from_millis(5);

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
        self.signal(Signal::KILL);
    }
}

impl Group {
    /// Starts `command` as the leader of a session of its own.
    pub(crate) fn spawn(command: Command) -> io::Result<Self> {
        let mut wrapped = CommandWrap::from(command);
        wrapped.wrap(ProcessSession).wrap(KillOnDrop);
        // Unwrapped, because the wrapper waits for every child in the group: in a process that
        // adopts orphans that would be for as long as the command leaves something running.
        let (child, place) = roster::enlist(|| Ok(wrapped.spawn()?.into_inner()))?;
        Ok(Self { child, place: Some(place) })
    }

    /// Returns the number of the leader, which is that of group and session; none when it is over.
    fn leader(&self) -> Option<Pid> {
        self.place.as_ref().map(Place::leader)
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

    /// Sends `signal` to all of the group.
    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader() {
            // An error means that nobody is left.
            let _nobody_left = kill_process_group(leader, signal).is_err();
        }
    }

    /// Kills what its leader, which was waited for, left behind.
    pub(crate) async fn kill_rest(&mut self) {
        self.signal(Signal::KILL);
        if let Some(leader) = self.leader() {
            poll_until(DEATH, || reap(leader) == Adopted::Gone).await;
        }
        self.place = None;
    }

    /// Asks what its leader, which was waited for, left behind to end, then kills it.
    async fn stop_rest(&mut self) {
        self.signal(Signal::TERM);
        if let Some(leader) = self.leader() {
            let is_gone =
                || reap(leader) == Adopted::Gone && test_kill_process_group(leader).is_err();
            poll_until(GRACE, is_gone).await;
        }
        self.kill_rest().await;
    }

    /// Ends the group without asking.
    pub(crate) async fn end(&mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::KILL);
        let status = tokio::time::timeout(DEATH, self.child.wait()).await??;
        self.kill_rest().await;
        Ok(status)
    }

    /// Asks the group to end, then ends it.
    async fn stop(&mut self) -> io::Result<ExitStatus> {
        self.signal(Signal::TERM);
        drop(tokio::time::timeout(GRACE, self.child.wait()).await);
        self.end().await
    }
}

/// What is left of the members of a group that this process adopted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Adopted {
    Living,
    Gone,
}

/// Takes note of members that have died: those that this process adopted stay until it does.
///
/// The leader must have been waited for.
fn reap(leader: Pid) -> Adopted {
    loop {
        match waitpgid(leader, WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return Adopted::Living,
            Err(_) => return Adopted::Gone,
        }
    }
}

/// Waits until `is_done`, for `patience` at most.
async fn poll_until(patience: Duration, mut is_done: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while !is_done() && Instant::now() < until {
        tokio::time::sleep(GLANCE).await;
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
        Ended::Exited(_) => group.kill_rest().await,
        Ended::TimedOut | Ended::Cancelled => {
            tokio::select! {
                stopped = group.stop() => stopped.map(|_| ())?,
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
