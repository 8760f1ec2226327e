//! A program and everything it gets, and how it is started.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use airtight_core::redact::{Redactor, holds_secret, names_secret};
use tokio::process::Command;

use super::output::Output;
use super::seat::Seat;
use crate::process::Family;

/// How much of a file tells its format: in ELF, up to the machine that it is for.
const HEADER_BYTES: usize = 20;

/// The machines whose programs run here, as ELF numbers them; none if that is not known.
const MACHINES: &[[u8; 2]] = if cfg!(target_arch = "x86_64") {
    &[[62, 0], [3, 0]]
} else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
    &[[183, 0], [40, 0]]
} else {
    &[]
};

/// A program to be started, with everything it gets.
pub(crate) struct Launch {
    /// Where it is.
    pub(crate) program: PathBuf,
    /// What it is told.
    pub(crate) arguments: Vec<OsString>,
    /// All it has, but for the mark of its kin: nothing is inherited.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Where it works.
    pub(crate) folder: PathBuf,
    /// What it reads on stdin, which then ends.
    pub(crate) input: Vec<u8>,
    /// What ends it if this process is killed: a program that calls `guard_family`.
    pub(crate) guard: Option<PathBuf>,
    /// Its place among those that run at once, if one was free.
    pub(crate) seat: Option<Seat>,
}

/// Why a program is not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// It is not there.
    #[error("there is no program `{}`: install it, or say where it is", .0.display())]
    Missing(PathBuf),
    /// It may not be run.
    #[error("`{}` may not be run: make it executable", .0.display())]
    NotExecutable(PathBuf),
    /// It is a script, or linked to libraries, and what it needs to run is not there.
    #[error("what `{}` needs to run is not there: install it again", .0.display())]
    NoInterpreter(PathBuf),
    /// It is no program, or one for other machines.
    #[error("`{}` is no program for this machine: install it again", .0.display())]
    WrongFormat(PathBuf),
    /// There is no folder for it to work in.
    #[error("there is no folder `{}` to work in", .0.display())]
    NoFolder(PathBuf),
    /// There is no room for what it reads and writes.
    #[error("cannot make temporary files: make room, or set TMPDIR to another folder")]
    NoFiles(#[source] io::Error),
    /// Anything else.
    #[error("cannot start `{}`", .0.display())]
    Other(PathBuf, #[source] io::Error),
}

/// Says nothing of arguments, environment and input: all may hold secrets.
impl fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Launch")
            .field("program", &self.program)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Launch {
    /// Starts it.
    pub(super) fn start(&self) -> Result<(Family, Output), StartError> {
        self.check_format()?;
        let (output, stdout, stderr) = Output::new().map_err(StartError::NoFiles)?;
        let stdin = self.stdin().map_err(StartError::NoFiles)?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        let family =
            Family::spawn(command, self.guard.as_deref()).map_err(|error| self.explain(error))?;
        Ok((family, output))
    }

    /// Makes what masks its secrets: those that it was given, and whatever has the shape of one.
    pub(super) fn redactor(&self) -> Redactor {
        let variables = self.environment.iter();
        let variables =
            variables.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let is_secret = |(name, value): &(&str, &str)| names_secret(name) || holds_secret(value);
        Redactor::new(variables.filter(is_secret).map(|(_, value)| value))
    }

    fn stdin(&self) -> io::Result<Stdio> {
        if self.input.is_empty() {
            return Ok(Stdio::null());
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(&self.input)?;
        file.rewind()?;
        Ok(file.into())
    }

    fn explain(&self, error: io::Error) -> StartError {
        let program = self.program.clone();
        if error.kind() == io::ErrorKind::PermissionDenied {
            return StartError::NotExecutable(program);
        }
        if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            return StartError::Other(program, error);
        }
        // The system does not say what it is that is not there.
        if !self.folder.is_dir() {
            return StartError::NoFolder(self.folder.clone());
        }
        match self.place() {
            Some(place) if place.exists() => StartError::NoInterpreter(program),
            Some(_) | None => StartError::Missing(program),
        }
    }

    /// Refuses what the kernel would: the C library gives that to the shell as a script.
    fn check_format(&self) -> Result<(), StartError> {
        let beginning = self.place().and_then(|place| beginning(&place));
        // What cannot be read is for the kernel to judge.
        if beginning.is_some_and(|beginning| !is_program(&beginning)) {
            return Err(StartError::WrongFormat(self.program.clone()));
        }
        Ok(())
    }

    /// Returns where the program is; a bare name is looked for on the `PATH`.
    fn place(&self) -> Option<PathBuf> {
        (self.program.components().count() > 1).then(|| self.folder.join(&self.program))
    }
}

/// Reads as much of an executable file as tells its format.
fn beginning(path: &Path) -> Option<[u8; HEADER_BYTES]> {
    let file = path.metadata().ok()?;
    if !file.is_file() || file.permissions().mode() & 0o111 == 0 {
        return None;
    }
    let mut beginning = Vec::new();
    let limit = HEADER_BYTES as u64;
    File::open(path).ok()?.take(limit).read_to_end(&mut beginning).ok()?;
    beginning.resize(HEADER_BYTES, 0);
    beginning.try_into().ok()
}

/// Claims that a file which begins like this is a script or a program for this machine.
fn is_program(beginning: &[u8; HEADER_BYTES]) -> bool {
    let is_ours = |machine: &[u8]| MACHINES.iter().any(|known| known == machine);
    !cfg!(target_os = "linux")
        || beginning.starts_with(b"#!")
        || beginning.starts_with(b"\x7fELF")
            && (MACHINES.is_empty() || beginning.get(18..20).is_some_and(is_ours))
}
