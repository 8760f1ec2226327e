//! Finds the JSON values in what a model said.
//!
//! Only outermost values count: a part of a value is never taken for the answer. Where a value is
//! cut off or damaged beyond repair, that is reported beside the values found, because one of
//! those may be an example or a fragment and the damaged one the answer.

mod thought;

use std::borrow::Cow;
use std::ops::Range;

use crate::json::{Limits, ParseError, ParseErrorKind, StringEnd, number_end, string_end};
use crate::repair::{self, Fault, Reading};
use crate::verdict::{Edit, EditKind};
use thought::{Thought, last_close, thought_at};

/// How many values are looked at; more is no answer but a listing.
const CANDIDATE_LIMIT: usize = 1024;

/// How long an interval such as `(0, 1]` is at most.
const INTERVAL_LIMIT: usize = 24;

/// How far before a value the key is looked for that it may belong to.
const MEMBER_LIMIT: usize = 512;

/// What a string may be quoted with.
const QUOTES: [char; 6] = ['"', '\'', '“', '”', '‘', '’'];

/// What was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Found<'t> {
    /// The outermost values, in order.
    pub(crate) readings: Vec<Reading<'t>>,
    /// What stands in the way of trusting them.
    pub(crate) trouble: Option<Trouble>,
}

/// Why a text cannot be trusted to hold the whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It ends inside a value.
    Truncated { offset: usize },
    /// A value cannot be read.
    Damaged(ParseError),
    /// It is over a limit.
    OverLimit { limit: &'static str },
}

struct Finder<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    limits: Limits,
    /// Brackets of prose or program code that are still open; nothing inside is a candidate.
    open: usize,
    /// Where the last value, thought or fence ended: what stands before it is another matter.
    floor: usize,
    /// Where the line ends that the last value ended in.
    line_end: usize,
    found: Found<'t>,
}

/// Counts the quotes in `text` that are not escaped.
fn count_quotes(text: &str) -> usize {
    let is_escaped = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('\\'));
    text.match_indices('"').filter(|(at, _)| !is_escaped(*at)).count()
}

/// Finds every outermost value in `text`, repaired where that is possible.
pub(crate) fn find<'t>(text: &'t str, limits: &Limits) -> Found<'t> {
    let mut finder = Finder {
        text,
        bytes: text.as_bytes(),
        at: 0,
        limits: *limits,
        open: 0,
        floor: 0,
        line_end: 0,
        found: Found::default(),
    };
    finder.scalar_alone();
    while finder.found.trouble.is_none() && finder.next_mark() {
        finder.mark();
    }
    finder.found
}

impl<'t> Finder<'t> {
    /// Moves to the next byte that can mean something in prose.
    fn next_mark(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let offset = rest
            .iter()
            .position(|byte| matches!(byte, b'{' | b'[' | b'}' | b']' | b'<' | b'`' | b'~'));
        self.at += offset.unwrap_or(rest.len());
        offset.is_some()
    }

    fn mark(&mut self) {
        match self.bytes.get(self.at) {
            Some(b'{' | b'[') if self.open > 0 => self.open += 1,
            Some(b'{' | b'[') => return self.bracket(),
            Some(b'}' | b']') if self.ends_with_string() => return self.unopened(self.at),
            Some(b'}' | b']') if self.open > 0 => self.open -= 1,
            Some(b']') if self.ends_interval() => {}
            Some(b'}' | b']') => return self.unopened(self.at),
            Some(b'<') => return self.tag(),
            _ if self.open > 0 => {}
            _ => return self.fence(),
        }
        self.at += 1;
    }

