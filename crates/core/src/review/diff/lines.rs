//! Lines of text of any kind, and what they look like.

use std::borrow::Cow;

/// The lines of a diff, one after the other.
pub(super) struct Cursor<'d> {
    lines: Vec<&'d [u8]>,
    next: usize,
}

impl<'d> Cursor<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        // Behind the last line break there is no line.
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        Self { lines, next: 0 }
    }

    /// Returns the number of the next line, from 1.
    pub(super) fn number(&self) -> usize {
        self.next + 1
    }

    /// Returns the line `ahead` of the next, as it stands.
    pub(super) fn ahead(&self, ahead: usize) -> Option<&'d [u8]> {
        self.lines.get(self.next.checked_add(ahead)?).copied()
    }

    /// Returns the next line as it stands.
    pub(super) fn peek(&self) -> Option<&'d [u8]> {
        self.ahead(0)
    }

    /// Returns the next line without the carriage return of a diff that was saved with them.
    pub(super) fn header(&self) -> Option<&'d [u8]> {
        self.peek().map(bare)
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }
}

/// Returns a line without a carriage return at its end.
pub(super) fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns what is on a line as text in which everything can be seen: bytes that are no text, and
/// characters that a terminal obeys or that turn the order of others round, are spelt out. A carriage
/// return at the end is part of the line break.
pub(crate) fn visible(line: &[u8]) -> Cow<'_, str> {
    let line = bare(line);
    match std::str::from_utf8(line) {
        Ok(text) if !text.contains(is_hidden) => Cow::Borrowed(text),
        Ok(_) | Err(_) => Cow::Owned(spelt(line)),
    }
}

fn spelt(line: &[u8]) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    for chunk in line.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_hidden(character) {
                out.extend(character.escape_default());
            } else {
                out.push(character);
            }
        }
        out.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    out
}

/// Claims that a character is not seen as what it is: controls but the tab, and those that order text.
fn is_hidden(character: char) -> bool {
    (character.is_control() && character != '\t')
        || matches!(character,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_on_a_line_can_be_seen() {
        assert_eq!(visible("\tlet größe = \"漢\";\r".as_bytes()), "\tlet größe = \"漢\";");
        assert_eq!(visible(b"caf\xe9\0\x1b[2J"), "caf\\xe9\\u{0}\\u{1b}[2J");
        assert_eq!(visible("admin\u{202e}// \u{2066}".as_bytes()), "admin\\u{202e}// \\u{2066}");
    }

    #[test]
    fn a_line_break_at_the_end_begins_no_line() {
        assert_eq!(Cursor::new(b"").lines.len(), 0);
        assert_eq!(Cursor::new(b"a\nb").lines.len(), Cursor::new(b"a\nb\n").lines.len());
        assert_eq!(Cursor::new(b"a\n\n").lines.len(), 2);
    }
}
