//! What people see who sit in front of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use airtight_fake::Turn;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::stage::{Stage, good};

/// A terminal, and everything that was written to it.
pub(crate) struct Terminal {
    pub(crate) device: File,
    keyboard: File,
    pieces: Receiver<String>,
    seen: String,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let path = OsStr::from_bytes(name.as_bytes());
        let device = File::options().read(true).write(true).open(path).unwrap();
        let (show, pieces) = channel();
        let mut screen = File::from(screen);
        let keyboard = screen.try_clone().unwrap();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // An error means that everybody has closed the device.
            while let Ok(count) = screen.read(&mut piece) {
                let text = String::from_utf8_lossy(&piece[..count]).into_owned();
                if count == 0 || show.send(text).is_err() {
                    return;
                }
            }
        });
        Self { device, keyboard, pieces, seen: String::new() }
    }

    /// Waits until all of `words` were seen.
    pub(crate) fn shows(&mut self, words: &[&str]) {
        while !words.iter().all(|word| self.seen.contains(word)) {
            self.seen.push_str(&self.pieces.recv().unwrap());
        }
    }

    /// Types a line.
    #[cfg(feature = "embedded")]
    pub(crate) fn types(&mut self, line: &str) {
        std::io::Write::write_all(&mut self.keyboard, format!("{line}\n").as_bytes()).unwrap();
    }

    /// Returns everything that was seen once everybody has closed the device.
    pub(crate) fn close(self) -> String {
        let Self { device, keyboard, pieces, mut seen } = self;
        drop((device, keyboard));
        seen.extend(pieces.iter());
        seen
    }
}

#[test]
fn progress_is_live_and_the_answer_is_spread_out() {
    let look = Turn::call("list_directory", json!({ "path": "." })).usage(1_000, 20);
    let stage = Stage::new([look.gate(1, "calling"), good().gate(0, "answering")]);
    let mut terminal = Terminal::open();
    let model = ["--model", "anthropic:claude-sonnet-4-5", "Review"];
    let arguments = [&["run", "--json-schema", "review.json"], &model[..]].concat();
    let mut command = stage.command(&arguments);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdout(terminal.device.try_clone().unwrap());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    terminal.shows(&["turn 1", "list_directory"]);
    stage.fake.gate("calling").open();
    terminal.shows(&["turn 2", "1020 tokens", "$0.0033"]);
    stage.fake.gate("answering").open();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let seen = terminal.close();
    let answer = "{\r\n  \"summary\": \"fine\",\r\n  \"score\": 9\r\n}\r\n";
    assert!(seen.ends_with(answer), "{seen:?}");
}

#[test]
fn quiet_runs_show_the_answer_alone() {
    let stage = Stage::new([good()]);
    let terminal = Terminal::open();
    let mut command = stage.command(&["run", "--json-schema", "review.json", "--quiet", "Review"]);
    command.env("TERM", "xterm");
    command.stdout(terminal.device.try_clone().unwrap());
    command.stderr(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(terminal.close(), "{\r\n  \"summary\": \"fine\",\r\n  \"score\": 9\r\n}\r\n");
}

#[test]
fn a_summary_of_a_transcript_is_a_table() {
    let stage = Stage::new([good()]);
    let terminal = Terminal::open();
    let stream =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts/claude/older.ndjson");
    let mut command = stage.command(&["transcript", stream, "--summary"]);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.stdout(terminal.device.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    drop(command);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let expected = "\
program  claude 2.1.197 with claude-opus-5-5
outcome  says it succeeded
payload  {\"answer\":42}
session  5e55-01
stopped  tool_use
turns    3
tokens   22 in, 14 out
cost     0.00023 USD
time     0.298 s
lines    7, 7 of them events
";
    assert_eq!(terminal.close().replace("\r\n", "\n"), expected);
}
