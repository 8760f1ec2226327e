//! Transcripts: the streams of agent CLIs in one shape, and the record they come to.
//!
//! A [`Decoder`] is pushed bytes and returns [`Event`]s; at the end there is one [`Record`]. It is
//! permissive and lossless: a line that is blank, malformed, no object or unknown is kept raw, counted
//! and told with its place, and nothing ends the reading. A program that prints one document instead is
//! read as if it had written the lines. What a program says of itself is recorded, not believed:
//! whether a payload satisfies a contract is for [`judge`](crate::judge()) to say.

mod category;
mod claude;
mod codex;
mod delivery;
mod ending;
mod event;
mod gather;
mod gemini;
mod heuristics;
mod meter;
mod object;
mod opencode;
mod output;
mod parsed;
mod program;
mod record;
mod tally;

use std::ops::Range;

use crate::codec::Usage;
use crate::excerpt;
use crate::json::{Kind, Node};
use crate::wire::lines::{self, Line};

pub use category::Category;
pub use ending::Ending;
pub use event::{
    Assistant, AssistantMessage, Block, Event, Finish, Init, Notification, Place, Raw, RawReason,
    Retry, System, Told, User, UserMessage, Verbatim, Warning,
};
use gather::Gatherer;
pub use heuristics::Heuristics;
use object::{NoObject, Object};
pub use parsed::Parsed;
use parsed::Parsing;
pub use program::Program;
pub use record::{Exit, LineCounts, Metadata, Payload, PayloadSource, RawLine, Record, VERSION};
use tally::Tally;

/// The longest line that is read by default. Results repeat their payload, so that lines of a
/// megabyte are common; readers with a limit of 64 KiB or 1 MiB are known to have crashed.
pub const LINE_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// The longest name of a kind that is repeated.
const NAME_LIMIT_CHARS: usize = 80;

/// What the schema of a stream says of token counts, whose type belongs to the codecs.
#[cfg(feature = "schemars")]
type Tokens = std::collections::BTreeMap<String, Option<u64>>;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether anybody hears what happens in a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Audience {
    #[default]
    Somebody,
    /// Only the record is wanted.
    Nobody,
}

/// Reads the stream of one agent CLI.
#[derive(Debug)]
pub struct Decoder {
    lines: lines::Decoder,
    gatherer: Gatherer,
    program: Option<Program>,
    codex: codex::Reader,
    gemini: gemini::Reader,
    tally: Tally,
    heuristics: Heuristics,
    audience: Audience,
}

/// What is left when a stream has ended.
#[derive(Debug)]
pub struct Ended {
    /// What the last line says, if it had no line break.
    pub events: Vec<Event>,
    /// What it all comes to.
    pub record: Record,
}

impl Default for Decoder {
    /// Reads the stream of whichever program it turns out to be.
    fn default() -> Self {
        Self {
            lines: lines::Decoder::within(LINE_LIMIT_BYTES),
            gatherer: Gatherer::within(LINE_LIMIT_BYTES),
            program: None,
            codex: codex::Reader::default(),
            gemini: gemini::Reader::default(),
            tally: Tally::new(),
            heuristics: Heuristics::default(),
            audience: Audience::default(),
        }
    }
}

impl Decoder {
    /// Reads the stream of `program`.
    pub fn of(program: Program) -> Self {
        Self { program: Some(program), ..Self::default() }
    }

    /// Reads no line, and no document over several, that has more than `limit_bytes`.
    #[must_use]
    pub fn within(self, limit_bytes: usize) -> Self {
        let (lines, gatherer) =
            (lines::Decoder::within(limit_bytes), Gatherer::within(limit_bytes));
        Self { lines, gatherer, ..self }
    }

    /// Decides whether doubts about a success are raised.
    #[must_use]
    pub fn with_heuristics(self, heuristics: Heuristics) -> Self {
        Self { heuristics, ..self }
    }

    /// Reads for the record alone: what happens need not be told, and most of it is not.
    #[must_use]
    pub fn for_record(self) -> Self {
        Self { audience: Audience::Nobody, ..self }
    }

