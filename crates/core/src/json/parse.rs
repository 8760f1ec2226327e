//! The strict parser: RFC 8259 and nothing else, one pass, explicit stack, bounded.
//!
//! Written by hand because no library gives all of: exact numbers, duplicate keys, a depth limit
//! without recursion, offsets of every node, and a flat result that is dropped in one step.

use std::sync::OnceLock;

use super::document::{Document, Kind, Late, Slot};
use super::error::{ParseError, ParseErrorKind};
use super::python::{Spelling, Stop};
use super::scan::number_end;
use super::string::Decoding;

/// How much a document may hold.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of text.
    pub bytes: usize,
    /// Nested containers.
    pub depth: usize,
    /// Values and keys.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Four times the largest answer any model can give today, and within u32 offsets.
            bytes: 64 * 1024 * 1024,
            // What serde_json, and so most consumers, can read again.
            depth: 128,
            // 20 bytes each: bounds the tape at 320 MB.
            nodes: 16 * 1024 * 1024,
        }
    }
}

/// What the parser stands before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value or `]`, right after `[`.
    FirstItem,
    /// A key or `}`, right after `{`.
    FirstKey,
    Key,
    /// `,` or the end of the container.
    Separator,
}

/// What stands where a value should.
const VALUE: &str = "a value";

/// What stands where a key should.
const KEY: &str = "a key in double quotes";

/// A container that has not ended.
#[derive(Clone, Copy)]
pub(super) struct Open {
    kind: Kind,
    slot: u32,
    /// Items, or keys and values.
    children: u32,
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    limits: Limits,
    pub(super) spelling: Spelling,
    decoding: Decoding,
    pub(super) slots: Vec<Slot>,
    /// The open containers, from the outermost inward.
    pub(super) open: Vec<Open>,
    pub(super) decoded: String,
    pub(super) decoded_spans: Vec<(u32, u32)>,
    pub(super) late: Vec<OnceLock<String>>,
    pub(super) duplicate_keys: Vec<u32>,
    pub(super) sorted_keys: Vec<(u32, Vec<u32>)>,
    /// How many containers were open at most.
    depth: usize,
}

/// What is wrong with a text, in a box: results on the way stay in registers.
pub(super) type Mistake = Box<ParseErrorKind>;

/// Why a text is not JSON, and how far it was.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ParseError,
    /// How many containers were open there.
    pub(crate) open: usize,
}

/// Reads `text`, which is kept only if it is JSON: a copy of megabytes would be for nothing.
pub(super) fn parse<T: AsRef<str> + Into<String>>(
    text: T,
    limits: &Limits,
) -> Result<Document, Failure> {
    let (parsed, _) = Parser::read(text.as_ref(), limits, Spelling::Json, Decoding::AtOnce)?;
    Ok(Document { text: text.into(), ..parsed })
}

impl<'t> Parser<'t> {
    /// Returns the document without its text, and how that is spelt.
    pub(super) fn read(
        text: &'t str,
        limits: &Limits,
        spelling: Spelling,
        decoding: Decoding,
    ) -> Result<(Document, Spelling), Failure> {
        let too_large = text.len() > limits.bytes || u32::try_from(text.len()).is_err();
        if too_large {
            let kind = ParseErrorKind::TooLarge { size: text.len(), limit: limits.bytes };
            return Err(Failure { error: ParseError::new(kind, "", 0), open: 0 });
        }
        let mut parser = Self {
            text,
            at: 0,
            limits: *limits,
            spelling,
            decoding,
            slots: Vec::with_capacity(text.len() / 12 + 4),
            open: Vec::new(),
            decoded: String::new(),
            decoded_spans: Vec::new(),
            late: Vec::new(),
            duplicate_keys: Vec::new(),
            sorted_keys: Vec::new(),
            depth: 0,
        };
        if let Err(kind) = parser.document() {
            let Stop { kind, at, open } = parser.stop(kind);
            return Err(Failure { error: ParseError::new(*kind, text, at), open });
        }
        parser.sorted_keys.sort_unstable_by_key(|(object, _)| *object);
        parser.duplicate_keys.sort_unstable();
        let document = Document {
            text: String::new(),
            slots: parser.slots,
            decoded: parser.decoded,
            decoded_spans: parser.decoded_spans,
            late: (!parser.late.is_empty()).then(|| Box::new(Late(parser.late))),
            duplicate_keys: parser.duplicate_keys,
            sorted_keys: parser.sorted_keys,
            depth: parser.depth,
        };
        Ok((document, parser.spelling))
    }

