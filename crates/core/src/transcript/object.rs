//! A line that is a JSON object, with the exact text of everything in it.
//!
//! JavaScript programs write half of a surrogate pair as `\ud800`, which stands for no character.
//! It must not cost the line: it is read as U+FFFD. Nor may a number that is beyond all machine
//! numbers, which is read as null. Either is made as long as what it stands for, so that every node
//! still stands where it stands in the line, and what is handed on is the text as it was written.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Number;
use serde_json::value::RawValue;

use crate::json::{
    Document, Kind, Limits, Node, ParseError, ParseErrorKind, StringEnd, as_text, decode_escape,
    number_end, string_end,
};

use super::Program;

/// How many containers may be nested: more than any program writes, and nothing here recurses.
const DEPTH_LIMIT: usize = 10_000;

/// Members that are handed on as they were written; what they repeat is for the judge to find.
const HANDED_ON: [&str; 5] =
    ["structured_output", "structured_result", "structured", "input", "parameters"];

/// An object.
#[derive(Debug)]
pub(super) struct Object {
    document: Document,
    /// The line as it was written, if it had to be mended to be read.
    original: Option<String>,
    /// How many lone surrogates there are.
    pub(super) lone_surrogates: u64,
    /// How many numbers are beyond all machine numbers.
    pub(super) huge_numbers: u64,
}

/// Why a line is no object that can be read.
#[derive(Debug)]
pub(super) enum NoObject {
    /// It is not JSON.
    Malformed(ParseError),
    /// It is JSON of another kind.
    OtherKind(Kind),
    /// It says this member twice.
    Ambiguous(String),
}

impl Object {
    /// Reads a line.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, NoObject> {
        let mut text = as_text(bytes).map_err(NoObject::Malformed)?.to_owned();
        Self::take(&mut text)
    }

    /// Reads a line, and takes its text if it is an object.
    pub(super) fn take(text: &mut String) -> Result<Self, NoObject> {
        let object = Self::parse(text).map_err(NoObject::Malformed)?;
        let kind = object.root().kind();
        let refused = if kind == Kind::Object {
            object.said_twice().map(|key| NoObject::Ambiguous(key.to_owned()))
        } else {
            Some(NoObject::OtherKind(kind))
        };
        match refused {
            Some(refused) => {
                *text = object.into_text();
                Err(refused)
            }
            None => Ok(object),
        }
    }

    /// Returns the line as it was written.
    pub(super) fn into_text(self) -> String {
        self.original.unwrap_or_else(|| self.document.into_text())
    }

    /// Returns a member that an object of the line itself says twice.
    fn said_twice(&self) -> Option<&str> {
        if !self.document.has_duplicates() {
            return None;
        }
        let mut open = vec![self.root()];
        while let Some(node) = open.pop() {
            open.extend(node.items());
            let mut keys = BTreeSet::new();
            for (key, value) in node.members() {
                if !keys.insert(key) {
                    return Some(key);
                }
                if !HANDED_ON.contains(&key) {
                    open.push(value);
                }
            }
        }
        None
    }

    /// Parses JSON of any kind, and takes its text.
    fn parse(text: &mut String) -> Result<Self, ParseError> {
        let limits = Limits { bytes: text.len(), depth: DEPTH_LIMIT, ..Limits::default() };
        let error = match Document::take(text, &limits) {
            Ok(document) => {
                return Ok(Self { document, original: None, lone_surrogates: 0, huge_numbers: 0 });
            }
            Err(error) => error,
        };
        if !matches!(error.kind, ParseErrorKind::LoneSurrogate | ParseErrorKind::NumberOutOfRange) {
            return Err(error);
        }
        let Mended { text: mended, lone_surrogates, huge_numbers } = mended(text);
        let document = Document::parse_within(mended, &limits)?;
        let original = Some(std::mem::take(text));
        Ok(Self { document, original, lone_surrogates, huge_numbers })
    }

    /// Returns the object.
    pub(super) fn root(&self) -> Node<'_> {
        self.document.root()
    }

    /// Returns the text of a node as it was written.
    pub(super) fn exact<'o>(&'o self, node: Node<'o>) -> &'o str {
        let Some(original) = &self.original else { return node.raw() };
        let Range { start, end } = node.span();
        // A huge number is longer than the null that it is read as.
        let end = number_end(original.as_bytes(), start).unwrap_or(end);
        original.get(start..end).unwrap_or_default()
    }

    /// Returns the member of a node as it was written; null if there is none.
    pub(super) fn verbatim_member(&self, node: Node<'_>, key: &str) -> Box<RawValue> {
        node.member(key).map_or_else(|| RawValue::NULL.to_owned(), |member| self.verbatim(member))
    }

    /// Returns a node as it was written, to be written again on one line: between values, where alone
    /// a line break can be, white space means nothing.
    pub(super) fn verbatim(&self, node: Node<'_>) -> Box<RawValue> {
        let text = self.exact(node);
        let text = match memchr::memchr(b'\n', text.as_bytes()) {
            Some(_) => text.replace(['\r', '\n'], " "),
            None => text.to_owned(),
        };
        RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}

