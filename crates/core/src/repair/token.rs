//! What stands at an offset: space, comments, keys, values, the end.

use super::quote::Quote;
use super::{Comma, Container, Fault, Reader};
use crate::verdict::EditKind;

/// The words that are values.
const CONSTANTS: [&str; 6] = ["true", "false", "null", "True", "False", "None"];

/// The words of a comment in whose place more was meant to stand.
const LEFT_OUT: [&str; 18] = [
    "omitted",
    "remaining",
    "truncated",
    "abbreviated",
    "elided",
    "brevity",
    "etc",
    "snipped",
    "more",
    "rest",
    "others",
    "same",
    "similar",
    "similarly",
    "unchanged",
    "skipped",
    "continued",
    "repeat",
];

/// How a quote is written where a whole JSON text was escaped once more.
const ESCAPED_QUOTES: [&str; 4] = ["\\\"", "&quot;", "&#34;", "&#x22;"];

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Claims that `comment` may be the rest of a string that lost its opening quote, or holds
/// structure that it would hide: a quote that is no apostrophe, or in a line a closing bracket.
fn may_be_more(comment: &str) -> bool {
    let mut before = ' ';
    let mut rest = comment.chars();
    while let Some(character) = rest.next() {
        let is_apostrophe = || {
            let after = rest.clone().next();
            before.is_alphanumeric() && after.is_some_and(char::is_alphanumeric)
        };
        let hides = match character {
            '"' | '“' | '”' => true,
            '\'' | '‘' | '’' => !is_apostrophe(),
            '}' | ']' => !comment.starts_with("/*"),
            _ => false,
        };
        if hides {
            return true;
        }
        before = character;
    }
    false
}

/// Claims that `comment` stands for what was left out: `// ... 48 more`, `# rest omitted for brevity`.
fn leaves_out(comment: &str) -> bool {
    let words = comment.split(|character: char| !character.is_ascii_alphabetic());
    let is_said = |word: &str| LEFT_OUT.iter().any(|listed| listed.eq_ignore_ascii_case(word));
    comment.contains("...") || comment.contains('…') || words.into_iter().any(is_said)
}

