//! The transcript of a run on disk: one JSON line for each event, the first of which says what ran.
//!
//! The rule it protects: neither keys nor the payload reach the disk, whether an answer was
//! accepted, rejected or never judged. Terminal arguments become one placeholder, and so does text
//! that core says is the answer; what subagents come back with becomes another. Violations keep
//! their keyword alone. A disk that fails costs the transcript, never the run.

mod line;
mod witness;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use airtight_core::redact::Redactor;
use serde_json::Value;

use crate::clock;
use crate::drive::{Event, Observer};

/// Writes the events of a run to a file.
#[derive(Debug)]
pub struct Recording {
    file: Option<File>,
    redactor: Redactor,
    /// The number of the next line; those of events have gaps, because deltas are not kept.
    next: u64,
    failure: Option<io::Error>,
}

impl Recording {
    /// Creates the file, readable by its owner alone; it must not exist.
    pub fn create(path: &Path, redactor: Redactor) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            create_private_folder(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self { file: Some(options.open(path)?), redactor, next: 0, failure: None })
    }

    /// Writes what deserves a warning but is no event of the run.
    pub fn note(&mut self, text: &str) {
        self.write(line::note(clock::unix_ms(), text));
    }

    fn write(&mut self, mut line: Value) {
        let Some(file) = &mut self.file else { return };
        self.redactor.mask_value(&mut line);
        let mut text = line.to_string();
        text.push('\n');
        if let Err(error) = file.write_all(text.as_bytes()) {
            self.failure = Some(error);
            self.file = None;
        }
    }

    /// Returns why the transcript is incomplete, if it is.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}

impl Observer for Recording {
    fn event(&mut self, event: &Event) {
        if let Some(line) = line::of(event, self.next) {
            self.next = self.next.saturating_add(1);
            self.write(line);
        }
    }
}

fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests;
