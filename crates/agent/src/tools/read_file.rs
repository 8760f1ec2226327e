//! `read_file`: lines of a text file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};

use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking::Stop;
use super::file_tool::{Failure, FileTask, Ground};
use super::preview::{RESULT_LIMIT_BYTES, cost, prefix};
use crate::toolbox::Effect;

/// How much of one line is held: whoever writes longer ones does not mean them to be read.
const LINE_LIMIT_BYTES: u64 = 256 * 1024;

/// How much one call shows, as JSON: a page that is not cut again, with room for the note.
const PAGE_BYTES: usize = RESULT_LIMIT_BYTES - 1024;

/// How much is looked at to tell text from other files.
const PROBE_BYTES: u64 = 8 * 1024;

/// Reads a file.
#[derive(Debug, Deserialize)]
pub(super) struct ReadFile {
    path: String,
    #[serde(default = "first_line")]
    offset: u64,
    #[serde(default = "usual_lines")]
    limit: u64,
}

/// Where reading begins if nobody says.
fn first_line() -> u64 {
    1
}

/// How many lines are read if nobody says.
fn usual_lines() -> u64 {
    2000
}

impl FileTask for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file of the workspace. Long files are read in \
        pages: the last line says where to go on.";
    const EFFECT: Effect = Effect::Reads;
    const REQUIRED: &'static [&'static str] = &["path"];

    fn properties() -> Value {
        json!({
            "path": {
                "type": "string", "minLength": 1,
                "description": "The file, relative to the workspace.",
            },
            "offset": {
                "type": "integer", "minimum": 1,
                "description": "The first line to read, counted from 1. Default: 1.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": 100_000,
                "description": "How many lines to read. Default: 2000.",
            },
        })
    }

    fn perform(&self, ground: &Ground, stop: &Stop) -> Result<String, Failure> {
        let (file, _) = ground.workspace.open_file(&self.path)?;
        self.page(file, stop)
    }
}

impl ReadFile {
    /// Reads the lines asked for, as far as they fit.
    fn page(&self, mut file: File, stop: &Stop) -> Result<String, Failure> {
        let unreadable = |error| Failure::told(format!("{:?} cannot be read: {error}", self.path));
        let mut probe = Vec::new();
        let _: usize =
            file.by_ref().take(PROBE_BYTES).read_to_end(&mut probe).map_err(unreadable)?;
        if probe.contains(&0) {
            return Err(Failure::told(format!("{:?} is a binary file, not text", self.path)));
        }
        file.rewind().map_err(unreadable)?;

        let end = self.offset.saturating_add(self.limit);
        let mut lines = Lines { reader: BufReader::new(file), number: 0 };
        let mut page = Page::default();
        while let Some(line) = lines.next().map_err(unreadable)? {
            stop.check()?;
            if lines.number < self.offset {
                continue;
            }
            if lines.number >= end || !page.add(&line) {
                page.note(&format!("[more follows: read on with offset {}]", lines.number));
                break;
            }
        }
        if page.spelling == Spelling::Replaced {
            page.note("[not all of this is UTF-8: \u{fffd} stands for bytes that are not]");
        }
        if page.text.is_empty() {
            page.note(&match (lines.number, self.offset) {
                (0, _) => "[the file is empty]".to_owned(),
                (count, first) => format!("[nothing at line {first}: the file has {count} lines]"),
            });
        }
        Ok(page.text)
    }
}

/// Lines of bounded length.
struct Lines {
    reader: BufReader<File>,
    number: u64,
}

impl Lines {
    /// Reads the next line, with its end unless it is too long.
    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let count = self.reader.by_ref().take(LINE_LIMIT_BYTES).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if !line.ends_with(b"\n") {
            let _: usize = self.reader.skip_until(b'\n')?;
        }
        Ok(Some(line))
    }
}

/// What is shown.
#[derive(Default)]
struct Page {
    text: String,
    cost: usize,
    spelling: Spelling,
}

/// Whether the text shown is the file's own.
#[derive(Default, PartialEq, Eq)]
enum Spelling {
    #[default]
    Exact,
    /// Bytes that are not UTF-8 were replaced.
    Replaced,
}

impl Page {
    /// Adds a line; `false` if it does not fit.
    ///
    /// A first line that does not fit by itself is cut, or no page would ever show it.
    fn add(&mut self, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        if matches!(line, Cow::Owned(_)) {
            self.spelling = Spelling::Replaced;
        }
        let cost = cost(&line);
        if self.cost.saturating_add(cost) <= PAGE_BYTES {
            self.text.push_str(&line);
            self.cost = self.cost.saturating_add(cost);
            return true;
        }
        if !self.text.is_empty() {
            return false;
        }
        self.text.push_str(prefix(&line, PAGE_BYTES));
        self.note("[this line is longer than can be shown]");
        self.text.push('\n');
        self.cost = PAGE_BYTES;
        true
    }

    /// Adds a line of our own.
    fn note(&mut self, note: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(note);
    }
}
