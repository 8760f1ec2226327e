//! Finds the JSON values in what a model said.
//!
//! Only outermost values count: a part of a value is never taken for the answer. Where a value is
//! cut off or damaged beyond repair, that is reported beside the values found, because one of
//! those may be an example or a fragment and the damaged one the answer. Only a closed block that
//! says it is JSON, and holds nothing but one value, is certain enough to stand beside such pieces.

mod ending;
mod fence;
mod pairs;
mod prose;
mod role;
mod scalar;
mod thought;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;

use crate::json::{Limits, ParseError, ParseErrorKind};
use crate::repair::{self, Fault, Reading};
use pairs::Pairs;
use prose::Ahead;
pub(crate) use role::{Own, own};
use thought::{LEAD as THOUGHT_LEAD, Thought, last_close, thought_at};

/// How many values are looked at; more is no answer but a listing.
const CANDIDATE_LIMIT: usize = 1024;

/// How many pieces that cannot be read are kept: each may take back what was said before.
const DAMAGED_LIMIT: usize = 65_536;

/// How many broken pieces are stepped over beside a block of JSON: each may cost one reading of the
/// whole text.
const FAULT_LIMIT: usize = 8;

/// How many different asides of numbers are kept; those without anything in them are few.
const ASIDE_LIMIT: usize = 1024;

/// What was found in a text.
#[derive(Debug, Default)]
pub(crate) struct Found<'t> {
    /// The outermost values, in order.
    pub(crate) candidates: Vec<Candidate<'t>>,
    /// Values in sentences that hold nothing but numbers, by how they are written, with where they first
    /// stand: references mostly, and never the answer. But what the contract accepts may be meant as one.
    pub(crate) asides: BTreeMap<&'t str, usize>,
    /// What stands in the way of trusting them.
    pub(crate) trouble: Option<Trouble>,
    /// What stands in the way of trusting any but those in a block of JSON.
    pub(crate) noise: Option<Trouble>,
    /// What cannot be read, but for sketches with dots.
    pub(crate) damaged: Vec<Damaged>,
    /// Where what is said starts, behind the last thought.
    pub(crate) said_from: usize,
    /// Where the blocks start that are no program code and no value: next to a scalar they may be the
    /// answer.
    pub(crate) unread: Vec<usize>,
    /// The blocks that are no value, in order.
    pub(crate) blocks: Vec<Fenced>,
    /// Where the text ends, if something is open there in which nothing was said yet.
    pub(crate) open: Option<usize>,
}

/// A block that is no value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fenced {
    /// Where its content starts.
    pub(crate) start: usize,
    pub(crate) language: Language,
}

/// What a block says that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Nothing, text or JSON.
    Text,
    /// Another notation for data, such as YAML.
    Notation,
    Program,
}

/// A value that may be the answer.
#[derive(Debug)]
pub(crate) struct Candidate<'t> {
    pub(crate) reading: Reading<'t>,
    pub(crate) place: Place,
}

/// A piece that cannot be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Damaged {
    pub(crate) start: usize,
    pub(crate) kind: Damage,
}

/// What is wrong with such a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It is prose or program code: nothing in it says that JSON is meant.
    Foreign,
    /// It cannot be read on.
    Broken,
    /// The text ends in it.
    Cut,
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is all that a closed block of JSON holds, and no string can be open around that block.
    JsonBlock,
    Elsewhere,
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

/// The fenced block that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Unnamed,
    /// It says that it is JSON; `first` is where its content starts, if it is certain that it does.
    Json {
        first: Option<usize>,
    },
}

/// A block that no fence has closed.
struct Opened {
    /// Where its content starts.
    start: usize,
    /// Whether it says that it is JSON.
    is_json: bool,
}

struct Finder<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    limits: Limits,
    /// Whether the text goes on behind this part.
    is_cut: bool,
    /// Brackets of prose that are open in this line; nothing inside is a candidate.
    open: usize,
    /// Where the last value, thought or fence ended: what stands before it is another matter.
    floor: usize,
    /// Where the line ends that the last value ended in.
    line_end: usize,
    block: Block,
    /// Every block so far.
    blocks: Vec<Fenced>,
    /// Where the content of the block starts that no fence has closed.
    opened: Option<Opened>,
    /// How many blocks are open around the one that was opened last.
    around: usize,
    /// Whether a thought goes on where the text ends.
    is_thinking: bool,
    ahead: Ahead,
    /// Whether there is a fence anywhere; searched for where something else is broken, and once.
    has_fence: OnceCell<bool>,
    faults: usize,
    pairs: Pairs,
    /// Whether a block of program code never ends; then no more of them are looked for.
    is_unclosed: bool,
    found: Found<'t>,
}

