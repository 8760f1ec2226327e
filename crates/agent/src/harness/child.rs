//! An agent CLI as a child: started with exactly what it is given, listened to, and gone with
//! everything that it started.
//!
//! Its stdin, stdout and stderr are files without a name. Four of the five CLIs lose the end of what
//! they write to a pipe, with exit code 0, while a file was complete in every run that was observed.
//! And where nobody has to read or write in time, no side can block the other, nor can a grandchild
//! that holds a stream open. stdout is followed: looked at every few milliseconds.
//!
//! What the words mean is left to whoever listens. Each way to end returns the same [`Ended`], with
//! the time it took and a warning for everything that did not go as it should.

mod deadline;
mod launch;
mod output;
mod seat;

use std::convert::Infallible;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::time::Duration;

use airtight_core::redact::Redactor;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::process::{Family, Remains};
use deadline::Clocks;
pub(crate) use deadline::Deadline;
pub use deadline::Deadlines;
pub(crate) use launch::{Launch, StartError};
use output::{Output, Rest};
pub(crate) use seat::free_seat;

/// How often is looked for new output: people see no delay, and a look costs microseconds.
const OUTPUT_POLL: Duration = Duration::from_millis(20);

/// How often is looked for kin, at about a millisecond for a hundred processes on the machine. Who
/// comes and goes in between leaves its mark in what it started.
const KIN_POLL: Duration = Duration::from_millis(500);

/// What the listener makes of what it heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// More is to come.
    More,
    /// The program said that it is done; it may exit.
    Concluded,
}

/// Takes the bytes of stdout as they come, in pieces of any length.
pub(crate) type Listener<'l> = &'l mut (dyn FnMut(&[u8]) -> Heard + Send);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// By itself.
    Exited,
    /// It had concluded and did not exit in time, or before it was stopped.
    ExitForced,
    /// A deadline passed.
    TimedOut(Deadline),
    /// It wrote more than is read.
    TooMuch,
    /// It was stopped, or never started.
    Cancelled,
}

/// A program that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) how: How,
    /// Its exit code, negative for a signal; absent if unknown.
    pub(crate) exit_code: Option<i32>,
    /// What it wrote to stderr: at most 8,192 characters, the middle left out, secrets masked.
    pub(crate) stderr: String,
    /// How much it wrote to stdout that the listener got.
    pub(crate) stdout_bytes: u64,
    /// How long it took, from its start until everything was tidied up.
    pub(crate) elapsed: Duration,
    /// What did not go as it should, of which nothing changes the outcome.
    pub(crate) warnings: Vec<String>,
}

impl Ended {
    fn before_its_start() -> Self {
        Self {
            how: How::Cancelled,
            exit_code: None,
            stderr: String::new(),
            stdout_bytes: 0,
            elapsed: Duration::ZERO,
            warnings: Vec::new(),
        }
    }
}

/// Starts a program, listens to it and sees it out.
///
/// Waits first until few enough others run, unless the launch has a seat; that time counts for no
/// deadline. When the future is dropped the program is killed with all its kin.
pub(crate) async fn attend(
    mut launch: Launch,
    deadlines: &Deadlines,
    listen: Listener<'_>,
    stop: impl Future<Output = ()>,
) -> Result<Ended, StartError> {
    let mut stop = pin!(stop);
    let free = launch.seat.take();
    let _seat = tokio::select! {
        biased;
        () = &mut stop => return Ok(Ended::before_its_start()),
        seat = seat::take(free) => seat,
    };
    let mut attendance = Attendance::begin(&launch, listen)?;
    let how = attendance.follow(deadlines, stop).await;
    Ok(attendance.end(how).await)
}

/// A program while it is attended.
struct Attendance<'l> {
    family: Family,
    output: Output,
    listen: Listener<'l>,
    redactor: Redactor,
    started: Instant,
    exit_code: Option<i32>,
    warnings: Vec<String>,
}

impl<'l> Attendance<'l> {
    fn begin(launch: &Launch, listen: Listener<'l>) -> Result<Self, StartError> {
        let (family, output) = launch.start()?;
        Ok(Self {
            family,
            output,
            listen,
            redactor: launch.redactor(),
            started: Instant::now(),
            exit_code: None,
            warnings: Vec::new(),
        })
    }