/// Returns where the items of an array stand that holds objects alone, if one of them gives a program
/// away.
pub(super) fn items(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    let array = Object::parse(&mut as_text(bytes).ok()?.to_owned()).ok()?;
    let items = || array.root().items();
    let is_known = items().any(|item| Program::of_line(item).is_some());
    let is_plain = items().all(|item| item.kind() == Kind::Object);
    (is_known && is_plain).then(|| items().map(Node::span).collect())
}

/// A text that can be read, and what had to be replaced.
#[derive(Debug, Default, PartialEq, Eq)]
struct Mended {
    text: String,
    lone_surrogates: u64,
    huge_numbers: u64,
}

/// Returns `text` with U+FFFD for each lone surrogate and null for each number that is too large, as
/// long as before.
fn mended(text: &str) -> Mended {
    let mut out = Mended { text: String::with_capacity(text.len()), ..Mended::default() };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_string(bytes, at),
            b'-' | b'0'..=b'9' => number_end(bytes, at).unwrap_or(at + 1),
            _ => end_of_rest(bytes, at),
        };
        let part = text.get(at..end).unwrap_or_default();
        match byte {
            b'"' => out.add_string(part),
            b'-' | b'0'..=b'9' => out.add_number(part),
            _ => out.text.push_str(part),
        }
        at = end;
    }
    out
}

/// Returns where the string that begins at `at` ends; where it is broken, the parser says so.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    match string_end(bytes, at + 1) {
        StringEnd::Closed { end, .. } => end,
        StringEnd::Open | StringEnd::Control { .. } => bytes.len(),
    }
}

/// Returns where the next string or number begins.
fn end_of_rest(bytes: &[u8], at: usize) -> usize {
    let begins = |byte: &u8| matches!(byte, b'"' | b'-' | b'0'..=b'9');
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(begins).map_or(bytes.len(), |length| at + length)
}

impl Mended {
    fn add_number(&mut self, literal: &str) {
        if !literal.parse().is_ok_and(f64::is_infinite) {
            return self.text.push_str(literal);
        }
        self.huge_numbers += 1;
        self.text.push_str("null");
        self.text.extend(std::iter::repeat_n(' ', literal.len().saturating_sub("null".len())));
    }

    fn add_string(&mut self, mut rest: &str) {
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            let (plain, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.text.push_str(plain);
            let (kept, length) = match decode_escape(escape) {
                Ok((_, length)) => (escape.get(..length), length),
                Err(ParseErrorKind::LoneSurrogate) => {
                    self.lone_surrogates += 1;
                    (Some(r"\ufffd"), 6)
                }
                // No escape at all: what follows the backslash is for the parser to refuse.
                Err(_) => (escape.get(..1), 1),
            };
            self.text.push_str(kept.unwrap_or_default());
            rest = escape.get(length..).unwrap_or_default();
        }
        self.text.push_str(rest);
    }
}

/// Members of a node that may be anything.
pub(super) trait Fields<'d>: Sized {
    /// Returns the member unless it is null.
    fn given(self, key: &str) -> Option<Node<'d>>;

    /// Returns the member if it is text.
    fn text(self, key: &str) -> Option<&'d str>;

    /// Returns the member if it is text, to be kept.
    fn owned(self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    /// Returns the member if it is a number.
    fn number(self, key: &str) -> Option<Number>;

    /// Returns the member if it is a whole number from 0 up.
    fn count(self, key: &str) -> Option<u64> {
        self.number(key)?.as_u64()
    }

    /// Returns the member if it is a boolean.
    fn flag(self, key: &str) -> Option<bool>;

    /// Returns the member if it is an object.
    fn object(self, key: &str) -> Option<Node<'d>>;

    /// Returns the items of the member if it is an array.
    fn list(self, key: &str) -> Option<Vec<Node<'d>>>;
}