impl Reader<'_> {
    /// Returns what it means that the text cannot be read on at `offset`.
    pub(super) fn fault(&self, offset: usize, expected: &'static str) -> Fault {
        let rest = self.text.get(offset..).unwrap_or_default();
        let escaped = ESCAPED_QUOTES.iter().any(|quote| rest.starts_with(quote));
        if self.is_json || escaped {
            return Fault::Damaged { offset, expected };
        }
        Fault::Foreign { resume: offset, open: self.open.len() }
    }

    #[inline]
    pub(super) fn skip_space(&self, mut at: usize) -> usize {
        while matches!(self.bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            at += 1;
        }
        at
    }

    /// Skips white space, drops comments, and returns what is next before the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<u8>, Fault> {
        self.at = self.skip_space(self.at);
        match self.bytes.get(self.at).copied() {
            Some(b'/' | b'#' | b'`' | b'~') => self.next_apart(),
            next => Ok(next),
        }
    }

    /// Goes on where a comment may start or a fence may end.
    #[inline(never)]
    fn next_apart(&mut self) -> Result<Option<u8>, Fault> {
        while self.comment_at(self.at) {
            self.drop_comment()?;
            self.at = self.skip_space(self.at);
        }
        Ok(if self.ends_at(self.at) { None } else { self.bytes.get(self.at).copied() })
    }

    /// Drops the comment that is next. Kept apart, so that the loop around it stays small.
    fn drop_comment(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let end = if rest.starts_with(b"/*") {
            memchr::memmem::find(rest, b"*/").map(|offset| start + offset + 2)
        } else {
            memchr::memchr(b'\n', rest).map(|offset| start + offset)
        };
        let Some(end) = end else {
            // A comment that swallows the end may have swallowed members with it.
            return Err(Fault::Truncated { offset: self.bytes.len() });
        };
        let comment = self.text.get(start..end).unwrap_or_default();
        if may_be_more(comment) {
            return Err(self.fault(start, "a comment without quotes and closing brackets"));
        }
        if leaves_out(comment) {
            return Err(self.fault(start, "what the comment says is left out"));
        }
        if self.stands_for_items(start, end) {
            return Err(Fault::Damaged { offset: start, expected: "an item" });
        }
        if let Comma::At(offset) = self.comma {
            self.patch.replace(offset..offset + 1, "");
            self.comma = Comma::Withheld(offset);
        }
        self.patch.replace(start..end, "");
        self.patch.record(EditKind::Comment, start);
        self.at = end;
        Ok(())
    }

    /// Claims that the comment from `start` to `end` may stand in a list for items that were left out, in
    /// whatever words: it has the last line of the list to itself, or is a part of a line that holds commas, as
    /// items do that were commented out. Above an item it is a heading, and beside one it explains that.
    fn stands_for_items(&self, start: usize, end: usize) -> bool {
        let opens = self.token_end.checked_sub(1).and_then(|last| self.bytes.get(last));
        if self.open.last() != Some(&Container::Array) || opens == Some(&b'[') {
            return false;
        }
        let before = self.bytes.get(self.token_end..start).unwrap_or_default();
        let line = before.trim_ascii_end();
        let blanks = before.get(line.len()..).unwrap_or_default();
        let comment = self.bytes.get(start..end).unwrap_or_default();
        if memchr::memchr(b'\n', blanks).is_none() {
            return comment.starts_with(b"/*") && comment.contains(&b',');
        }
        let behind = self.bytes.get(end..).unwrap_or_default();
        behind.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b']')
    }

    /// Claims that a comment starts at `at`; `#` only with space around it, as in `# note`.
    pub(super) fn comment_at(&self, at: usize) -> bool {
        match (self.bytes.get(at), self.bytes.get(at + 1)) {
            (Some(b'/'), Some(b'/' | b'*')) => true,
            (Some(b'#'), Some(b' ')) => {
                at > 0 && self.bytes.get(at - 1).is_some_and(u8::is_ascii_whitespace)
            }
            _ => false,
        }
    }

    /// Claims that the text, or the fence around it, ends at `at`.
    pub(super) fn ends_at(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            None => true,
            Some(b'`' | b'~') => self.fence_ends_at(at),
            Some(_) => false,
        }
    }

    fn fence_ends_at(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if !rest.starts_with(b"```") && !rest.starts_with(b"~~~") {
            return false;
        }
        let before = self.bytes.get(..at).unwrap_or_default().trim_ascii_end().len();
        self.has_newline(before, at)
    }

    pub(super) fn has_newline(&self, from: usize, to: usize) -> bool {
        memchr::memchr(b'\n', self.bytes.get(from..to).unwrap_or_default()).is_some()
    }

    pub(super) fn word_end(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(|byte| is_word(*byte)) {
            at += 1;
        }
        at
    }

    /// Claims that what stands at `at` can only be another member, though no comma precedes it
    /// from `end` on; a bare key must be on a line of its own.
    pub(super) fn is_member_after(&self, end: usize, at: usize) -> bool {
        Quote::at(self.bytes, at).is_some() || self.is_bare_key(at) && self.has_newline(end, at)
    }

    /// Claims that a word and a colon stand at `at`.
    pub(super) fn is_bare_key(&self, at: usize) -> bool {
        let end = self.bare_key_end(at);
        let digit = self.bytes.get(at).is_some_and(u8::is_ascii_digit);
        end > at && !digit && self.bytes.get(self.skip_space(end)) == Some(&b':')
    }

    /// Finds the end of a bare key, which may hold dashes.
    pub(super) fn bare_key_end(&self, mut at: usize) -> usize {
        while self.bytes.get(at).is_some_and(|byte| is_word(*byte) || *byte == b'-') {
            at += 1;
        }
        at
    }

    /// Claims that a value starts at `at`.
    pub(super) fn is_value(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            Some(b'{' | b'[' | b'-' | b'0'..=b'9') => true,
            Some(byte) if is_word(*byte) => {
                let word = self.text.get(at..self.word_end(at)).unwrap_or_default();
                CONSTANTS.contains(&word)
            }
            _ => Quote::at(self.bytes, at).is_some(),
        }
    }
}