    fn bracket(&mut self) {
        let start = self.at;
        match repair::read(self.text, start, self.limits.depth) {
            Ok(reading) => self.take(reading),
            Err(Fault::Foreign { resume, open }) => {
                let interval = self.bytes.get(resume) == Some(&b')');
                self.open = open.saturating_sub(usize::from(interval));
                self.at = resume;
            }
            Err(Fault::Truncated { offset }) => self.stop(start, Trouble::Truncated { offset }),
            Err(Fault::Damaged { offset, expected }) => {
                self.stop(start, self.damaged(offset, expected));
            }
            Err(Fault::TooDeep) => self.stop(start, Trouble::OverLimit { limit: "depth" }),
        }
    }

    fn take(&mut self, reading: Reading<'t>) {
        let Range { start, end } = reading.range;
        if self.follows_key(start) || self.precedes_item(start, end) {
            return self.unopened(start);
        }
        if self.ends_in_string(start, end) {
            return self.stop(start, self.damaged(end, "no quote behind the value"));
        }
        if self.found.readings.len() >= CANDIDATE_LIMIT {
            return self.stop(start, Trouble::OverLimit { limit: "candidates" });
        }
        self.found.readings.push(reading);
        self.at = end;
        self.floor = end;
    }

    /// Reports the part of a value whose beginning was lost.
    fn unopened(&mut self, offset: usize) {
        self.stop(offset, self.damaged(offset, "what encloses it to open"));
    }

    /// Claims that the bracket here may close a value in this line that seemed to end before.
    fn ends_with_string(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        self.at < self.line_end && before.ends_with(QUOTES)
    }

    /// Claims that the bracket here closes a parenthesis, as in `(0, 1]`.
    fn ends_interval(&self) -> bool {
        let from = self.at.saturating_sub(INTERVAL_LIMIT).max(self.floor);
        let near = self.bytes.get(from..self.at);
        near.is_some_and(|near| near.contains(&b'('))
    }

    fn damaged(&self, offset: usize, expected: &'static str) -> Trouble {
        let found = self.text.get(offset..).and_then(|rest| rest.chars().next());
        let kind = found.map_or(ParseErrorKind::Truncated, |found| ParseErrorKind::Unexpected {
            found,
            expected,
        });
        Trouble::Damaged(ParseError::new(kind, self.text, offset))
    }

    /// Ends the search, unless what went wrong turns out to be a thought.
    fn stop(&mut self, start: usize, trouble: Trouble) {
        match last_close(self.text, start) {
            Some(end) => self.forget_until(end),
            None => self.found.trouble = Some(trouble),
        }
    }

    fn forget_until(&mut self, end: usize) {
        self.found.readings.clear();
        self.open = 0;
        self.at = end;
        self.floor = end;
        self.scalar_alone();
    }

    fn tag(&mut self) {
        let closing = self.bytes.get(self.at + 1) == Some(&b'/');
        if self.open > 0 && !closing {
            self.at += 1;
            return;
        }
        match thought_at(self.text, self.at) {
            Some(Thought::Block { end }) => {
                self.at = end;
                self.floor = end;
                self.scalar_alone();
            }
            Some(Thought::Close { end }) => self.forget_until(end),
            None => self.at += 1,
        }
    }