impl<'d> Fields<'d> for Node<'d> {
    fn given(self, key: &str) -> Option<Self> {
        self.member(key).filter(|member| !member.is_null())
    }

    fn text(self, key: &str) -> Option<&'d str> {
        self.member(key)?.as_str()
    }

    fn number(self, key: &str) -> Option<Number> {
        Some(self.member(key)?.as_number()?.to_machine())
    }

    fn flag(self, key: &str) -> Option<bool> {
        self.member(key)?.as_boolean()
    }

    fn object(self, key: &str) -> Option<Self> {
        self.member(key).filter(|member| member.kind() == Kind::Object)
    }

    fn list(self, key: &str) -> Option<Vec<Self>> {
        let member = self.member(key).filter(|member| member.kind() == Kind::Array)?;
        Some(member.items().collect())
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(r#""\ud800""# => (r#""\ufffd""#.to_owned(), 1); "first half")]
    #[test_case(r#""\udc00x""# => (r#""\ufffdx""#.to_owned(), 1); "second half")]
    #[test_case(r#""\ud800\ud83d\ude00""# => (r#""\ufffd\ud83d\ude00""#.to_owned(), 1); "before a pair")]
    #[test_case(r#""\\ud800 \u00e9""# => (r#""\\ud800 \u00e9""#.to_owned(), 0); "escaped backslash")]
    #[test_case(r#""\ud83d\ude00""# => (r#""\ud83d\ude00""#.to_owned(), 0); "pair")]
    #[test_case("\"\\é" => ("\"\\é".to_owned(), 0); "no escape at all")]
    #[test_case("\"\\" => ("\"\\".to_owned(), 0); "cut")]
    fn only_lone_surrogates_are_replaced(text: &str) -> (String, u64) {
        let mended = mended(text);
        assert_eq!(mended.huge_numbers, 0);
        (mended.text, mended.lone_surrogates)
    }

    #[test_case(r#"[1e400,-1E+999 ,"1e400",1e3]"# => (r#"[null ,null    ,"1e400",1e3]"#.to_owned(), 2))]
    #[test_case("[01e400, 1e400x, 1e]" => ("[0null , null x, 1e]".to_owned(), 2); "what is no number stays none")]
    fn only_huge_numbers_are_replaced(text: &str) -> (String, u64) {
        let mended = mended(text);
        assert_eq!(mended.lone_surrogates, 0);
        (mended.text, mended.huge_numbers)
    }

    #[test]
    fn a_huge_number_costs_nothing_but_itself() {
        let line = br#"{"usage":{"input_tokens":1e400,"output_tokens":7},"input":-2e999}"#;
        let object = Object::read(line).unwrap();
        let usage = object.root().object("usage").unwrap();
        assert_eq!((usage.count("input_tokens"), usage.count("output_tokens")), (None, Some(7)));
        assert_eq!(object.verbatim(usage).get(), r#"{"input_tokens":1e400,"output_tokens":7}"#);
        assert_eq!(object.verbatim_member(object.root(), "input").get(), "-2e999");
        assert_eq!(object.huge_numbers, 2);
    }

    #[test_case(r#" [{"type":"user"}, {}]"# => Some(vec![2..17, 19..21]))]
    #[test_case(r#"[{"a":1},{}]"# => None; "objects of nobody")]
    #[test_case(r#"[{"type":"user"},1]"# => None; "something else too")]
    #[test_case(r#"{"type":"user"}"# => None; "no array")]
    fn the_items_of_an_array_of_lines_stand_somewhere(text: &str) -> Option<Vec<Range<usize>>> {
        items(text.as_bytes())
    }

    #[test]
    fn what_is_handed_on_is_as_it_was_written() {
        let line = br#"{ "a": {"b":"\ud800 \u0041", "n": 1.50}, "c":"\ud800" }"#;
        let object = Object::read(line).unwrap();
        let member = object.root().member("a").unwrap();
        assert_eq!(object.exact(member), r#"{"b":"\ud800 \u0041", "n": 1.50}"#);
        assert_eq!(object.verbatim(member).get(), object.exact(member));
        assert_eq!(object.root().text("c"), Some("\u{fffd}"));
        assert_eq!(object.lone_surrogates, 2);
    }

    #[test_case(r#"{"type":"a","type":"b"}"# => Some("type".to_owned()); "of the line")]
    #[test_case(r#"{"a":[{"id":1,"i\u0064":2}]}"# => Some("id".to_owned()); "further down")]
    #[test_case(r#"{"input":1,"input":1}"# => Some("input".to_owned()); "that is handed on")]
    #[test_case(r#"{"input":{"a":1,"a":2},"a":{"b":1},"b":1}"# => None; "in what is handed on")]
    fn what_a_line_says_twice_makes_it_ambiguous(line: &str) -> Option<String> {
        match Object::read(line.as_bytes()) {
            Err(NoObject::Ambiguous(key)) => Some(key),
            read => read.map(|_| None).unwrap(),
        }
    }

    #[test]
    fn depth_does_not_cost_a_line() {
        let nested = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        let object = Object::read(format!("{{\"a\":{nested}}}").as_bytes()).unwrap();
        assert_eq!(object.verbatim(object.root().member("a").unwrap()).get(), nested);
        let endless = format!("{{\"a\":{}", "[".repeat(20_000));
        assert!(matches!(Object::read(endless.as_bytes()), Err(NoObject::Malformed(_))));
    }
}
