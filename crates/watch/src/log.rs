//! The log of a session: every line of its stream, with its time.
//!
//! The rule it protects: no secret reaches the disk, and a disk that fails costs the log, never the
//! session, whose record says so.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use airtight_core::calendar::{rfc3339, stamp};
use airtight_core::redact::Redactor;

/// How many sessions may begin within one second: they follow each other, so two are rare.
const SAME_SECOND: u32 = 100;

/// What the names of logs begin and end with.
const NAME: (&str, &str) = ("run-", ".log");

/// What stands in between, with a digit for each 0.
const STAMP: &str = "00000000-000000";

/// The log of one session.
#[derive(Debug)]
pub struct SessionLog {
    /// Where it goes, as long as it takes lines.
    file: Option<File>,
    path: Option<PathBuf>,
    redactor: Redactor,
    fault: Option<LogFault>,
}

/// Why a log does not have every line of its session.
#[derive(Debug, thiserror::Error)]
pub enum LogFault {
    /// It cannot be created.
    #[error("this session has no log: none can be made in {}: {source}", .folder.display())]
    Missing {
        /// Where it should be.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is cut off.
    #[error("the log of this session is incomplete: {} takes no more: {source}", .path.display())]
    CutOff {
        /// Where it is.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl SessionLog {
    /// Creates `run-YYYYMMDD-HHMMSS.log` in `folder`, readable by its owner alone. Where that fails, lines go
    /// nowhere, and [`fault`](Self::fault) says why.
    pub fn create(folder: &Path, at_ms: i64, redactor: Redactor) -> Self {
        match create_in(folder, at_ms) {
            Ok((path, file)) => Self { file: Some(file), path: Some(path), redactor, fault: None },
            Err(source) => {
                let fault = LogFault::Missing { folder: folder.to_owned(), source };
                Self { file: None, path: None, redactor, fault: Some(fault) }
            }
        }
    }

    /// Returns where it is, if it could be created.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Appends one line of the stream.
    pub fn line(&mut self, at_ms: i64, json: &str) {
        let Some(file) = &mut self.file else { return };
        let masked = self.redactor.mask(json);
        // One line stays one line, whatever somebody passes for JSON.
        let masked = masked.replace(['\n', '\r'], " ");
        let line = format!("{}\t{masked}\n", rfc3339(at_ms));
        if let Err(source) = file.write_all(line.as_bytes()) {
            let path = self.path.clone().unwrap_or_default();
            self.fault = Some(LogFault::CutOff { path, source });
            self.file = None;
        }
    }

    /// Returns why the log is incomplete, if it is.
    pub fn fault(&self) -> Option<&LogFault> {
        self.fault.as_ref()
    }
}

/// Deletes the logs in `folder` of sessions that began before `before_ms`, and returns how many there were. Files
/// of other names are somebody else's.
pub(crate) fn delete_older(folder: &Path, before_ms: i64) -> io::Result<u64> {
    let before = stamp(before_ms);
    let mut deleted = 0;
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().and_then(stamped).is_some_and(|it| it < before.as_str()) {
            std::fs::remove_file(entry.path())?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns when the session of a log began, as its name says; nothing of what is no log.
fn stamped(name: &str) -> Option<&str> {
    let name = name.strip_prefix(NAME.0)?.strip_suffix(NAME.1)?;
    let (stamp, number) = name.split_at_checked(STAMP.len())?;
    let is_alike = |(it, pattern): (char, char)| match pattern {
        '0' => it.is_ascii_digit(),
        other => it == other,
    };
    let is_stamp = stamp.chars().zip(STAMP.chars()).all(is_alike);
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    let is_end = number.is_empty() || number.strip_prefix('-').is_some_and(is_number);
    (is_stamp && is_end).then_some(stamp)
}

fn create_in(folder: &Path, at_ms: i64) -> io::Result<(PathBuf, File)> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    let (start, end) = NAME;
    let stamp = stamp(at_ms);
    for number in 1..=SAME_SECOND {
        let name = match number {
            1 => format!("{start}{stamp}{end}"),
            number => format!("{start}{stamp}-{number}{end}"),
        };
        let path = folder.join(name);
        match create_private(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_794_870_245_123;

    /// CO-9, CO-109.
    #[test]
    fn lines_have_their_time_and_no_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let mut log = SessionLog::create(folder.path(), AT, redactor);
        log.line(AT, r#"{"text":"hunter2-hunter2"}"#);
        log.line(AT + 1, "no JSON\nat all");
        assert!(log.fault().is_none());
        let text = std::fs::read_to_string(log.path().unwrap()).unwrap();
        assert_eq!(
            text,
            "2026-11-16T23:04:05.123Z\t{\"text\":\"[masked]\"}\n\
             2026-11-16T23:04:05.124Z\tno JSON at all\n"
        );
    }

    /// A disk that is full costs the log, and the log says so.
    #[test]
    fn a_log_that_is_cut_off_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = SessionLog::create(folder.path(), AT, Redactor::new([]));
        log.file = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
        log.line(AT, "{}");
        log.line(AT, "{}");
        let (path, fault) = (log.path().unwrap().display(), log.fault().unwrap().to_string());
        let words = format!("the log of this session is incomplete: {path} takes no more: ");
        assert!(fault.starts_with(&words), "{fault}");
    }

    /// Whatever else lies there stays.
    #[test]
    fn old_logs_are_deleted_by_their_names_alone() {
        let folder = tempfile::tempdir().unwrap();
        let old = ["run-20261116-230404.log", "run-20251231-235959-2.log"];
        let kept = [
            "notes-20251231-235959.log",
            "run-20251231-235959-.log",
            "run-20251231-235959-2.log.gz",
            "run-20251231-235959.txt",
            "run-20251231.log",
            "run-20261116-230405.log",
            "run-2026111é-230404.log",
        ];
        for name in old.iter().chain(&kept) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(delete_older(folder.path(), AT).unwrap(), 2);
        let left = std::fs::read_dir(folder.path()).unwrap();
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut left: Vec<_> = left.map(name).collect();
        left.sort();
        assert_eq!(left, kept);
    }

    /// CO-5.
    #[test]
    fn sessions_of_one_second_have_logs_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let create = || SessionLog::create(folder.path(), AT, Redactor::new([]));
        let name = |log: SessionLog| log.path().unwrap().file_name().unwrap().to_owned();
        let names = [create(), create()].map(name);
        assert_eq!(names, ["run-20261116-230405.log", "run-20261116-230405-2.log"]);
    }
}
