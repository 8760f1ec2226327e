//! The markers of older prompts: `[EVENT:level:service] message` and its kin, one on a line.
//!
//! They are read from what a session said, never from what it showed: code, quotations and
//! explanations of the format are none. What looks like a marker and is none is told with its place
//! and the reason. Each text block stands by itself.

mod line;
mod prose;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::cooldown::{CooldownAction, CooldownClaim};
use super::event::Event;
use super::level::Level;
use super::memory::MemoryClaim;
use crate::excerpt;
use line::{Found, Marker};
use prose::{Prose, Standing, is_in_span};

/// The most text of one session that is read: more than any session says, less than memory.
pub const MARKER_TEXT_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// The longest line that can be a marker: an event is a sentence.
pub const MARKER_LINE_LIMIT_BYTES: usize = 64 * 1024;

/// The most lines that are told as no markers; more are counted.
pub const REFUSED_LINES_LIMIT: usize = 100;

/// How much of a line is told.
const TOLD_CHARS: usize = 200;

/// What the markers in a session's text say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Markers {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The memories, in order.
    pub memories: Vec<MemoryClaim>,
    /// What was done to services, in order.
    pub cooldowns: Vec<CooldownClaim>,
    /// What looks like a marker and is none.
    pub refused: Vec<RefusedLine>,
    /// How many more there were.
    pub refused_more: u64,
}

/// A line that looks like a marker and is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedLine {
    /// Its text block, from 1.
    pub block: u64,
    /// Its line in the block, from 1.
    pub line: u64,
    /// Why it is none.
    pub reason: Refused,
    /// Its beginning.
    pub text: String,
}

/// Why a line is no marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    /// It stands in a fence.
    Fenced,
    /// It is a quotation.
    Quoted,
    /// It stands right below a quotation.
    Continued,
    /// It stands in `<pre>`.
    Preformatted,
    /// It stands in a code span.
    Span,
    /// It shows the format: a slot holds its own name.
    Placeholder,
    /// It stands behind other words.
    Amid,
    /// It stands behind another marker.
    Second,
    /// Its bracket is of another kind or not closed.
    Bracket,
    /// Its word is in other letters, or misspelt.
    Word,
    /// It has more or fewer parts than its kind.
    Parts,
    /// Its service has other characters than letters, digits, `_` and `-`.
    Service,
    /// Its service has a longer name than any service.
    LongService,
    /// It has no message.
    Message,
    /// Its category is unknown.
    Category,
    /// Its action is not `restart` or `redeployment`.
    Action,
    /// It does not say `success` or `failure`, a dash and why.
    Result,
    /// Its line is too long.
    TooLong,
    /// The session said more than is read.
    TooMuch,
}

impl Refused {
    /// Says what is wrong.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Fenced => "it stands in a code fence",
            Self::Quoted => "it is a quotation",
            Self::Continued => "it continues the quotation above it: an empty line ends one",
            Self::Preformatted => "it stands in `<pre>`",
            Self::Span => "it stands in a code span",
            Self::Placeholder => "it shows the format",
            Self::Amid => "it does not begin its line",
            Self::Second => "there is another marker before it in its line",
            Self::Bracket => "its square brackets are not complete",
            Self::Word => "its word is not EVENT, MEMORY or COOLDOWN",
            Self::Parts => "it has not the parts of its kind",
            Self::Service => "its service has characters that are not letters, digits, `_` or `-`",
            Self::LongService => "its service has a name of over 255 bytes",
            Self::Message => "it has no message",
            Self::Category => "its category is unknown",
            Self::Action => "its action is not restart or redeployment",
            Self::Result => "it does not say success or failure, a dash and why",
            Self::TooLong => "its line has over 64 KiB",
            Self::TooMuch => "the session said more than is read",
        }
    }

    /// Claims that somebody probably meant it as a marker.
    pub fn is_slip(self) -> bool {
        match self {
            Self::Fenced | Self::Quoted | Self::Span | Self::Placeholder => false,
            Self::Continued
            | Self::Preformatted
            | Self::Amid
            | Self::Second
            | Self::Bracket
            | Self::Word
            | Self::Parts
            | Self::Service
            | Self::LongService
            | Self::Message
            | Self::Category
            | Self::Action
            | Self::Result
            | Self::TooLong
            | Self::TooMuch => true,
        }
    }
}

