//! A diff as git prints it: which files changed, and the lines around each change.
//!
//! It protects one rule: nothing is skipped in silence. What cannot be read is listed with its line,
//! what is no text (binary files, submodules) says so, and lines that belong to no diff are counted.
//! `docs/wire/git-diff.md` has the format.

mod lines;
mod name;
mod parse;
mod render;

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;

pub(super) use lines::visible;
pub use name::Name;
pub use parse::parse;
pub(super) use render::left_out;

/// The largest diff that is read: far more than anybody reviews, and still quick to read.
pub const DIFF_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// The most lines, so that a diff of empty lines needs no more memory than another.
pub const DIFF_LIMIT_LINES: usize = 2_000_000;

/// How many bytes of the section of a hunk are kept: it only helps to find one's way, and git writes no more.
pub(super) const SECTION_LIMIT_BYTES: usize = 80;

/// A diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff<'d> {
    /// The files, as they come.
    pub files: Vec<FileDiff<'d>>,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// How many lines belong to no file and are not blank: the words of a commit, a signature.
    pub other_lines: usize,
    /// Claims that the change edits what git shows as text, and so could hide some of itself; also if that file is
    /// left out later.
    pub edits_attributes: bool,
}

/// What changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff<'d> {
    /// What it is called now; what it was called, if it is gone.
    pub name: Name,
    /// What became of it.
    pub change: Change,
    /// Its mode before, if that is known to differ.
    pub old_mode: Option<u32>,
    /// Its mode now, if that is known to differ.
    pub new_mode: Option<u32>,
    /// What changed in it.
    pub content: Content<'d>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It stayed where it is.
    Modified,
    /// It moved from here.
    Renamed(Name),
    /// It began as a copy of this.
    Copied(Name),
}

/// What changed in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'d> {
    /// These places; none if only its name or mode did.
    Text(Vec<Hunk<'d>>),
    /// Something that is no text.
    Binary,
    /// The commit of a submodule.
    Submodule,
    /// It was merged from several versions, which a combined diff shows in a form of its own.
    Combined,
}

/// One place that changed, with the lines around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'d> {
    /// The number of its first line before, from 1; where nothing was, of the line before it.
    pub old_start: u32,
    /// The number of its first line now, from 1; where nothing is, of the line before it.
    pub new_start: u32,
    /// What git believes it to be in: the head of a function.
    pub section: &'d [u8],
    /// Its lines.
    pub lines: Vec<Line<'d>>,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'d> {
    /// Which version has it.
    pub side: Side,
    /// What is on it.
    pub text: Text<'d>,
    /// How it ends.
    pub ending: Ending,
}

/// Which version has a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Both.
    Context,
    /// The new one.
    Added,
    /// The old one.
    Removed,
}

/// What is on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'d> {
    /// These bytes, without the line break.
    Whole(&'d [u8]),
    /// So many bytes, too many to be shown.
    LeftOut(usize),
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With a line break.
    Break,
    /// With the file, without one.
    File,
}

/// A part of a diff that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its line in the diff, from 1.
    pub line: usize,
    /// The file that it belongs to, if that is known.
    pub file: Option<String>,
    /// Why.
    pub trouble: Trouble,
}

/// Why a part of a diff could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The header names no file that can be told.
    #[error("the header names no file")]
    NoName,
    /// The header of a hunk has no line numbers.
    #[error("the header of the hunk has no line numbers")]
    NoNumbers,
    /// The hunk ends before it has the lines that its header promises.
    #[error("the hunk has fewer lines than its header says")]
    CutHunk,
    /// Behind the lines that its header promises, the hunk has more.
    #[error("the hunk has more lines than its header says")]
    Excess,
    /// The content changed, and no hunk says how.
    #[error("the file has changed, and its hunks are missing")]
    NoHunks,
    /// Lines of a hunk stand where no file is.
    #[error("the hunk belongs to no file")]
    NoFile,
    /// The file has conflicts that nobody resolved.
    #[error("the file is not merged")]
    Unmerged,
    /// The file is no text, and the diff does not name it for sure.
    #[error("the file is no text")]
    Binary,
    /// The file is on one side only, and the diff does not show it.
    #[error("the file is on one side only, and not shown")]
    OneSide,
}

/// Why a diff is not read at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// It has too many bytes.
    #[error("the diff has {size} bytes, over the limit of {DIFF_LIMIT_BYTES}")]
    TooLarge {
        /// How many.
        size: usize,
    },
    /// It has too many lines.
    #[error("the diff has {count} lines, over the limit of {DIFF_LIMIT_LINES}")]
    TooLong {
        /// How many.
        count: usize,
    },
}

impl fmt::Display for Unread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, file, trouble } = self;
        match file {
            Some(file) => write!(formatter, "line {line}, `{file}`: {trouble}"),
            None => write!(formatter, "line {line}: {trouble}"),
        }
    }
}

impl Diff<'_> {
    /// Returns the file of this name, as it is shown.
    pub fn file(&self, shown: &str) -> Option<&FileDiff<'_>> {
        self.files.iter().find(|file| file.name.shown() == shown)
    }

    /// Returns a name that several files have, as it is shown: the patches of several commits one
    /// after the other, for instance. One that is gone may have been replaced.
    pub fn twice(&self) -> Option<String> {
        let mut seen = HashSet::new();
        let there = self.files.iter().filter(|file| file.change != Change::Deleted);
        let mut names = there.map(|file| file.name.shown());
        names.find(|name| !seen.insert(name.clone()))
    }
}

impl<'d> FileDiff<'d> {
    /// Returns the places that changed.
    pub fn hunks(&self) -> &[Hunk<'d>] {
        match &self.content {
            Content::Text(hunks) => hunks,
            Content::Binary | Content::Submodule | Content::Combined => &[],
        }
    }
}

impl<'d> Hunk<'d> {
    /// Returns the numbers of its lines in the new version; none if it has none there.
    pub fn new_lines(&self) -> Option<RangeInclusive<u32>> {
        let count = self.lines.iter().filter(|line| line.side != Side::Removed).count();
        let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
        Some(self.new_start..=self.new_start.saturating_add(count - 1))
    }

    /// Returns its lines with their numbers in the new version; removed lines have none.
    pub fn numbered(&self) -> impl Iterator<Item = (Option<u32>, &Line<'d>)> {
        let mut next = self.new_start;
        self.lines.iter().map(move |line| match line.side {
            Side::Removed => (None, line),
            Side::Context | Side::Added => {
                let number = next;
                next = next.saturating_add(1);
                (Some(number), line)
            }
        })
    }
}

#[cfg(test)]
mod tests;