    /// Steps over a fence's line, or over backticks in prose.
    fn fence(&mut self) {
        let marker = self.bytes.get(self.at).copied().unwrap_or_default();
        let start = self.at;
        while self.bytes.get(self.at) == Some(&marker) {
            self.at += 1;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let word = rest.iter().position(|byte| !is_tag(*byte)).unwrap_or(rest.len());
        if self.at - start >= 3 && self.bytes.get(self.skip_blanks(self.at + word)) == Some(&b'\n')
        {
            self.at += word;
            self.floor = self.at;
            self.scalar_alone();
        }
    }

    /// Takes the scalar at this place if nothing but a fence or the end of the text follows it.
    fn scalar_alone(&mut self) {
        let start = self.skip_space(self.at);
        let Some((end, text, edits)) = self.scalar(start) else {
            return;
        };
        let rest = self.bytes.get(self.skip_space(end)..).unwrap_or_default();
        if rest.is_empty() || rest.starts_with(b"```") || rest.starts_with(b"~~~") {
            self.take(Reading { range: start..end, text, edits });
        }
    }

    fn scalar(&self, start: usize) -> Option<(usize, Cow<'t, str>, Vec<Edit>)> {
        let rest = self.text.get(start..)?;
        let end = match self.bytes.get(start)? {
            b'"' => match string_end(self.bytes, start + 1) {
                StringEnd::Closed { end, .. } => end,
                StringEnd::Control { .. } | StringEnd::Open => return None,
            },
            b'-' | b'0'..=b'9' => number_end(self.bytes, start)?,
            _ => {
                let words = [
                    ("true", "true"),
                    ("false", "false"),
                    ("null", "null"),
                    ("True", "true"),
                    ("False", "false"),
                    ("None", "null"),
                ];
                let (word, constant) =
                    words.into_iter().find(|(word, _)| rest.starts_with(word))?;
                let edit = Edit { kind: EditKind::Constant, offset: Some(start), pointer: None };
                let edits = if word == constant { Vec::new() } else { vec![edit] };
                return Some((start + word.len(), Cow::Borrowed(constant), edits));
            }
        };
        Some((end, Cow::Borrowed(self.text.get(start..end)?), Vec::new()))
    }

    /// Claims that the value at `start` is that of a key before it, or stands in a string that is:
    /// the key stands in the same line.
    fn follows_key(&self, start: usize) -> bool {
        let near = start.saturating_sub(MEMBER_LIMIT).max(self.floor).min(start);
        let near = (near..start).find(|at| self.text.is_char_boundary(*at)).unwrap_or(start);
        let near = self.text.get(near..start).unwrap_or_default();
        let line = near.rsplit_once('\n').map_or(near, |(_, line)| line);
        let ends_key = |text: &str| text.trim_end().ends_with(QUOTES);
        let is_key = |(at, _): (usize, &str)| {
            let (before, behind) = line.split_at_checked(at).unwrap_or_default();
            let opens = behind.get(1..).is_some_and(|value| value.trim_start().starts_with(QUOTES));
            let is_word = before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
            ends_key(before) || is_word && opens
        };
        let is_direct = self
            .text
            .get(self.floor.min(start)..start)
            .is_some_and(|before| before.trim_end().strip_suffix(':').is_some_and(ends_key));
        is_direct || line.match_indices(':').any(is_key)
    }

    /// Claims that the closer before `end` may be part of a string with quotes that are not escaped:
    /// a quote follows at once, or half a pair in the same line.
    fn ends_in_string(&mut self, start: usize, end: usize) -> bool {
        let behind = self.text.get(end..).unwrap_or_default();
        let enclosed = self.text.get(..start).is_some_and(|before| before.ends_with('\''));
        if behind.starts_with(QUOTES) && !(enclosed && behind.starts_with('\'')) {
            return true;
        }
        if self.line_end < end {
            let rest = memchr::memchr(b'\n', behind.as_bytes()).unwrap_or(behind.len());
            self.line_end = end + rest;
        }
        let line = self.text.get(end..self.line_end).unwrap_or_default();
        let prose = line.split(['{', '[']).next().unwrap_or_default();
        !count_quotes(prose).is_multiple_of(2)
    }

    /// Claims that the value goes on as in a list: `{"a":1}, {` or `[1], "`.
    fn precedes_item(&self, start: usize, end: usize) -> bool {
        let comma = self.skip_space(end);
        let next = self.bytes.get(self.skip_space(comma + 1));
        let item = next == Some(&b'"') || next == Some(&b'{') && self.bytes.get(start) == next;
        self.bytes.get(comma) == Some(&b',') && item
    }

    fn skip_space(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    }

    fn skip_blanks(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(|byte| b" \t\r".contains(byte)) {
            at += 1;
        }
        at
    }
}

/// Claims that `byte` can be part of a fence's language tag.
fn is_tag(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_+-.".contains(&byte)
}
