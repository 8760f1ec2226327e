//! Cuts a diff into parts that fit a budget of tokens.
//!
//! The law: every line of the new version that the diff shows is in exactly one part, with its
//! number, or listed as too long, itself or the name of its file; so are removed lines. No part is larger than the budget.
//! Files stay whole where they fit, then hunks do; a hunk that is too large is cut between lines, before
//! a change rather than within one. What is nothing to read (binary files, files that are gone) is
//! listed, not dropped.

mod cut;

use std::collections::HashSet;

use super::diff::{
    Change, Content, DIFF_LIMIT_BYTES, Diff, Ending, FileDiff, Hunk, Line, Side, Text, Trouble,
};
use super::numbered;
use super::part::{Part, Piece};
use crate::run::tokens_in;

/// The smallest budget for a part: less than a line of code or two with its head makes no sense.
pub const PART_LIMIT_TOKENS: std::ops::RangeInclusive<u64> = 100..=1_000_000;

/// A diff in parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split<'d> {
    /// The parts, as the files come.
    pub parts: Vec<Part<'d>>,
    /// What is in none of them.
    pub left_out: Vec<LeftOut>,
}

/// What is in no part, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The file, as it is shown; absent where nobody knows.
    pub file: Option<String>,
    /// The line, if it is but one.
    pub line: Option<u32>,
    /// Why.
    pub why: Why,
}

/// Why something is in no part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is no text.
    #[error("it is binary")]
    Binary,
    /// It is shown as binary, and the same change edits the file that says what is.
    #[error(
        "it is shown as binary, and the change edits `.gitattributes`, which can have text shown so"
    )]
    Hidden,
    /// It is the commit of a submodule.
    #[error("it is a submodule")]
    Submodule,
    /// It is gone.
    #[error("it was deleted")]
    Deleted,
    /// Its content is as it was.
    #[error("its content did not change")]
    Unchanged,
    /// It is a merge, of which a combined diff shows too little.
    #[error("it is a merge, shown as a combined diff")]
    Combined,
    /// The line has so many bytes, more than a part may hold.
    #[error("the line has {0} bytes, more than a part may hold")]
    LongLine(usize),
    /// A line that is gone has so many bytes, more than a part may hold.
    #[error("a line that was removed has {0} bytes, more than a part may hold")]
    LongRemoved(usize),
    /// The line has so many bytes, more than a part may hold, and is as it was.
    #[error("the line has {0} bytes, more than a part may hold, and did not change")]
    LongContext(usize),
    /// The name of the file has so many bytes that it leaves a part no room for lines.
    #[error("its name has {0} bytes, which leaves a part no room for lines")]
    LongName(usize),
    /// The diff cannot be read there.
    #[error("line {line} of the diff cannot be read: {trouble}")]
    Unread {
        /// Where, from 1.
        line: usize,
        /// What is wrong there.
        trouble: Trouble,
    },
}

impl Why {
    /// Claims that there was something to read, and nobody did.
    pub fn is_loss(self) -> bool {
        match self {
            Self::LongLine(_)
            | Self::LongRemoved(_)
            | Self::LongName(_)
            | Self::Unread { .. }
            | Self::Hidden
            | Self::Combined => true,
            Self::Binary
            | Self::Submodule
            | Self::Deleted
            | Self::Unchanged
            | Self::LongContext(_) => false,
        }
    }
}

/// Returns about how many tokens so much text is.
pub(super) fn tokens(bytes: usize) -> u64 {
    // At least one, so that nothing is free.
    tokens_in(bytes) + 1
}

impl<'d> Diff<'d> {
    /// Cuts the diff into parts of at most `budget` tokens, as budgets estimate them.
    pub fn split(&self, budget: u64) -> Split<'d> {
        let budget = budget.clamp(*PART_LIMIT_TOKENS.start(), *PART_LIMIT_TOKENS.end());
        let mut packer = Packer { budget, split: Split::default(), open: Part::default() };
        for unread in &self.unread {
            packer.split.left_out.push(LeftOut {
                file: unread.file.clone(),
                line: None,
                why: Why::Unread { line: unread.line, trouble: unread.trouble },
            });
        }
        let unread: HashSet<&str> =
            self.unread.iter().filter_map(|unread| unread.file.as_deref()).collect();
        for file in &self.files {
            match self.nothing_to_read(file) {
                // It is listed already.
                Some(Why::Unchanged) if unread.contains(file.name.shown().as_str()) => {}
                Some(why) => packer.leave_out(file, None, why),
                None => packer.add(file),
            }
        }
        packer.close();
        packer.split
    }

    /// Says why there is nothing to read in a file, if so.
    fn nothing_to_read(&self, file: &FileDiff<'_>) -> Option<Why> {
        match (&file.content, &file.change) {
            (Content::Binary, _) if self.edits_attributes => Some(Why::Hidden),
            (Content::Binary, _) => Some(Why::Binary),
            (Content::Submodule, _) => Some(Why::Submodule),
            (Content::Combined, _) => Some(Why::Combined),
            (Content::Text(_), Change::Deleted) => Some(Why::Deleted),
            (Content::Text(hunks), _) if hunks.is_empty() => Some(Why::Unchanged),
            (Content::Text(_), _) => None,
        }
    }
}