    /// Reads the next bytes, which may be cut anywhere, and returns what they say.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let lines = self.lines.push(bytes);
        lines.into_iter().flat_map(|line| self.take(line)).collect()
    }

    /// Claims that each further line stands for itself, so that it can be parsed elsewhere.
    pub fn is_underway(&self) -> bool {
        self.tally.record.lines.raw_messages > 0 && self.gatherer.is_idle()
    }

    /// Hands over what splits the rest of a stream that is under way into lines. Each line comes back
    /// to [`Decoder::hear`], in order.
    pub fn hand_over_lines(&mut self) -> lines::Decoder {
        std::mem::replace(&mut self.lines, lines::Decoder::within(0))
    }

    /// Takes the next line of a stream that is under way, and returns what it says.
    pub fn hear(&mut self, parsed: Parsed) -> Vec<Event> {
        self.tally.record.lines.total += 1;
        self.heed(parsed)
    }

    /// Claims that the program says it is done, and that nothing goes on in the background; it may
    /// say so again.
    pub fn is_over(&self) -> bool {
        self.tally.is_over()
    }

    /// Claims that the model delivered an answer that the program took: it is not asked again.
    pub fn has_answer(&self) -> bool {
        self.tally.delivery.is_accepted()
    }

    /// Returns what was used so far, as far as the program tells it while it works.
    pub fn used(&self) -> Usage {
        self.tally.used()
    }

    /// Takes what the program left beside the stream as its last message: codex has a file for that. It is
    /// heeded only if the stream has no message at all.
    pub fn note_last_message(&mut self, text: &str) {
        if self.program == Some(Program::Codex) {
            self.codex.note_last_message(text);
        }
    }

    /// Ends the stream.
    pub fn finish(mut self, exit: Exit) -> Ended {
        let mut events = self.lines.finish().map(|line| self.take(line)).unwrap_or_default();
        for line in self.gatherer.release(None) {
            events.extend(self.read(line));
        }
        self.codex.finish(&mut self.tally);
        self.tally.record.program = self.program;
        Ended { events, record: self.tally.into_record(exit, self.heuristics) }
    }

    fn take(&mut self, line: Line) -> Vec<Event> {
        self.tally.record.lines.total += 1;
        // A document is all that there is.
        if self.is_underway() {
            return self.read(line);
        }
        let ready = self.gatherer.take(line);
        ready.into_iter().flat_map(|line| self.read(line)).collect()
    }

    fn read(&mut self, line: Line) -> Vec<Event> {
        self.heed(Parsed::read(line))
    }

    fn heed(&mut self, parsed: Parsed) -> Vec<Event> {
        let Parsed { at, ending, content } = parsed;
        let (text, object) = match content {
            Parsing::TooLong => {
                return self.keep(Raw { at, reason: RawReason::TooLong, detail: None, text: None });
            }
            Parsing::Blank(text) => {
                let text = Some(text);
                return self.keep(Raw { at, reason: RawReason::Blank, detail: None, text });
            }
            Parsing::Text(text, object) => (text, object),
        };
        let is_array = matches!(object, Err(NoObject::OtherKind(Kind::Array)));
        if is_array && self.tally.record.lines.raw_messages == 0 {
            let said = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&text).as_bytes();
            let skipped = (text.len() - said.len()) as u64;
            let start = Place { offset: at.offset + skipped, ..at };
            if let Some(items) = object::items(said) {
                return self.read_items(start, said, items);
            }
        }
        self.tell(at, text, object, ending)
    }

    /// Reads the items of an array as if they were lines.
    fn read_items(&mut self, mut at: Place, array: &[u8], items: Vec<Range<usize>>) -> Vec<Event> {
        let mut events = Vec::new();
        let mut read = 0;
        for item in items {
            let skipped = array.get(read..item.start).unwrap_or_default();
            at.line += memchr::memchr_iter(b'\n', skipped).count() as u64;
            at.offset += skipped.len() as u64;
            at.length = item.len() as u64;
            read = item.start;
            let text = array.get(item).unwrap_or_default();
            let object = Object::read(text);
            let text = String::from_utf8_lossy(text).into_owned();
            events.extend(self.tell(at, text, object, lines::Ending::Newline));
        }
        events
    }

    /// Tells what an object says, or keeps the text that is none; it may be with the object.
    fn tell(
        &mut self,
        at: Place,
        mut text: String,
        object: Result<Object, NoObject>,
        ending: lines::Ending,
    ) -> Vec<Event> {
        let (reason, detail) = match object {
            Ok(object) => {
                if let Some(events) = self.understand(at, &object) {
                    return events;
                }
                let detail = named(&object);
                if text.is_empty() {
                    text = object.into_text();
                }
                (RawReason::Unknown, detail)
            }
            Err(NoObject::OtherKind(kind)) => (RawReason::NoObject, with_article(kind).to_owned()),
            Err(NoObject::Ambiguous(key)) => {
                let key = excerpt(&key, NAME_LIMIT_CHARS, "…");
                (RawReason::Ambiguous, format!("member `{key}` twice"))
            }
            Err(NoObject::Malformed(error)) => {
                let reason = match ending {
                    lines::Ending::Newline => RawReason::Malformed,
                    lines::Ending::EndOfStream => RawReason::Cut,
                };
                (reason, format!("{} at column {}", error.kind, error.column))
            }
        };
        self.keep(Raw { at, reason, detail: Some(detail), text: Some(text) })
    }

    /// Reads an object; `None` if it is not known.
    fn understand(&mut self, at: Place, object: &Object) -> Option<Vec<Event>> {
        self.tally.lone_surrogates += object.lone_surrogates;
        self.tally.huge_numbers += object.huge_numbers;
        let lines = &mut self.tally.record.lines;
        lines.raw_messages += 1;
        lines.stream_events += u64::from(object.root().member("type").is_some());
        self.program = self.program.or_else(|| Program::of_line(object.root()));
        let tally = &mut self.tally;
        let events = match self.program? {
            program @ (Program::Claude | Program::Qwen) => {
                return claude::read(program, at, object, tally, self.audience);
            }
            Program::Codex => self.codex.read(at, object, tally),
            Program::Gemini => self.gemini.read(at, object, tally),
            Program::Opencode => opencode::read(at, object, tally),
        };
        (!events.is_empty()).then_some(events)
    }

    /// Keeps a line as it is.
    fn keep(&mut self, raw: Raw) -> Vec<Event> {
        self.tally.count_raw(&raw);
        vec![Event::Raw(raw)]
    }
}

/// Says what an object calls itself.
fn named(object: &Object) -> String {
    match object.root().member("type").and_then(Node::as_str) {
        Some(kind) => format!("type `{}`", excerpt(kind, NAME_LIMIT_CHARS, "…")),
        None => "no type".to_owned(),
    }
}

fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Boolean => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod laws;
