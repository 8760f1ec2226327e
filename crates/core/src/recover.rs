//! Finds the JSON values in what a model said.
//!
//! Only outermost values count: a part of a value is never taken for the answer. Where a value is
//! cut off or damaged beyond repair, that is reported beside the values found, because one of
//! those may be an example or a fragment and the damaged one the answer.

mod fence;
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
    /// Brackets of prose that are open in this line; nothing inside is a candidate.
    open: usize,
    /// Where the last value, thought or fence ended: what stands before it is another matter.
    floor: usize,
    /// Where the line ends that the last value ended in.
    line_end: usize,
    is_fenced: bool,
    /// Whether a block of program code never ends; then no more of them are looked for.
    is_unclosed: bool,
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
        is_fenced: false,
        is_unclosed: false,
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
        let offset = rest.iter().position(|byte| match byte {
            b'{' | b'[' | b'}' | b']' | b'<' | b'`' | b'~' => true,
            b'\n' => self.open > 0,
            _ => false,
        });
        self.at += offset.unwrap_or(rest.len());
        offset.is_some()
    }

    fn mark(&mut self) {
        match self.bytes.get(self.at) {
            // Prose may never close its brackets; it must not hide the rest of the text.
            Some(b'\n') => self.open = 0,
            Some(b'{' | b'[') if self.open > 0 => self.open += 1,
            Some(b'{' | b'[') => return self.bracket(),
            Some(b'}' | b']') if self.ends_with_string() => return self.unopened(self.at),
            Some(b'}' | b']') if self.open > 0 => self.open -= 1,
            Some(b']') if self.ends_interval() => {}
            Some(b'}' | b']') => return self.unopened(self.at),
            Some(b'<') => return self.tag(),
            _ => return self.ticks(),
        }
        self.at += 1;
    }

    fn bracket(&mut self) {
        let start = self.at;
        match repair::read(self.text, start, self.limits.depth) {
            Ok(reading) => self.take(reading),
            Err(Fault::Foreign { resume, open }) => {
                let interval = self.bytes.get(resume) == Some(&b')');
                let is_over =
                    memchr::memchr(b'\n', self.bytes.get(start..resume).unwrap_or_default());
                self.open = match is_over {
                    Some(_) => 0,
                    None => open.saturating_sub(usize::from(interval)),
                };
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
        if self.follows_key(start) {
            return self.unopened(start);
        }
        if self.is_prose(&reading) {
            self.at = end;
            return;
        }
        if self.precedes_item(start, end) {
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

    /// Steps over a fence's line, a block of program code, or a code span.
    fn ticks(&mut self) {
        let start = self.at;
        let marker = self.bytes.get(start).copied().unwrap_or_default();
        self.at = fence::run_end(self.bytes, start);
        match (self.at - start, marker) {
            (1 | 2, b'`') => self.span(start),
            (0..=2, _) => {}
            _ => self.fence(marker),
        }
    }

    fn fence(&mut self, marker: u8) {
        let Some((tag, end)) = fence::tag(self.text, self.at) else {
            return;
        };
        self.open = 0;
        let code = if fence::is_code(tag) && !self.is_unclosed {
            fence::code_end(self.text, end, marker)
        } else {
            None
        };
        self.is_unclosed |= fence::is_code(tag) && code.is_none();
        self.is_fenced = code.is_none() && !(self.is_fenced && tag.is_empty());
        self.at = code.unwrap_or(end);
        self.floor = self.at;
        self.scalar_alone();
    }

    /// Steps over the code span that `start` opens, unless it is one whole value.
    fn span(&mut self, start: usize) {
        let Some(end) = fence::span_end(self.bytes, start, self.at) else {
            return;
        };
        let inside = self.text.get(..end).unwrap_or_default().trim_end();
        let first = self.skip_blanks(self.at);
        self.at = end + (self.at - start);
        if matches!(self.bytes.get(first), Some(b'{' | b'['))
            && self.open == 0
            && let Ok(reading) = repair::read(inside, first, self.limits.depth)
            && reading.range.end == inside.len()
            && !is_trivial(&reading.text)
        {
            let behind = self.at;
            self.take(reading);
            self.at = self.at.max(behind);
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
        if is_sentence(line) {
            return false;
        }
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

    /// Claims that what reads like a value is part of a sentence: `string[]`, `see [3]`, `- [ ] x`.
    fn is_prose(&self, Reading { range, text, .. }: &Reading<'_>) -> bool {
        let first = self.bytes.get(range.start);
        if self.is_fenced || !matches!(first, Some(b'[' | b'{')) {
            return false;
        }
        let before = self.bytes.get(..range.start).unwrap_or_default();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_)".contains(byte);
        if first == Some(&b'[') && before.last().is_some_and(is_word) {
            return true;
        }
        let is_blank = |byte: &&u8| b" \t\r".contains(byte);
        let behind = self.bytes.get(range.end..).unwrap_or_default();
        let neighbours = [
            before.iter().rev().find(|byte| !is_blank(byte)),
            behind.iter().find(|byte| !is_blank(byte)),
        ];
        is_trivial(text) && neighbours.into_iter().flatten().any(|byte| *byte != b'\n')
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

/// Claims that `line` is prose up to the value behind it, though it quotes something:
/// `My review of "login.py": ` or `Verdict: "good". `.
fn is_sentence(line: &str) -> bool {
    let mut parts = line.split('"');
    let (Some(first), Some(last)) = (parts.next(), parts.next_back()) else {
        return false;
    };
    let is_paired = parts.count() % 2 == 1 && !line.contains('\\');
    let is_title = !first.contains(':') && first.trim().contains(' ') && last.trim() == ":";
    let starts_with_word = line.trim_start().starts_with(char::is_alphabetic);
    let is_apart = last.ends_with([' ', '\t']);
    is_paired
        && starts_with_word
        && is_apart
        && (is_title || last.trim_end().ends_with(['.', '!', '?']))
}

/// Claims that `value` is empty or holds nothing but numbers, as references and tick boxes do.
fn is_trivial(value: &str) -> bool {
    let inside = value.get(1..value.len() - 1).unwrap_or_default();
    inside.bytes().all(|byte| byte.is_ascii_digit() || b" \t\n\r,.+-eE".contains(&byte))
}