/// Finds every outermost value in a part of `text`, repaired where that is possible.
pub(crate) fn find<'t>(text: &'t str, part: Range<usize>, limits: &Limits) -> Found<'t> {
    let is_cut = part.end < text.len();
    let text = text.get(..part.end).unwrap_or_default();
    let mut finder = Finder {
        text,
        bytes: text.as_bytes(),
        at: part.start,
        limits: *limits,
        is_cut,
        open: 0,
        floor: part.start,
        line_end: 0,
        block: Block::None,
        blocks: Vec::new(),
        opened: None,
        around: 0,
        is_thinking: false,
        ahead: Ahead::default(),
        has_fence: OnceCell::new(),
        faults: 0,
        pairs: Pairs::from(part.start),
        is_unclosed: false,
        found: Found { said_from: part.start, ..Found::default() },
    };
    finder.scalar_alone();
    while finder.found.trouble.is_none() && finder.next_mark() {
        finder.mark();
    }
    finder.found.unread = finder.unread();
    finder.found.blocks = finder.fenced();
    finder.found.open = finder.is_open_at_end().then_some(text.len());
    finder.found
}

impl<'t> Finder<'t> {
    /// Moves to the next byte that can mean something in prose.
    fn next_mark(&mut self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let offset = rest.iter().position(|byte| match *byte {
            b'{' | b'[' | b'}' | b']' | b'<' | b'`' | b'~' | THOUGHT_LEAD => true,
            b'\n' => self.open > 0,
            _ => false,
        });
        self.at += offset.unwrap_or(rest.len());
        offset.is_some()
    }

    fn mark(&mut self) {
        match self.bytes.get(self.at).copied() {
            // Prose may never close its brackets; it must not hide the rest of the text.
            Some(b'\n') => self.open = 0,
            Some(b'<' | b'[' | THOUGHT_LEAD)
                if let Some(thought) = thought_at(self.text, self.at) =>
            {
                return self.think(thought);
            }
            Some(b'{' | b'[') if self.open > 0 => self.open += 1,
            Some(b'{' | b'[') => return self.bracket(),
            Some(b'}' | b']') if self.ends_value() => return self.stray(),
            Some(b'}' | b']') if self.open > 0 => self.open -= 1,
            Some(b']') if self.ends_interval() => {}
            Some(b'}' | b']') => return self.stray(),
            Some(b'`' | b'~') => return self.ticks(),
            _ => {}
        }
        self.at += 1;
    }

    /// Reports a closer whose value has lost its beginning.
    fn stray(&mut self) {
        self.stop(self.at, &unopened(self.at), self.at + 1);
    }

    fn bracket(&mut self) {
        let start = self.at;
        match repair::read(self.text, start, self.limits.depth) {
            Ok(reading) => self.take(reading),
            Err(Fault::Foreign { resume, open }) => {
                self.note_damaged(Damaged { start, kind: Damage::Foreign }, resume);
                let interval = self.bytes.get(resume) == Some(&b')');
                let is_over =
                    memchr::memchr(b'\n', self.bytes.get(start..resume).unwrap_or_default());
                self.open = match is_over {
                    Some(_) => 0,
                    None => open.saturating_sub(usize::from(interval)),
                };
                self.at = resume;
            }
            Err(fault) => {
                let resume = match fault {
                    Fault::Damaged { offset, .. } => offset.max(start + 1),
                    Fault::Truncated { .. } | Fault::TooDeep | Fault::Foreign { .. } => start + 1,
                };
                self.faults += 1;
                if let Fault::Damaged { offset, .. } | Fault::Truncated { offset } = fault {
                    let is_cut =
                        matches!(fault, Fault::Truncated { .. }) && self.is_cut_at(start, offset);
                    let kind = if is_cut { Damage::Cut } else { Damage::Broken };
                    self.note_damaged(Damaged { start, kind }, offset);
                }
                self.stop(start, &fault, resume);
            }
        }
    }

    /// Keeps a piece that cannot be read on at `offset`, unless dots stand there for a part of it.
    fn note_damaged(&mut self, piece: Damaged, offset: usize) {
        let rest = self.text.get(offset..).unwrap_or_default();
        if rest.starts_with("...") || rest.starts_with('…') {
            return;
        }
        if self.found.damaged.len() >= DAMAGED_LIMIT {
            self.found.trouble = Some(Trouble::OverLimit { limit: "damaged pieces" });
            return;
        }
        self.found.damaged.push(piece);
    }

