//! Strings: where they end when quotes inside are not escaped, and what must be escaped in them.
//!
//! A quote ends its string where JSON goes on behind it. Any other quote is part of the string
//! only where no second reading exists: an apostrophe between letters, or a quoted phrase that
//! opens after a space and closes before one. Everything else is refused.

use super::quote::Quote;
use super::{Fault, Reader};
use crate::verdict::EditKind;

/// What is expected where a quote could be read in two ways.
const ESCAPED: &str = "a string with escaped quotes";

/// What a string is in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    Member,
    Item,
}

/// The quotes met inside a string so far.
#[derive(Default)]
struct Inside {
    /// Whether a phrase in straight quotes is open.
    phrase: bool,
    /// Opening minus closing typographic quotes.
    balance: i64,
    /// Where the last escaped white space ended.
    space_end: usize,
}

impl Reader<'_> {
    /// Reads the string whose opening quote is next.
    #[inline]
    pub(super) fn string(&mut self, quote: Quote, role: Role) -> Result<(), Fault> {
        let start = self.at;
        self.is_json |= !quote.is_single() && role != Role::Key;
        if quote != Quote::Double {
            self.requote(start, quote);
            self.patch.record(EditKind::Quotes, start);
        }
        // Most strings hold nothing to mend, and sound JSON goes on behind the first quote.
        let first = start + quote.len();
        let mark = quote.next_mark(self.bytes, first);
        if let Some(mark) = mark
            && quote.is_straight_at(self.bytes, mark)
            && self.goes_on(mark + 1, role)
        {
            self.end_string(mark, quote);
            return Ok(());
        }
        self.rest_of_string(first, quote, role)
    }

    #[inline]
    fn end_string(&mut self, mark: usize, quote: Quote) {
        if quote != Quote::Double {
            self.requote(mark, quote);
        }
        self.at = mark + quote.len();
    }

    /// Reads the string from `first` on, mark by mark.
    #[inline(never)]
    fn rest_of_string(&mut self, first: usize, quote: Quote, role: Role) -> Result<(), Fault> {
        let mut inside = Inside { space_end: first, ..Inside::default() };
        let mut at = first;
        loop {
            let Some(mark) = quote.next_mark(self.bytes, at) else {
                return Err(Fault::Truncated { offset: self.bytes.len() });
            };
            at = match self.bytes.get(mark) {
                Some(b'\\') => self.escape(mark, quote, &mut inside),
                Some(0..0x20) if role == Role::Key => return Err(self.broken_key(first, quote)),
                Some(byte @ 0..0x20) => self.escape_control(mark, *byte),
                Some(b'"') if quote != Quote::Double => self.foreign_quote(mark, role)?,
                _ if Quote::at(self.bytes, mark) != Some(quote) => mark + 1,
                _ if self.closes(mark, quote, role, &mut inside)? => return Ok(()),
                _ => mark + quote.len(),
            };
        }
    }

    /// Puts a double quote in place of the `quote` at `at`.
    #[inline]
    fn requote(&mut self, at: usize, quote: Quote) {
        if quote == Quote::Single {
            self.patch.requote(at);
        } else {
            self.patch.replace(at..at + quote.len(), "\"");
        }
    }

    /// Steps over the escape at `mark`; `\'` is a plain apostrophe, which JSON cannot escape.
    fn escape(&mut self, mark: usize, quote: Quote, inside: &mut Inside) -> usize {
        match self.bytes.get(mark + 1) {
            Some(b'\'') => {
                self.patch.replace(mark..mark + 1, "");
                if !quote.is_single() {
                    self.patch.record(EditKind::Escape, mark);
                }
            }
            Some(b'n' | b'r' | b't') => inside.space_end = mark + 2,
            _ => {}
        }
        mark + 2
    }

    /// Escapes a `"` in a string that other quotes delimit.
    fn foreign_quote(&mut self, mark: usize, role: Role) -> Result<usize, Fault> {
        if role == Role::Key {
            return Err(self.fault(mark, "the same quote as before"));
        }
        self.patch.insert(mark, "\\");
        Ok(mark + 1)
    }

    /// Escapes the raw control character at `at`.
    fn escape_control(&mut self, at: usize, byte: u8) -> usize {
        match byte {
            b'\n' => self.patch.replace(at..at + 1, "\\n"),
            b'\r' => self.patch.replace(at..at + 1, "\\r"),
            b'\t' => self.patch.replace(at..at + 1, "\\t"),
            _ => self.patch.replace(at..at + 1, &format!("\\u{byte:04x}")),
        }
        self.patch.record(EditKind::Escape, at);
        at + 1
    }

    /// Returns what it means that a key holds a control character behind `from`: it has lost its
    /// closing quote, or the text was cut.
    fn broken_key(&self, from: usize, quote: Quote) -> Fault {
        let mut at = from;
        while let Some(mark) = quote.next_mark(self.bytes, at) {
            match self.bytes.get(mark) {
                Some(byte) if *byte < 0x20 || Quote::MISTAKEN.contains(byte) => at = mark + 1,
                _ => return self.fault(from, "a key on one line"),
            }
        }
        Fault::Truncated { offset: self.bytes.len() }
    }

    /// Decides whether the quote at `mark` ends the string; if not, makes it part of it.
    fn closes(
        &mut self,
        mark: usize,
        quote: Quote,
        role: Role,
        inside: &mut Inside,
    ) -> Result<bool, Fault> {
        let after = mark + quote.len();
        if quote.is_single() && self.is_apostrophe(mark, after) {
            return Ok(false);
        }
        let ends = if inside.phrase {
            self.goes_on(after, role) && !self.is_amid_sentence(after)
        } else {
            self.goes_on(after, role) || self.may_go_on(after, role)
        };
        let is_plain = !inside.phrase && inside.balance == 0;
        if ends && is_plain {
            self.end_string(mark, quote);
            return Ok(true);
        }
        if role == Role::Key && !ends {
            // Prose lists strings in braces, but with commas between them.
            self.is_json |= self.is_value(self.skip_space(after));
            return Err(self.fault(mark, "`:` behind the key"));
        }
        let straight = matches!(quote, Quote::Double | Quote::Single);
        if !straight && (!ends || inside.balance > 0) {
            let opening = matches!(self.bytes.get(mark + 2), Some(0x98 | 0x9A | 0x9C | 0x9E));
            inside.balance += if opening { 1 } else { -1 };
            let names_a_member = self.bytes.get(self.skip_space(after)) == Some(&b':');
            let certain = inside.balance >= 0 && !names_a_member;
            return if certain { Ok(false) } else { Err(self.fault(mark, ESCAPED)) };
        }
        if straight && self.is_part(mark, ends, inside) {
            inside.phrase = !inside.phrase;
            if quote == Quote::Double {
                self.patch.insert(mark, "\\");
                self.patch.record(EditKind::Escape, mark);
            }
            return Ok(false);
        }
        Err(self.fault(mark, ESCAPED))
    }

    fn is_apostrophe(&self, mark: usize, after: usize) -> bool {
        let letter = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
        };
        letter(self.bytes.get(after)) && letter(self.bytes.get(mark - 1))
    }

    /// Claims that the quote at `mark` can only open, or close, a phrase inside the string.
    fn is_part(&self, mark: usize, ends: bool, inside: &Inside) -> bool {
        let before = self.bytes.get(mark - 1).copied().unwrap_or(b' ');
        let behind = self.bytes.get(mark + 1).copied().unwrap_or(b' ');
        let same_again = Some(&behind) == self.bytes.get(mark);
        if !inside.phrase {
            let starts = inside.space_end == mark || before.is_ascii_whitespace() || before == b'(';
            // Two in a row are an empty string that lost its comma, not an empty phrase.
            return !ends && starts && !behind.is_ascii_whitespace() && !same_again;
        }
        let stops =
            same_again || !ends && (behind.is_ascii_whitespace() || b".,;!?)\\".contains(&behind));
        stops && inside.space_end != mark && !before.is_ascii_whitespace()
    }

    /// Claims that sound JSON goes on at `at`, behind a string in that role.
    #[inline]
    fn goes_on(&self, at: usize, role: Role) -> bool {
        let next = self.skip_space(at);
        match (role, self.bytes.get(next)) {
            (_, None) | (Role::Key, Some(b':')) => true,
            (Role::Member, Some(b'}')) | (Role::Item, Some(b']')) => true,
            (Role::Member | Role::Item, Some(b',')) => {
                let behind = self.skip_space(next + 1);
                match (role, self.bytes.get(behind)) {
                    (_, None) => true,
                    (Role::Item, byte) => byte == Some(&b']') || self.is_value(behind),
                    (_, byte) => byte == Some(&b'}') || Quote::at(self.bytes, behind).is_some(),
                }
            }
            _ => false,
        }
    }

    /// Claims that the closers at `at`, behind a quoted phrase, are part of the sentence: it goes on
    /// in the same line with what JSON has not behind closers.
    fn is_amid_sentence(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let is_behind = |byte: &u8| !b" \t}]".contains(byte);
        let next = rest.iter().find(|byte| is_behind(byte));
        let closes = matches!(self.bytes.get(self.skip_space(at)), Some(b'}' | b']'));
        closes && next.is_some_and(|byte| !b"\r\n,`~/#".contains(byte))
    }

    /// Claims that JSON goes on at `at` with a comment, a bare key, the end of a fence, or
    /// without its comma. Inside a quoted phrase the same is more likely prose.
    fn may_go_on(&self, at: usize, role: Role) -> bool {
        let next = self.skip_space(at);
        if self.ends_at(next) || self.comment_at(next) {
            return true;
        }
        match (role, self.bytes.get(next)) {
            (Role::Key, _) => false,
            (Role::Member | Role::Item, Some(b',')) => {
                let behind = self.skip_space(next + 1);
                let bare_key = role == Role::Member && self.is_bare_key(behind);
                bare_key || self.ends_at(behind) || self.comment_at(behind)
            }
            (Role::Member, _) => self.is_member_after(at, next),
            // Python joins strings that stand side by side, so two of them are not two items.
            (Role::Item, Some(b'\'')) if self.bytes.get(at - 1) == Some(&b'\'') => false,
            (Role::Item, _) => self.is_value(next) && self.has_newline(at, next),
        }
    }
}