struct Packer<'d> {
    budget: u64,
    split: Split<'d>,
    /// The part that is being filled.
    open: Part<'d>,
}

impl<'d> Packer<'d> {
    fn leave_out(&mut self, file: &FileDiff<'d>, line: Option<u32>, why: Why) {
        let file = Some(file.name.shown());
        self.split.left_out.push(LeftOut { file, line, why });
    }

    fn close(&mut self) {
        let part = std::mem::take(&mut self.open);
        if !part.pieces.is_empty() {
            self.split.parts.push(part);
        }
    }

    /// Puts a piece into the open part if it fits, else into the next.
    fn put(&mut self, piece: Piece<'d>) {
        if self.open.tokens + piece.tokens > self.budget {
            self.close();
        }
        self.open.tokens += piece.tokens;
        self.open.pieces.push(piece);
    }

    fn add(&mut self, file: &FileDiff<'d>) {
        let head_bytes = numbered::head(file).len();
        let head = tokens(head_bytes);
        if head > (self.budget / 2).min(self.budget.saturating_sub(least(file))) {
            let whole = head + file.hunks().iter().map(size).sum::<u64>();
            return if whole <= self.budget {
                self.put(Piece::new(file, file.hunks().to_vec(), whole));
            } else {
                self.leave_out(file, None, Why::LongName(head_bytes));
            };
        }
        let hunks: Vec<Hunk<'d>> =
            file.hunks().iter().map(|hunk| self.without_long_lines(file, hunk, head)).collect();
        let sizes: Vec<u64> = hunks.iter().map(size).collect();
        if head + sizes.iter().sum::<u64>() <= self.budget {
            return self.put(Piece::new(file, hunks, head + sizes.iter().sum::<u64>()));
        }
        let room = self.budget.saturating_sub(head);
        let mut group = (Vec::new(), 0);
        for (hunk, size) in hunks.into_iter().zip(sizes) {
            for (piece, size) in cut::to_fit(hunk, size, room) {
                if group.1 + size > room && !group.0.is_empty() {
                    let (hunks, size) = std::mem::take(&mut group);
                    self.put(Piece::new(file, hunks, head + size));
                }
                group.0.push(piece);
                group.1 += size;
            }
        }
        let (hunks, size) = group;
        self.put(Piece::new(file, hunks, head + size));
    }

    /// Replaces lines that no part can hold, and lists those of the new version.
    fn without_long_lines(&mut self, file: &FileDiff<'d>, hunk: &Hunk<'d>, head: u64) -> Hunk<'d> {
        let room = self.budget.saturating_sub(head + head_size(hunk));
        let mut lines = Vec::with_capacity(hunk.lines.len());
        for (number, line) in hunk.numbered() {
            let Text::Whole(text) = line.text else { continue };
            // Spelling out makes lines longer, never shorter, so most need no closer look.
            let is_long = tokens(text.len()) > room || line_size(line) > room;
            if !is_long {
                lines.push(*line);
                continue;
            }
            let why = match line.side {
                Side::Context => Why::LongContext(text.len()),
                Side::Added => Why::LongLine(text.len()),
                Side::Removed => Why::LongRemoved(text.len()),
            };
            self.leave_out(file, number, why);
            lines.push(Line { text: Text::LeftOut(text.len()), ..*line });
        }
        Hunk { lines, ..hunk.clone() }
    }
}

/// Returns how many tokens a part needs for a line of this file, if only to say how long it is.
fn least(file: &FileDiff<'_>) -> u64 {
    let head = file.hunks().iter().map(head_size).max().unwrap_or_default();
    let text = Text::LeftOut(DIFF_LIMIT_BYTES);
    head + line_size(&Line { side: Side::Removed, text, ending: Ending::File })
}

/// Returns about how many tokens a hunk takes.
fn size(hunk: &Hunk<'_>) -> u64 {
    head_size(hunk) + hunk.lines.iter().map(line_size).sum::<u64>()
}

/// Returns about how many tokens the line about a hunk takes, the same for each piece of it.
fn head_size(hunk: &Hunk<'_>) -> u64 {
    tokens(numbered::hunk_head_bytes(hunk.section))
}

fn line_size(line: &Line<'_>) -> u64 {
    tokens(numbered::line_bytes(line))
}
