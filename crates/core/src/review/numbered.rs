//! A diff as it is put to a model: each line with its number, so that even a small one can cite it.
//!
//! ```text
//! File `src/auth.rs` (modified)
//! Lines 10 to 12, in `impl Token`:
//!     10   fn matches(&self, other: &str) -> bool {
//!        -     constant_time_eq(&self.0, other)
//!     11 +     self.0 == other
//!     12   }
//! ```
//!
//! Removed lines have no number: nobody can cite what is not there. Every line of the diff is behind
//! its mark, so that nothing in it can pass for a line of ours.

use std::fmt::Write as _;

use super::diff::{
    Change, Content, Ending, FileDiff, Hunk, Line, SECTION_LIMIT_BYTES, Side, Text, left_out,
    visible,
};

/// Returns the line about a file.
pub(super) fn head(file: &FileDiff<'_>) -> String {
    let mut words = vec![match &file.change {
        Change::Added => "new".to_owned(),
        Change::Deleted => "deleted".to_owned(),
        Change::Modified => "modified".to_owned(),
        Change::Renamed(old) => format!("renamed from `{}`", old.shown()),
        Change::Copied(old) => format!("copied from `{}`", old.shown()),
    }];
    match (file.old_mode, file.new_mode) {
        (Some(old), Some(new)) => words.push(format!("mode {old:o} to {new:o}")),
        (None, Some(new)) => words.push(format!("mode {new:o}")),
        (Some(_) | None, None) => {}
    }
    if matches!(&file.content, Content::Text(hunks) if hunks.is_empty()) {
        words.push("content unchanged".to_owned());
    }
    format!("File `{}` ({})\n", file.name.shown(), words.join(", "))
}

/// Writes a hunk.
pub(super) fn hunk(hunk: &Hunk<'_>, out: &mut String) {
    out.push_str(&hunk_head(hunk));
    let breaks = Breaks::of(hunk);
    for (number, line) in hunk.numbered() {
        write_line(number, line, breaks, out);
    }
}

/// Whether carriage returns at the ends of changed lines are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaks {
    /// They are part of the line break.
    Hidden,
    /// Some changed lines have one and others do not, so that they may be all that changed.
    Shown,
}

impl Breaks {
    fn of(hunk: &Hunk<'_>) -> Self {
        let changed = hunk.lines.iter().filter(|line| line.side != Side::Context);
        let mut returns = changed.map(returns);
        let first = returns.next();
        if returns.any(|next| Some(next) != first) { Self::Shown } else { Self::Hidden }
    }
}

/// Claims that a line ends with a carriage return.
fn returns(line: &Line<'_>) -> bool {
    matches!(line.text, Text::Whole(text) if text.ends_with(b"\r"))
}

/// Returns the line about a hunk.
fn hunk_head(hunk: &Hunk<'_>) -> String {
    let head = match hunk.new_lines() {
        Some(lines) => format!("Lines {} to {}", lines.start(), lines.end()),
        None => format!("Removed behind line {}", hunk.new_start),
    };
    with_section(head, hunk.section)
}

/// Returns how many bytes the line about a hunk takes at most, whichever of its lines are left in it.
pub(super) fn hunk_head_bytes(section: &[u8]) -> usize {
    let number = u32::MAX;
    let heads = [format!("Lines {number} to {number}"), format!("Removed behind line {number}")];
    heads.map(|head| with_section(head, section).len()).into_iter().max().unwrap_or_default()
}

fn with_section(mut head: String, section: &[u8]) -> String {
    let section = visible(section);
    let section = section.trim();
    if !section.is_empty() {
        head.push_str(", in `");
        // What is spelt out is longer than it was.
        let shown = section.get(..section.floor_char_boundary(SECTION_LIMIT_BYTES));
        head.push_str(shown.unwrap_or_default());
        head.push('`');
    }
    head.push_str(":\n");
    head
}

/// Returns how many bytes a line takes at most, whatever its number.
pub(super) fn line_bytes(line: &Line<'_>) -> usize {
    let mut out = String::new();
    write_line(Some(u32::MAX), line, Breaks::Shown, &mut out);
    out.len()
}

fn write_line(number: Option<u32>, line: &Line<'_>, breaks: Breaks, out: &mut String) {
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let mark = match line.side {
        Side::Context => ' ',
        Side::Added => '+',
        Side::Removed => '-',
    };
    let text = match line.text {
        Text::Whole(text) => visible(text),
        Text::LeftOut(bytes) => left_out(bytes).into(),
    };
    let is_shown = breaks == Breaks::Shown && line.side != Side::Context && returns(line);
    let end = if is_shown { "\\r" } else { "" };
    // Writing to a string cannot fail.
    let _: std::fmt::Result = writeln!(out, "{number:>6} {mark} {text}{end}");
    if line.ending == Ending::File {
        out.push_str("         (no line break at the end of the file)\n");
    }
}
