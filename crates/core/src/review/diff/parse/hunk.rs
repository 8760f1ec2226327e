//! The hunks of a file.

use super::super::lines::bare;
use super::super::{Ending, Hunk, Line, Name, SECTION_LIMIT_BYTES, Side, Text, Trouble, Unread};
use super::Parser;

/// What the head of a hunk says.
struct Head<'d> {
    old_start: u32,
    old_count: u32,
    new_start: u32,
    new_count: u32,
    section: &'d [u8],
}

impl<'d> Parser<'d> {
    /// Reads all hunks that follow.
    pub(super) fn hunks(&mut self, name: &Name) -> Vec<Hunk<'d>> {
        let mut hunks = Vec::new();
        while let Some(line) = self.cursor.header().filter(|line| line.starts_with(b"@@")) {
            match Head::read(line) {
                Some(head) => {
                    self.cursor.advance();
                    hunks.push(self.hunk(&head, name));
                }
                None => self.unread(Some(name), Trouble::NoNumbers),
            }
        }
        hunks
    }

    /// Reads the lines of a hunk: as many as its head says.
    fn hunk(&mut self, head: &Head<'d>, name: &Name) -> Hunk<'d> {
        let (mut old_left, mut new_left) = (head.old_count, head.new_count);
        let mut lines: Vec<Line<'d>> = Vec::new();
        while old_left > 0 || new_left > 0 {
            let Some(line) = self.cursor.peek().and_then(read_line) else { break };
            let (old, new) = match line {
                Read::NoBreak => (0, 0),
                Read::Line(Side::Context, _) => (1, 1),
                Read::Line(Side::Added, _) => (0, 1),
                Read::Line(Side::Removed, _) => (1, 0),
            };
            let (Some(old), Some(new)) = (old_left.checked_sub(old), new_left.checked_sub(new))
            else {
                break;
            };
            (old_left, new_left) = (old, new);
            take(line, &mut lines);
            self.cursor.advance();
        }
        if old_left > 0 || new_left > 0 {
            let (line, file) = (self.cursor.number(), Some(name.shown()));
            self.diff.unread.push(Unread { line, file, trouble: Trouble::CutHunk });
        } else {
            if self.cursor.peek().is_some_and(|line| line.starts_with(b"\\")) {
                take(Read::NoBreak, &mut lines);
                self.cursor.advance();
            }
            self.leave_excess(name);
        }
        let Head { old_start, new_start, section, .. } = *head;
        Hunk { old_start, new_start, section, lines }
    }

    /// Leaves changes behind that are more than the hunk promised, and says so. Programs that apply a diff
    /// overlook them; a reviewer must not.
    fn leave_excess(&mut self, name: &Name) {
        let (mut count, mut has_changes) = (0, false);
        while let Some(mark) = self.mark(count) {
            has_changes |= b"+-".contains(&mark);
            count += 1;
        }
        if has_changes {
            self.unread(Some(name), Trouble::Excess);
            (1..count).for_each(|_| self.cursor.advance());
        }
    }

    /// Returns the mark of the line so far ahead, if it could be one of a hunk.
    fn mark(&self, ahead: usize) -> Option<u8> {
        let line = bare(self.cursor.ahead(ahead)?);
        // The end of a mail, and the next file.
        if line == b"-- " || self.is_plain_file(ahead) {
            return None;
        }
        line.first().copied().filter(|mark| b"+- \\".contains(mark))
    }
}

/// One line of a hunk.
#[derive(Clone, Copy)]
enum Read<'d> {
    Line(Side, &'d [u8]),
    /// The line before it has no line break.
    NoBreak,
}

fn read_line(line: &[u8]) -> Option<Read<'_>> {
    let Some((mark, text)) = line.split_first() else {
        // Some programs take the space off an empty line.
        return Some(Read::Line(Side::Context, b""));
    };
    match mark {
        b' ' => Some(Read::Line(Side::Context, text)),
        b'+' => Some(Read::Line(Side::Added, text)),
        b'-' => Some(Read::Line(Side::Removed, text)),
        b'\\' => Some(Read::NoBreak),
        b'\r' if text.is_empty() => Some(Read::Line(Side::Context, b"\r")),
        _ => None,
    }
}

fn take<'d>(line: Read<'d>, lines: &mut Vec<Line<'d>>) {
    match line {
        Read::Line(side, text) => {
            lines.push(Line { side, text: Text::Whole(text), ending: Ending::Break });
        }
        Read::NoBreak => {
            if let Some(last) = lines.last_mut() {
                last.ending = Ending::File;
            }
        }
    }
}

impl<'d> Head<'d> {
    /// Reads `@@ -1,3 +1,4 @@ fn main() {`; a count that is left out is 1.
    fn read(line: &'d [u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"@@ -")?;
        let (old_start, old_count, rest) = range(rest)?;
        let (new_start, new_count, rest) = range(rest.strip_prefix(b" +")?)?;
        let section = bare(rest.strip_prefix(b" @@")?);
        let section = section.strip_prefix(b" ").unwrap_or(section);
        // White space at its end would not be read again where it stands at the end of a line.
        let section = beginning(section).trim_ascii_end();
        // Lines are counted from 1.
        let is_nowhere = |start: u32, count: u32| start == 0 && count > 0;
        if is_nowhere(old_start, old_count) || is_nowhere(new_start, new_count) {
            return None;
        }
        // Numbers of lines must not run over.
        old_start.checked_add(old_count)?;
        new_start.checked_add(new_count)?;
        Some(Self { old_start, old_count, new_start, new_count, section })
    }
}

/// Returns as much of a section as git would have written, so that pieces of a hunk can repeat it.
fn beginning(section: &[u8]) -> &[u8] {
    let Some((cut, _)) = section.split_at_checked(SECTION_LIMIT_BYTES) else { return section };
    match std::str::from_utf8(cut) {
        // The last character is cut.
        Err(error) if error.error_len().is_none() => cut.get(..error.valid_up_to()).unwrap_or(cut),
        Ok(_) | Err(_) => cut,
    }
}

fn range(text: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (count, rest) = number(rest)?;
            Some((start, count, rest))
        }
        None => Some((start, 1, rest)),
    }
}

fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}