    fn document(&mut self) -> Result<(), Mistake> {
        if self.text.starts_with('\u{feff}') {
            return Err(Box::new(ParseErrorKind::ByteOrderMark));
        }
        self.skip_space();
        if self.at == self.text.len() {
            return Err(Box::new(ParseErrorKind::Empty));
        }
        let mut expect = Expect::Value;
        loop {
            self.skip_space();
            expect = match expect {
                Expect::Value | Expect::FirstItem => self.value(expect)?,
                Expect::Key | Expect::FirstKey => self.key(expect)?,
                Expect::Separator if self.open.is_empty() => break,
                Expect::Separator => self.separator()?,
            };
        }
        if self.at < self.text.len() {
            return Err(Box::new(ParseErrorKind::TrailingData));
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn value(&mut self, expect: Expect) -> Result<Expect, Mistake> {
        match self.peek() {
            Some(b'"') => self.string(self.decoding).map(|()| Expect::Separator),
            Some(b'{') => self.open(Kind::Object).map(|()| Expect::FirstKey),
            Some(b'[') => self.open(Kind::Array).map(|()| Expect::FirstItem),
            Some(b']') if expect == Expect::FirstItem => self.close(),
            Some(b't') => self.word("true", Kind::Boolean),
            Some(b'f') => self.word("false", Kind::Boolean),
            Some(b'n') => self.word("null", Kind::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'\'') if self.may_be_python(VALUE) => {
                self.single_quoted().map(|()| Expect::Separator)
            }
            Some(b'T') if self.may_be_python(VALUE) => self.word("True", Kind::Boolean),
            Some(b'F') if self.may_be_python(VALUE) => self.word("False", Kind::Boolean),
            Some(b'N') if self.may_be_python(VALUE) => self.word("None", Kind::Null),
            _ => Err(Box::new(self.unexpected(VALUE))),
        }
    }

    fn key(&mut self, expect: Expect) -> Result<Expect, Mistake> {
        match self.peek() {
            Some(b'"') => self.string(Decoding::AtOnce)?,
            Some(b'}') if expect == Expect::FirstKey => return self.close(),
            Some(b'\'') if self.may_be_python(KEY) => self.single_quoted()?,
            _ => return Err(Box::new(self.unexpected(KEY))),
        }
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(Box::new(self.unexpected("`:`")));
        }
        self.at += 1;
        self.skip_space();
        self.value(Expect::Value)
    }

    fn separator(&mut self) -> Result<Expect, Mistake> {
        let object = self.open.last().is_some_and(|open| open.kind == Kind::Object);
        match (self.peek(), object) {
            (Some(b','), _) => {
                self.at += 1;
                Ok(if object { Expect::Key } else { Expect::Value })
            }
            (Some(b'}'), true) | (Some(b']'), false) => self.close(),
            (_, true) => Err(Box::new(self.unexpected("`,` or `}`"))),
            (_, false) => Err(Box::new(self.unexpected("`,` or `]`"))),
        }
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> ParseErrorKind {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => ParseErrorKind::Unexpected { found, expected },
            None => ParseErrorKind::Truncated,
        }
    }

    fn word(&mut self, word: &'static str, kind: Kind) -> Result<Expect, Mistake> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            let cut = word.starts_with(rest);
            let kind = if cut { ParseErrorKind::Truncated } else { self.unexpected(VALUE) };
            return Err(Box::new(kind));
        }
        self.scalar(kind, self.at + word.len(), 0)?;
        Ok(Expect::Separator)
    }

    fn number(&mut self) -> Result<Expect, Mistake> {
        let Some(end) = number_end(self.text.as_bytes(), self.at) else {
            return Err(Box::new(ParseErrorKind::InvalidNumber));
        };
        let literal = self.text.get(self.at..end).unwrap_or_default();
        // Below 300 digits only an exponent can overflow.
        let suspicious = literal.len() >= 300 || literal.contains(['e', 'E']);
        if suspicious && !literal.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(Box::new(ParseErrorKind::NumberOutOfRange));
        }
        self.scalar(Kind::Number, end, 0)?;
        Ok(Expect::Separator)
    }

    pub(super) fn scalar(&mut self, kind: Kind, end: usize, extra: u32) -> Result<(), Mistake> {
        let next = narrow(self.slots.len()) + 1;
        self.push(Slot { kind, start: narrow(self.at), end: narrow(end), next, extra })?;
        self.at = end;
        Ok(())
    }

    fn open(&mut self, kind: Kind) -> Result<(), Mistake> {
        if self.open.len() >= self.limits.depth {
            return Err(Box::new(ParseErrorKind::TooDeep { limit: self.limits.depth }));
        }
        let slot = narrow(self.slots.len());
        self.push(Slot { kind, start: narrow(self.at), end: 0, next: 0, extra: 0 })?;
        self.open.push(Open { kind, slot, children: 0 });
        self.depth = self.depth.max(self.open.len());
        self.at += 1;
        Ok(())
    }

    fn push(&mut self, slot: Slot) -> Result<(), Mistake> {
        if self.slots.len() >= self.limits.nodes {
            return Err(Box::new(ParseErrorKind::TooManyNodes { limit: self.limits.nodes }));
        }
        if let Some(parent) = self.open.last_mut() {
            parent.children += 1;
        }
        self.slots.push(slot);
        Ok(())
    }

    fn close(&mut self) -> Result<Expect, Mistake> {
        self.at += 1;
        let next = narrow(self.slots.len());
        let end = narrow(self.at);
        let Some(open) = self.open.pop() else {
            return Err(Box::new(ParseErrorKind::TrailingData));
        };
        let is_object = open.kind == Kind::Object;
        if let Some(slot) = self.slots.get_mut(open.slot as usize) {
            slot.end = end;
            slot.next = next;
            slot.extra = if is_object { open.children / 2 } else { open.children };
        }
        if is_object {
            self.inspect_keys(open.slot);
        }
        Ok(Expect::Separator)
    }
}

