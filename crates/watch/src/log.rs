//! The log of a session: every line of its stream, with its time.
//!
//! The rule it protects: no secret reaches the disk, and a disk that fails costs the log, never the
//! session.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use airtight_core::calendar::{rfc3339, stamp};
use airtight_core::redact::Redactor;

/// How many sessions may begin within one second: they follow each other, so two are rare.
const SAME_SECOND: u32 = 100;

/// The log of one session.
#[derive(Debug)]
pub struct SessionLog {
    path: PathBuf,
    file: Option<File>,
    redactor: Redactor,
    failure: Option<io::Error>,
}

impl SessionLog {
    /// Creates `run-YYYYMMDD-HHMMSS.log` in `folder`, readable by its owner alone.
    pub fn create(folder: &Path, at_ms: i64, redactor: Redactor) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        let stamp = stamp(at_ms);
        for number in 1..=SAME_SECOND {
            let name = match number {
                1 => format!("run-{stamp}.log"),
                number => format!("run-{stamp}-{number}.log"),
            };
            let path = folder.join(name);
            match create_private(&path) {
                Ok(file) => return Ok(Self { path, file: Some(file), redactor, failure: None }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one line of the stream.
    pub fn line(&mut self, at_ms: i64, json: &str) {
        let Some(file) = &mut self.file else { return };
        let masked = self.redactor.mask(json);
        // One line stays one line, whatever somebody passes for JSON.
        let masked = masked.replace(['\n', '\r'], " ");
        let line = format!("{}\t{masked}\n", rfc3339(at_ms));
        if let Err(error) = file.write_all(line.as_bytes()) {
            self.failure = Some(error);
            self.file = None;
        }
    }

    /// Returns why the log is incomplete, if it is.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

impl Drop for SessionLog {
    /// Tells at the end of the session that its log is not whole.
    fn drop(&mut self) {
        if let Some(error) = &self.failure {
            tracing::warn!(%error, log = %self.path.display(), "the log of a session is cut off");
        }
    }
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const AT: i64 = 1_794_870_245_123;

    /// CO-9, CO-109.
    #[test]
    fn lines_have_their_time_and_no_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let mut log = SessionLog::create(folder.path(), AT, redactor).unwrap();
        log.line(AT, r#"{"text":"hunter2-hunter2"}"#);
        log.line(AT + 1, "no JSON\nat all");
        let text = std::fs::read_to_string(log.path()).unwrap();
        assert_eq!(
            text,
            "2026-11-16T23:04:05.123Z\t{\"text\":\"[masked]\"}\n\
             2026-11-16T23:04:05.124Z\tno JSON at all\n"
        );
    }

    /// Counts what is told.
    #[derive(Default)]
    struct Ear(Arc<AtomicUsize>);

    impl tracing::Subscriber for Ear {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            assert_eq!(*event.metadata().level(), tracing::Level::WARN);
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    /// A disk that is full costs the log, and that is told once, at the end.
    #[test]
    fn a_log_that_is_cut_off_is_told_at_the_end_of_its_session() {
        let folder = tempfile::tempdir().unwrap();
        let ear = Ear::default();
        let told = Arc::clone(&ear.0);
        tracing::subscriber::with_default(ear, || {
            let mut log = SessionLog::create(folder.path(), AT, Redactor::new([])).unwrap();
            log.file = Some(OpenOptions::new().write(true).open("/dev/full").unwrap());
            log.line(AT, "{}");
            log.line(AT, "{}");
            assert!(log.failure().is_some());
            assert_eq!(told.load(Ordering::Relaxed), 0);
            drop(log);
            assert_eq!(told.load(Ordering::Relaxed), 1);
            drop(SessionLog::create(folder.path(), AT, Redactor::new([])).unwrap());
            assert_eq!(told.load(Ordering::Relaxed), 1);
        });
    }

    /// CO-5.
    #[test]
    fn sessions_of_one_second_have_logs_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let create = || SessionLog::create(folder.path(), AT, Redactor::new([])).unwrap();
        let names = [create(), create()].map(|log| log.path().file_name().unwrap().to_owned());
        assert_eq!(names, ["run-20261116-230405.log", "run-20261116-230405-2.log"]);
    }
}
