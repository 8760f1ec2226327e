//! Commands that can read everywhere but write in the workspace and a folder of their own alone.
//!
//! The kernel's landlock restricts a thread and all its children for good, so the program starts
//! itself again as a helper that restricts itself and then becomes the command. Whoever asks for
//! the sandbox gets it or an error: it never runs with less.
//!
//! Left out: the network, and reading.

#[cfg(target_os = "linux")]
mod rules;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::scratch::private_folder;

/// The first argument of the helper, which the program looks for before anything else.
pub const HELPER_ARGUMENT: &str = "__sandbox";

/// Why commands cannot be held.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel cannot.
    #[error("this system cannot enforce the sandbox: {0}")]
    NotEnforceable(String),
    /// The private folder cannot be made.
    #[error("cannot make a private folder for the sandbox")]
    Scratch(#[source] io::Error),
}

/// A sandbox that the kernel enforces.
#[derive(Debug)]
pub struct Sandbox {
    helper: PathBuf,
    scratch: TempDir,
}

impl Sandbox {
    /// Says whether the kernel enforces what is asked of it.
    pub fn probe() -> Result<(), SandboxError> {
        rules::probe().map_err(SandboxError::NotEnforceable)
    }

    /// Makes a sandbox whose private folder is below `temporary`; `helper` is a program that calls
    /// [`enter_and_exec`].
    pub fn new(helper: impl Into<PathBuf>, temporary: &Path) -> Result<Self, SandboxError> {
        Self::probe()?;
        let scratch = private_folder(temporary).map_err(SandboxError::Scratch)?;
        Ok(Self { helper: helper.into(), scratch })
    }

    /// Returns the command that becomes `program` inside.
    pub(crate) fn command(&self, workspace: &Path, program: &OsStr) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.helper);
        command.arg(HELPER_ARGUMENT).arg("--workspace").arg(workspace);
        command.arg("--scratch").arg(self.scratch.path()).arg("--").arg(program);
        command
    }
}

/// Restricts this process and becomes the command; returns only if that fails.
///
/// `arguments` is what follows [`HELPER_ARGUMENT`]: `--workspace DIR --scratch DIR -- PROGRAM …`.
/// Must be called before there are other threads, which it would not restrict.
pub fn enter_and_exec(arguments: impl IntoIterator<Item = OsString>) -> io::Error {
    match Entry::parse(arguments) {
        Ok(entry) => entry.exec(),
        Err(error) => error,
    }
}

/// What the helper is asked to do.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    workspace: PathBuf,
    scratch: PathBuf,
    program: OsString,
    arguments: Vec<OsString>,
}

impl Entry {
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> io::Result<Self> {
        let mut arguments = arguments.into_iter();
        let mut expect = |flag: &str| match arguments.next() {
            Some(given) if given == flag => Ok(arguments.next().unwrap_or_default()),
            _ => Err(io::Error::other(format!("{HELPER_ARGUMENT}: {flag} is missing"))),
        };
        let workspace = expect("--workspace")?.into();
        let scratch = expect("--scratch")?.into();
        let program = expect("--")?;
        Ok(Self { workspace, scratch, program, arguments: arguments.collect() })
    }

    fn exec(self) -> io::Error {
        if let Err(error) = rules::restrict(&[&self.workspace, &self.scratch]) {
            return io::Error::other(format!("cannot enforce the sandbox: {error}"));
        }
        Command::new(self.program).args(self.arguments).env("TMPDIR", self.scratch).exec()
    }
}

#[cfg(not(target_os = "linux"))]
mod rules {
    //! Other systems have no landlock.

    use std::path::Path;

    pub(super) fn probe() -> Result<(), String> {
        Err("landlock is part of Linux".to_owned())
    }

    pub(super) fn restrict(_folders: &[&Path]) -> Result<(), String> {
        probe()
    }
}