    fn take(&mut self, reading: Reading<'t>) {
        let Range { start, end } = reading.range;
        let fault = if self.follows_key(start) {
            Some(unopened(start))
        } else if self.is_prose(&reading) {
            self.note_aside(start..end);
            self.at = end;
            return;
        } else {
            self.doubt(start, end)
        };
        if let Some(fault) = fault {
            self.stop(start, &fault, end);
            if self.found.noise.is_none() {
                return;
            }
        }
        if self.found.candidates.len() >= CANDIDATE_LIMIT {
            self.found.trouble = Some(Trouble::OverLimit { limit: "candidates" });
            return;
        }
        let place = match self.block {
            Block::Json { first } if first == Some(start) && fence::closes(self.text, end) => {
                Place::JsonBlock
            }
            Block::None | Block::Unnamed | Block::Json { .. } => Place::Elsewhere,
        };
        self.found.candidates.push(Candidate { reading, place });
        self.at = end;
        self.floor = end;
    }

    /// Returns why the value may be a part of another one, or of a string.
    fn doubt(&mut self, start: usize, end: usize) -> Option<Fault> {
        if self.precedes_item(start, end) {
            return Some(unopened(start));
        }
        if self.is_escaped_again(start, end) {
            return Some(Fault::Damaged { offset: start, expected: "no string literal around it" });
        }
        let expected = "no quote behind the value";
        self.ends_in_string(start, end).then_some(Fault::Damaged { offset: end, expected })
    }

    fn trouble(&self, fault: &Fault) -> Trouble {
        let (offset, expected) = match fault {
            Fault::Truncated { offset } => return Trouble::Truncated { offset: *offset },
            Fault::TooDeep => return Trouble::OverLimit { limit: "depth" },
            Fault::Damaged { offset, expected } => (*offset, *expected),
            Fault::Foreign { resume, .. } => (*resume, "a value"),
        };
        let found = self.text.get(offset..).and_then(|rest| rest.chars().next());
        let kind = found.map_or(ParseErrorKind::Truncated, |found| ParseErrorKind::Unexpected {
            found,
            expected,
        });
        Trouble::Damaged(ParseError::new(kind, self.text, offset))
    }

    /// Ends the search, unless what went wrong turns out to be a thought, or stands beside a block
    /// of JSON, so that the search can go on at `resume`.
    fn stop(&mut self, start: usize, fault: &Fault, resume: usize) {
        if self.found.noise.is_none() {
            if let Some(end) = last_close(self.text, start) {
                return self.forget_until(end);
            }
            self.found.noise = Some(self.trouble(fault));
        }
        let is_beside = !matches!(self.block, Block::Json { .. }) && self.has_fence();
        // A header inside of a value is none: what that cuts off may be the answer.
        let is_cut = self.is_cut && matches!(fault, Fault::Truncated { .. });
        if is_cut {
            self.found.noise = Some(self.trouble(fault));
        }
        if is_cut || *fault == Fault::TooDeep || !is_beside || self.faults > FAULT_LIMIT {
            self.found.trouble = self.found.noise.take();
        }
        self.open = 0;
        self.at = resume;
    }

    fn has_fence(&self) -> bool {
        let is_there = |fence: &&[u8]| memmem::find(self.bytes, fence).is_some();
        *self.has_fence.get_or_init(|| [&b"```"[..], b"~~~"].iter().any(is_there))
    }

    fn forget_until(&mut self, end: usize) {
        self.found.candidates.clear();
        self.found.asides.clear();
        self.found.damaged.clear();
        self.blocks.clear();
        self.opened = None;
        self.around = 0;
        self.open = 0;
        self.go_on(end);
    }

    /// Goes on behind a thought.
    fn go_on(&mut self, end: usize) {
        self.at = end;
        self.floor = end;
        self.found.said_from = end;
        self.pairs = Pairs::from(end);
        self.scalar_alone();
    }

    fn think(&mut self, thought: Thought) {
        match thought {
            Thought::Block { end } => self.go_on(end),
            Thought::Endless => {
                self.is_thinking = true;
                self.go_on(self.text.len());
            }
            // It may as well be part of a string of the piece that is broken.
            Thought::Close { .. } if self.found.noise.is_some() => {
                self.found.trouble = self.found.noise.take();
            }
            Thought::Close { end } => self.forget_until(end),
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

/// Says that the value at `offset` is part of one whose beginning was lost.
fn unopened(offset: usize) -> Fault {
    Fault::Damaged { offset, expected: "what encloses it to open" }
}
