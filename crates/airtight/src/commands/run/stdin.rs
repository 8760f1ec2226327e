//! Standard input, read on a thread of its own: whoever is to write may never do so, and a run must
//! not wait for that longer than for anything else.

use std::io::{self, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::limit::Limit;
use crate::error::Error;
use crate::file::{self, FileError};

/// How often it is looked whether the run has to stop.
const TICK: Duration = Duration::from_millis(50);

/// The longest line: the answer to a question is a word.
#[cfg(feature = "embedded")]
const LINE_LIMIT_BYTES: u64 = 1024;

/// All that the thread does is read.
const STACK_BYTES: usize = 512 * 1024;

/// What came from standard input.
#[derive(Debug)]
pub(in crate::commands) enum Piped {
    /// Everything, to the end.
    All(Vec<u8>),
    /// Nothing, for as long as its reader was willing to wait.
    Silence,
    /// Something that cannot be used.
    Unreadable(FileError),
}

/// Reads to the end, at most `limit_bytes`; with `patience`, only if something begins to come
/// within it. An error means that the run has to stop.
pub(in crate::commands) fn read(
    limit_bytes: usize,
    patience: Option<Duration>,
    limit: &Limit,
) -> Result<Piped, Error> {
    match listen(limit_bytes) {
        Ok(heard) => wait(&heard, patience.map(|patience| Instant::now() + patience), limit),
        Err(error) => Ok(Piped::Unreadable(error.into())),
    }
}

/// Reads one line from whoever sits there; nothing if it cannot be read. An error means that the
/// run has to stop.
#[cfg(feature = "embedded")]
pub(super) fn read_line(limit: &Limit) -> Result<String, Error> {
    let (say, heard) = channel();
    let listening = move || {
        let mut line = String::new();
        let stdin = io::stdin().lock();
        drop(io::BufRead::read_line(&mut stdin.take(LINE_LIMIT_BYTES), &mut line));
        drop(say.send(line));
    };
    let thread = thread::Builder::new().name("stdin".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(listening)?;
    loop {
        match heard.recv_timeout(TICK) {
            Ok(line) => return Ok(line),
            Err(RecvTimeoutError::Disconnected) => return Ok(String::new()),
            Err(RecvTimeoutError::Timeout) => limit.check()?,
        }
    }
}

/// What the reading thread has to say.
enum Heard {
    First,
    All(Result<Vec<u8>, FileError>),
}

fn listen(limit_bytes: usize) -> io::Result<Receiver<Heard>> {
    let (say, heard) = channel();
    let listening = move || {
        let mut first = [0; 1];
        let mut stdin = io::stdin().lock();
        let all = match stdin.read(&mut first) {
            Ok(0) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
            Ok(_) => {
                drop(say.send(Heard::First));
                file::read_within((&first[..]).chain(stdin), limit_bytes)
            }
        };
        // Nobody listens any more if the run went on without us.
        drop(say.send(Heard::All(all)));
    };
    let thread = thread::Builder::new().name("stdin".to_owned()).stack_size(STACK_BYTES);
    thread.spawn(listening)?;
    Ok(heard)
}

/// Waits for everything, or until `silent_until` for a first sign.
fn wait(
    heard: &Receiver<Heard>,
    mut silent_until: Option<Instant>,
    limit: &Limit,
) -> Result<Piped, Error> {
    loop {
        match heard.recv_timeout(TICK) {
            Ok(Heard::First) => silent_until = None,
            Ok(Heard::All(Ok(bytes))) => return Ok(Piped::All(bytes)),
            Ok(Heard::All(Err(error))) => return Ok(Piped::Unreadable(error)),
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Piped::Unreadable(io::Error::other("its reader ended").into()));
            }
            Err(RecvTimeoutError::Timeout) => limit.check()?,
        }
        if silent_until.is_some_and(|until| Instant::now() >= until) {
            return Ok(Piped::Silence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_util::sync::CancellationToken;

    fn limit(wall: Option<Duration>) -> Limit {
        Limit::new(Instant::now(), wall, CancellationToken::new())
    }

    #[test]
    fn silence_is_given_up() {
        let (_open, silent) = channel();
        let piped = wait(&silent, Some(Instant::now()), &limit(None)).unwrap();
        assert!(matches!(piped, Piped::Silence));
    }

    #[test]
    fn interrupts_and_the_end_of_time_end_the_wait() {
        let (_open, silent) = channel();
        let interrupted = limit(None);
        interrupted.interrupt.cancel();
        assert_eq!(wait(&silent, None, &interrupted).unwrap_err().kind.exit_code(), 130);
        let late = limit(Some(Duration::ZERO));
        assert_eq!(wait(&silent, None, &late).unwrap_err().kind.exit_code(), 55);
    }
}