impl RefusedLine {
    /// Returns the event that tells operators of a slip; what was only shown needs none.
    pub fn event(&self) -> Option<Event> {
        self.reason.is_slip().then(|| {
            let Self { block, line, reason, text } = self;
            let why = reason.explanation();
            let message = if *reason == Refused::TooMuch {
                format!("{why}: from line {line} of text {block} on, nobody looked for markers")
            } else {
                format!("line {line} of text {block} looks like a marker, but {why}: {text}")
            };
            Event::of_watch(Level::Warning, message)
        })
    }
}

impl Markers {
    /// Reads the markers in `blocks`.
    pub fn read<'t>(blocks: impl IntoIterator<Item = &'t str>) -> Self {
        let mut reader = MarkerReader::default();
        for block in blocks {
            reader.push(block);
            reader.end_block();
        }
        reader.finish()
    }

    fn refuse(&mut self, refused: RefusedLine) {
        if self.refused.len() < REFUSED_LINES_LIMIT {
            self.refused.push(refused);
        } else {
            self.refused_more = self.refused_more.saturating_add(1);
        }
    }
}

/// Reads text blocks as they are said, in pieces of any size.
#[derive(Debug, Default)]
pub struct MarkerReader {
    prose: Prose,
    /// The line that is not complete yet.
    line: String,
    lines: u64,
    blocks: u64,
    bytes: usize,
    found: Markers,
}

impl MarkerReader {
    /// Reads the next piece of a block.
    pub fn push(&mut self, piece: &str) {
        let Some(left) = MARKER_TEXT_LIMIT_BYTES.checked_sub(self.bytes) else {
            return;
        };
        self.bytes = self.bytes.saturating_add(piece.len());
        let mut rest = piece.get(..piece.floor_char_boundary(left)).unwrap_or_default();
        while let Some((line, behind)) = rest.split_once('\n') {
            self.line.push_str(line);
            self.end_line();
            rest = behind;
        }
        self.line.push_str(rest);
        if self.bytes > MARKER_TEXT_LIMIT_BYTES {
            self.line.clear();
            let (block, line) = (self.blocks + 1, self.lines + 1);
            let reason = Refused::TooMuch;
            self.found.refuse(RefusedLine { block, line, reason, text: String::new() });
        }
    }

    /// Ends a block: the next one begins with a line of its own, outside of every fence.
    pub fn end_block(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.prose = Prose::default();
        self.lines = 0;
        self.blocks = self.blocks.saturating_add(1);
    }

    /// Returns what was found.
    pub fn finish(mut self) -> Markers {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.found
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.lines = self.lines.saturating_add(1);
        let standing = self.prose.read(&line);
        for found in line::markers(line.trim()) {
            let reason = match (standing, found) {
                (Standing::Fenced, _) => Refused::Fenced,
                (Standing::Quoted, _) => Refused::Quoted,
                (Standing::Continued, _) => Refused::Continued,
                (Standing::Preformatted, _) => Refused::Preformatted,
                (Standing::Said, _) if line.len() > MARKER_LINE_LIMIT_BYTES => Refused::TooLong,
                (Standing::Said, Found::At(at, _)) if is_in_span(line.trim(), at) => Refused::Span,
                (Standing::Said, Found::At(_, reason)) => reason,
                (Standing::Said, Found::Marker(marker)) => {
                    self.take(marker);
                    continue;
                }
            };
            let (block, line_number) = (self.blocks + 1, self.lines);
            let text = excerpt(line.trim(), TOLD_CHARS, "…").into_owned();
            self.found.refuse(RefusedLine { block, line: line_number, reason, text });
            if standing != Standing::Said {
                return;
            }
        }
    }

    fn take(&mut self, marker: Marker) {
        match marker {
            Marker::Event(event) => self.found.events.push(event),
            Marker::Memory(claim) => self.found.memories.push(claim),
            Marker::Cooldown(claim) => self.found.cooldowns.push(claim),
        }
    }
}

/// Returns the action of this name, in small letters.
fn action(name: &str) -> Option<CooldownAction> {
    [CooldownAction::Restart, CooldownAction::Redeployment]
        .into_iter()
        .find(|action| action.name() == name)
}