    /// Listens until the program exits or must be ended.
    async fn follow(
        &mut self,
        deadlines: &Deadlines,
        mut stop: Pin<&mut impl Future<Output = ()>>,
    ) -> How {
        let mut clocks = Clocks::new(deadlines, self.started);
        let (mut output_poll, mut kin_poll) = (every(OUTPUT_POLL), every(KIN_POLL));
        let how = loop {
            tokio::select! {
                biased;
                status = self.family.wait() => {
                    self.take_note(status);
                    return How::Exited;
                }
                () = &mut stop => {
                    // What it has delivered by now counts, also if nobody has looked yet.
                    self.look(&mut clocks);
                    break clocks.stopped();
                }
                _ = kin_poll.tick() => self.family.remember(),
                _ = output_poll.tick() => {
                    if self.output.is_too_much() {
                        break How::TooMuch;
                    }
                    self.look(&mut clocks);
                    if let Some(how) = clocks.due(Instant::now()) {
                        break how;
                    }
                }
            }
        };
        // Whoever has exited by now was in time.
        match self.family.try_wait() {
            Ok(Some(status)) => {
                self.take_note(Ok(status));
                How::Exited
            }
            Ok(None) | Err(_) => how,
        }
    }

    /// Hands on what was written since the last look, and sets the clocks by it.
    fn look(&mut self, clocks: &mut Clocks<'_>) {
        let listen = &mut self.listen;
        self.output.read_on(&mut |bytes| {
            let heard = listen(bytes);
            clocks.hear(bytes, heard, Instant::now());
        });
    }

    /// Ends what is left and reads what is left.
    async fn end(mut self, how: How) -> Ended {
        match how {
            How::Exited => {}
            // Asking would give it time to fill the disk.
            How::TooMuch => {
                let ended = self.family.end().await;
                self.take_note(ended);
            }
            How::ExitForced | How::TimedOut(_) | How::Cancelled => {
                let stopped = tokio::select! {
                    stopped = self.family.stop() => stopped,
                    never = pump(&mut self.output, &mut *self.listen) => match never {},
                };
                self.take_note(stopped);
            }
        }
        let remains = self.family.settle().await;
        self.tell(remains);
        // Also of a program that wrote too much in its last moment and got away.
        let how = if self.output.is_too_much() { How::TooMuch } else { how };
        if how != How::TooMuch {
            self.drain().await;
        }
        self.warnings.extend(self.output.fault());
        Ended {
            how,
            exit_code: self.exit_code,
            stdout_bytes: self.output.stdout_bytes(),
            stderr: self.output.into_stderr(&self.redactor),
            elapsed: self.started.elapsed(),
            warnings: self.warnings,
        }
    }

    /// Reads to the end; nobody writes any more.
    async fn drain(&mut self) {
        let listen = &mut self.listen;
        let mut hear = |bytes: &[u8]| {
            listen(bytes);
        };
        while self.output.read_on(&mut hear) == Rest::More {
            tokio::task::yield_now().await;
        }
    }

    fn take_note(&mut self, status: io::Result<ExitStatus>) {
        match status {
            Ok(status) => {
                let signal = status.signal().map(i32::wrapping_neg);
                self.exit_code = status.code().or(signal);
            }
            Err(error) => self.warnings.push(format!("how it ended is not known: {error}")),
        }
    }

    fn tell(&mut self, remains: io::Result<Remains>) {
        let Remains { outlived, left } = match remains {
            Ok(remains) => remains,
            Err(error) => {
                let warning = format!("processes that it left running were not found: {error}");
                return self.warnings.push(warning);
            }
        };
        if outlived > 0 {
            let are = if outlived == 1 { "process was" } else { "processes were" };
            self.warnings.push(format!("{outlived} {are} left running, and ended"));
        }
        if !left.is_empty() {
            self.warnings.push(format!("processes that could not be ended: {left:?}"));
        }
    }
}

/// Reads on for as long as it is awaited; what is heard changes nothing any more.
async fn pump(output: &mut Output, listen: &mut (dyn FnMut(&[u8]) -> Heard + Send)) -> Infallible {
    let mut poll = every(OUTPUT_POLL);
    loop {
        poll.tick().await;
        output.read_on(&mut |bytes| {
            listen(bytes);
        });
    }
}

fn every(period: Duration) -> Interval {
    let mut interval = tokio::time::interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

#[cfg(test)]
mod tests;
