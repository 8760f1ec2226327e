//! Finds the JSON values in what a model said.
//!
//! Only outermost values count: a part of a value is never taken for the answer. Where a value is
//! cut off or damaged beyond repair, that is reported beside the values found, because one of
//! those may be an example or a fragment and the damaged one the answer.

mod fence;
mod prose;
mod scalar;
mod thought;

use std::ops::Range;

use crate::json::{Limits, ParseError, ParseErrorKind};
use crate::repair::{self, Fault, Reading};
use prose::is_trivial;
use thought::{Thought, last_close, thought_at};

/// How many values are looked at; more is no answer but a listing.
const CANDIDATE_LIMIT: usize = 1024;

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
            Some(b'<' | b'[') if let Some(thought) = thought_at(self.text, self.at) => {
                return self.think(thought);
            }
            Some(b'{' | b'[') if self.open > 0 => self.open += 1,
            Some(b'{' | b'[') => return self.bracket(),
            Some(b'}' | b']') if self.ends_with_string() => return self.unopened(self.at),
            Some(b'}' | b']') if self.open > 0 => self.open -= 1,
            Some(b']') if self.ends_interval() => {}
            Some(b'}' | b']') => return self.unopened(self.at),
            Some(b'`' | b'~') => return self.ticks(),
            _ => {}
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

    fn think(&mut self, thought: Thought) {
        match thought {
            Thought::Block { end } => {
                self.at = end;
                self.floor = end;
                self.scalar_alone();
            }
            Thought::Close { end } => self.forget_until(end),
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
