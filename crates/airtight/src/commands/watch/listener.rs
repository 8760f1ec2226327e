//! Who listens to the run of a session: the log, the ledger, and whoever reads what was said.

use std::collections::HashSet;
use std::sync::Arc;

use airtight_agent::{Event, Journal, Observer};
use airtight_core::message::Block;
use airtight_core::run::{Ending, EventKind, Report};
use airtight_core::transcript::{Block as Piece, Event as Act, Record, Told};
use airtight_core::watch::{ActionState, MARKER_TEXT_LIMIT_BYTES};

use crate::ledger::Recorder;
use crate::output::Output;

/// Listens to one run.
pub(super) struct Listener<'l> {
    output: Output<'l>,
    recorder: Arc<Recorder>,
    heard: Heard,
}

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What the model said in text, block by block. What it says again when it is asked again is not
    /// there twice.
    pub(super) said: Vec<String>,
    /// What came of the tool calls of an agent CLI, by their names.
    pub(super) results: Vec<(String, ActionState)>,
    /// What an agent CLI says that it answers.
    pub(super) result: Option<String>,
    /// Whether an agent CLI was ended before what it had started was over.
    pub(super) pending: bool,
    said_bytes: usize,
    /// The lines that may be markers.
    marked: HashSet<String>,
    is_asked_again: bool,
    is_program: bool,
}

impl<'l> Listener<'l> {
    pub(super) fn new(mut output: Output<'l>, recorder: Arc<Recorder>) -> Self {
        output.keep_in(Arc::clone(&recorder));
        Self { output, recorder, heard: Heard::default() }
    }

    /// Tells the end to the log, and returns what was heard.
    pub(super) fn end(mut self, report: &Report) -> Heard {
        self.output.tell_end(report);
        self.heard
    }
}

impl Observer for Listener<'_> {
    fn event(&mut self, event: &Event) {
        self.output.event(event);
        self.recorder.event(event);
        if event.parent_call_id.is_none() {
            self.heard.hear(&event.kind);
        }
    }

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        let journal: Arc<dyn Journal> = Arc::clone(&self.recorder) as Arc<dyn Journal>;
        Some(journal)
    }
}

impl Heard {
    fn hear(&mut self, kind: &EventKind) {
        match kind {
            // What a program says is witnessed; what it is taken for is the same again.
            EventKind::Said { reply, .. } if !self.is_program => {
                for block in &reply.blocks {
                    if let Block::Text(text) = block {
                        self.say(text);
                    }
                }
            }
            EventKind::Witnessed(act) => {
                self.is_program = true;
                self.witness(act);
            }
            EventKind::Recorded(record) => self.record(record),
            // The same words, said again, would count twice.
            EventKind::Judged(attempt) if attempt.ending != Ending::Accepted => {
                self.is_asked_again = true;
            }
            EventKind::Began(_)
            | EventKind::Delta(_)
            | EventKind::Said { .. }
            | EventKind::Heard(_)
            | EventKind::Judged(_)
            | EventKind::Extracting { .. }
            | EventKind::Retried(_)
            | EventKind::Notified(_)
            | EventKind::Ended(_) => {}
        }
    }

    fn say(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let may_be_marker = |line: &&str| line.trim_start().starts_with('[');
        let marked: Vec<String> =
            text.lines().filter(may_be_marker).map(|line| line.trim().to_owned()).collect();
        let said = if self.is_asked_again {
            let is_new = |line: &&str| !may_be_marker(line) || !self.marked.contains(line.trim());
            text.lines().filter(is_new).collect::<Vec<_>>().join("\n")
        } else {
            text.to_owned()
        };
        self.marked.extend(marked);
        self.keep(said);
    }

    /// Keeps what was said, and of what is too much no more than it takes for the reader to tell of it.
    fn keep(&mut self, mut said: String) {
        let Some(left) = MARKER_TEXT_LIMIT_BYTES.checked_sub(self.said_bytes) else { return };
        said.truncate(said.ceil_char_boundary(left.saturating_add(1)));
        self.said_bytes = self.said_bytes.saturating_add(said.len());
        self.said.push(said);
    }

    fn witness(&mut self, act: &Act) {
        match act {
            Act::Assistant(said) if said.parent_tool_use_id.is_none() => {
                for piece in &said.message.content {
                    if let Piece::Text { text } = piece {
                        self.say(text);
                    }
                }
            }
            Act::User(user) => {
                for told in &user.message.content {
                    if let Told::ToolResult { tool_use_id, is_error, .. } = told {
                        let state =
                            if *is_error { ActionState::Failure } else { ActionState::Success };
                        self.results.push((tool_use_id.clone(), state));
                    }
                }
            }
            Act::Assistant(_)
            | Act::System(_)
            | Act::StreamEvent(_)
            | Act::Result(_)
            | Act::Raw(_) => {}
        }
    }

    fn record(&mut self, record: &Record) {
        if let Some(answer) = &record.answer {
            self.result = Some(answer.clone());
        }
        let is_forced = record.warnings.iter().any(|warning| warning.starts_with("exit-forced"));
        self.pending |= is_forced || !record.pending_tasks.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use airtight_core::watch::{Markers, Refused};

    use super::*;

    /// CO-22: what is said when the model is asked again counts, and what it only repeats does not.
    #[test]
    fn co_22_what_is_said_again_counts_once_and_what_is_new_counts() {
        let mut heard = Heard::default();
        heard.say("I looked.\n[EVENT:info] a");
        heard.is_asked_again = true;
        heard.say("Again:\n [EVENT:info] a\n[EVENT:critical] b");
        heard.say("[EVENT:critical] b");
        assert_eq!(heard.said, ["I looked.\n[EVENT:info] a", "Again:\n[EVENT:critical] b", ""]);
    }

    /// What a session says beyond what is read is refused, and told once.
    #[test]
    fn what_is_said_beyond_what_is_read_is_told() {
        let mut heard = Heard::default();
        heard.say("[EVENT:info] kept");
        heard.say(&"ä".repeat(MARKER_TEXT_LIMIT_BYTES / 2));
        heard.say("[EVENT:critical] lost");
        heard.say("[EVENT:critical] lost, too");
        assert!(heard.said_bytes <= MARKER_TEXT_LIMIT_BYTES + 4, "{} bytes", heard.said_bytes);
        let markers = Markers::read(heard.said.iter().map(String::as_str));
        let messages: Vec<_> = markers.events.into_iter().map(|event| event.message).collect();
        assert_eq!(messages, ["kept"]);
        let refused: Vec<_> = markers.refused.iter().map(|refused| refused.reason).collect();
        assert_eq!(refused, [Refused::TooMuch]);
    }
}
