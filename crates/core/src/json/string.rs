//! Strings: checked while they are read, and decoded then or when somebody asks for them.

use std::sync::OnceLock;

use super::document::{Kind, LATE};
use super::error::ParseErrorKind;
use super::escape::decode_escape;
use super::parse::{Mistake, Parser, narrow};
use super::scan::{StringEnd, next_mark, plain_end, string_end_by};

/// Shorter strings are decoded at once: a place for one that is decoded late takes 32 bytes.
const LATE_FROM_BYTES: usize = 64;

/// When strings that hold escapes are decoded. All are checked at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoding {
    /// While they are read.
    AtOnce,
    /// When somebody asks for one, if it is long and no key: most of a long line is of no interest to
    /// anybody.
    Late,
}

impl Parser<'_> {
    /// Reads a string in double quotes.
    pub(super) fn string(&mut self, decoding: Decoding) -> Result<(), Mistake> {
        match (plain_end(self.text.as_bytes(), self.at + 1), decoding) {
            (Ok(end), _) => self.scalar(Kind::String, end, 0),
            (Err(mark), Decoding::AtOnce) => self.escaped_string(mark, b'"', next_mark),
            (Err(mark), Decoding::Late) => self.late_string(mark),
        }
    }

    /// Reads a string like [`Self::escaped_string`], and decodes it only if it is short.
    #[inline(never)]
    fn late_string(&mut self, first: usize) -> Result<(), Mistake> {
        let bytes = self.text.as_bytes();
        let mut mark = first;
        while let Some([b'\\', escape, ..]) = bytes.get(mark..) {
            let length = match escape {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                _ => self.escape(mark, b'"', next_mark)?.1,
            };
            mark = next_mark(bytes, mark + length).unwrap_or(bytes.len());
        }
        if bytes.get(mark) != Some(&b'"') || mark - self.at < LATE_FROM_BYTES {
            return self.escaped_string(first, b'"', next_mark);
        }
        self.late.push(OnceLock::new());
        self.scalar(Kind::String, mark + 1, LATE | narrow(self.late.len()))
    }

    /// Reads a string that is plain up to `mark`, where something is escaped, or should be, or ends.
    #[inline(never)]
    pub(super) fn escaped_string(
        &mut self,
        mut mark: usize,
        quote: u8,
        next_mark: impl Fn(&[u8], usize) -> Option<usize>,
    ) -> Result<(), Mistake> {
        let text = self.text;
        if self.decoded.is_empty() {
            // Where one string has escapes most do; memory that is not touched costs nothing.
            self.decoded.reserve((text.len() - self.at) / 2);
        }
        let from = narrow(self.decoded.len());
        let mut plain = self.at + 1;
        loop {
            self.decoded.push_str(text.get(plain..mark).unwrap_or_default());
            match text.as_bytes().get(mark) {
                Some(byte) if *byte == quote => break,
                Some(b'\\') => {}
                Some(_) => {
                    self.at = mark;
                    return Err(Box::new(ParseErrorKind::ControlCharacter));
                }
                None => return Err(Box::new(self.unfinished())),
            }
            let (character, length) = self.escape(mark, quote, &next_mark)?;
            self.decoded.push(character);
            plain = mark + length;
            mark = next_mark(text.as_bytes(), plain).unwrap_or(text.len());
        }
        self.decoded_spans.push((from, narrow(self.decoded.len())));
        self.scalar(Kind::String, mark + 1, narrow(self.decoded_spans.len()))
    }

    /// Returns what the escape at `mark` stands for, and how long it is.
    #[inline]
    fn escape(
        &mut self,
        mark: usize,
        quote: u8,
        next_mark: impl Fn(&[u8], usize) -> Option<usize>,
    ) -> Result<(char, usize), Mistake> {
        let escape = self.text.get(mark..).unwrap_or_default();
        decode_escape(escape)
            .map_err(|kind| Box::new(self.broken_escape(mark, kind, quote, next_mark)))
    }

    /// Says what is wrong with a string that has a broken escape: first of all that it does not end,
    /// for then the escape may be cut, too.
    #[cold]
    fn broken_escape(
        &mut self,
        at: usize,
        kind: ParseErrorKind,
        quote: u8,
        next_mark: impl Fn(&[u8], usize) -> Option<usize>,
    ) -> ParseErrorKind {
        match string_end_by(self.text.as_bytes(), at, quote, next_mark) {
            StringEnd::Open => self.unfinished(),
            StringEnd::Control { at } => {
                self.at = at;
                ParseErrorKind::ControlCharacter
            }
            StringEnd::Closed { .. } => {
                self.at = at;
                kind
            }
        }
    }

    fn unfinished(&mut self) -> ParseErrorKind {
        self.at = self.text.len();
        ParseErrorKind::Truncated
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::{Document, Limits, Node};

    fn read_late(text: &str) -> Result<Document, String> {
        let mut text = text.to_owned();
        Document::take(&mut text, &Limits::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_nobody_asks_for_is_not_decoded() {
        let long = "x".repeat(LATE_FROM_BYTES);
        let text = format!(r#"{{"{long}\n": ["\u00e9{long}", "short\t", "\t{long}"]}}"#);
        let document = read_late(&text).unwrap();
        let items = document.root().member(&format!("{long}\n")).unwrap().items();
        let read: Vec<_> = items.skip(1).filter_map(Node::as_str).collect();
        assert_eq!(read, ["short\t", &format!("\t{long}")]);
        let cells = &document.late.as_ref().unwrap().0;
        let decoded: Vec<_> = cells.iter().map(|cell| cell.get().cloned()).collect();
        assert_eq!(decoded, [None, Some(format!("\t{long}"))]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_when_strings_are_decoded(
            text in r#"[\[{]?"[\[\]{}:,"\\ux0-9daeE+.tfn \-\n]{0,24}"?[\]}]?"#,
            padding in 0..=LATE_FROM_BYTES,
        ) {
            let text = text.replacen('"', &format!("\"{}", "x".repeat(padding)), 1);
            let late = read_late(&text).map(|document| document.to_value());
            let at_once = Document::parse(text.as_str()).map(|document| document.to_value());
            prop_assert_eq!(late, at_once.map_err(|error| error.to_string()));
        }

        #[test]
        fn strings_that_are_decoded_late_round_trip(
            texts in prop::collection::vec("\\PC{0,99}", 0..4),
        ) {
            let literal = serde_json::to_string(&texts).unwrap().replace('a', "\\u0061");
            let document = read_late(&literal).unwrap();
            let read: Vec<_> = document.root().items().filter_map(Node::as_str).collect();
            prop_assert_eq!(read, texts);
        }
    }
}