/// Narrows an offset that [`parse`] has already bounded.
pub(super) fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use test_case::test_case;

    fn kind_of(text: &str) -> ParseErrorKind {
        Document::parse(text).unwrap_err().kind
    }

    #[test_case("", ParseErrorKind::Empty)]
    #[test_case(" \n", ParseErrorKind::Empty; "only space")]
    #[test_case("{\"a\":1", ParseErrorKind::Truncated)]
    #[test_case("[1,", ParseErrorKind::Truncated; "after comma")]
    #[test_case("\"ab", ParseErrorKind::Truncated; "in string")]
    #[test_case("tru", ParseErrorKind::Truncated; "in word")]
    #[test_case("{} {}", ParseErrorKind::TrailingData)]
    #[test_case("\u{feff}{}", ParseErrorKind::ByteOrderMark)]
    #[test_case(r#""\x""#, ParseErrorKind::InvalidEscape)]
    #[test_case(r#""\ud800""#, ParseErrorKind::LoneSurrogate)]
    #[test_case(r#""\udc00\ud800""#, ParseErrorKind::LoneSurrogate; "swapped pair")]
    #[test_case("\"\n\"", ParseErrorKind::ControlCharacter)]
    #[test_case("01", ParseErrorKind::TrailingData; "leading zero")]
    #[test_case("1.", ParseErrorKind::InvalidNumber)]
    #[test_case("1e400", ParseErrorKind::NumberOutOfRange)]
    #[test_case("1e999999999999", ParseErrorKind::NumberOutOfRange; "huge exponent")]
    fn malformed_text_has_a_kind(text: &str, expected: ParseErrorKind) {
        assert_eq!((text, kind_of(text)), (text, expected));
    }

    #[test]
    fn errors_say_where() {
        let error = Document::parse("{\n \"ä\": x}").unwrap_err();
        assert_eq!((error.line, error.column, error.offset), (2, 7, 9));
        assert_eq!(error.to_string(), "unexpected `x`, expected a value at line 2 column 7");
    }

    #[test]
    fn depth_is_bounded_without_recursion() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Document::parse(nested(128)).is_ok());
        for depth in [129, 5_000, 100_000, 5_000_000] {
            assert_eq!(kind_of(&nested(depth)), ParseErrorKind::TooDeep { limit: 128 });
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let limits = Limits { bytes: 8, depth: 9, nodes: 3 };
        let kind = |text: &str| Document::parse_within(text, &limits).unwrap_err().kind;
        assert_eq!(kind("[1,2,3,4]"), ParseErrorKind::TooLarge { size: 9, limit: 8 });
        assert_eq!(kind("[1,2,3]"), ParseErrorKind::TooManyNodes { limit: 3 });
    }

    #[test]
    fn huge_integers_are_refused_or_kept() {
        assert_eq!(kind_of(&"9".repeat(200_000)), ParseErrorKind::NumberOutOfRange);
        let digits = "1234567890".repeat(4);
        let document = Document::parse(digits.clone()).unwrap();
        assert_eq!(document.to_compact(), digits);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_document_or_an_error_where_serde_agrees(text in r#"[\[\]{}:,"\\ux0-9aeE+.tfn \-]{0,24}"#) {
            let ours = Document::parse(text.as_str());
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours.err(), theirs.as_ref().err());
            if let (Ok(document), Ok(value)) = (ours, theirs)
                && !document.has_duplicates()
            {
                prop_assert_eq!(document.to_value(), value);
            }
        }

        #[test]
        fn strings_round_trip(text in "\\PC*") {
            let literal = serde_json::to_string(&text).unwrap();
            let document = Document::parse(literal).unwrap();
            prop_assert_eq!(document.root().as_str(), Some(text.as_str()));
        }
    }
}
