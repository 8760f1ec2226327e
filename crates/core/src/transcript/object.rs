//! A line that is a JSON object, with the exact text of everything in it.
//!
//! JavaScript programs write half of a surrogate pair as `\ud800`, which stands for no character.
//! It must not cost the line: it is read as U+FFFD, which is as long when it is escaped, so that every
//! node still stands where it stands in the line, and what is handed on is the text as it was written.

use std::collections::BTreeSet;

use serde_json::Number;
use serde_json::value::RawValue;

use crate::json::{
    Document, Kind, Limits, Node, ParseError, ParseErrorKind, as_text, decode_escape,
};

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
        let limits = Limits { bytes: bytes.len(), depth: DEPTH_LIMIT, ..Limits::default() };
        let object = match Document::parse_bytes(bytes, &limits) {
            Ok(document) => Self { document, original: None, lone_surrogates: 0 },
            Err(error) if error.kind == ParseErrorKind::LoneSurrogate => {
                Self::mend(bytes, &limits).map_err(NoObject::Malformed)?
            }
            Err(error) => return Err(NoObject::Malformed(error)),
        };
        let kind = object.root().kind();
        if kind != Kind::Object {
            return Err(NoObject::OtherKind(kind));
        }
        match object.said_twice() {
            Some(key) => Err(NoObject::Ambiguous(key.to_owned())),
            None => Ok(object),
        }
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

    fn mend(bytes: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        let text = as_text(bytes)?;
        let (mended, lone_surrogates) = mended(text);
        let document = Document::parse_within(mended, limits)?;
        Ok(Self { document, original: Some(text.to_owned()), lone_surrogates })
    }

    /// Returns the object.
    pub(super) fn root(&self) -> Node<'_> {
        self.document.root()
    }

    /// Returns the text of a node as it was written.
    pub(super) fn exact<'o>(&'o self, node: Node<'o>) -> &'o str {
        match &self.original {
            Some(original) => original.get(node.span()).unwrap_or_default(),
            None => node.raw(),
        }
    }

    /// Returns the member of a node as it was written; null if there is none.
    pub(super) fn verbatim_member(&self, node: Node<'_>, key: &str) -> Box<RawValue> {
        node.member(key).map_or_else(|| RawValue::NULL.to_owned(), |member| self.verbatim(member))
    }

    /// Returns a node as it was written, to be written again.
    pub(super) fn verbatim(&self, node: Node<'_>) -> Box<RawValue> {
        let text = self.exact(node).to_owned();
        RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}

/// Returns `text` with U+FFFD for each lone surrogate, and how many there were.
fn mended(text: &str) -> (String, u64) {
    let mut out = String::with_capacity(text.len());
    let mut count = 0;
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let (kept, length) = match decode_escape(escape) {
            Ok((_, length)) => (escape.get(..length), length),
            Err(ParseErrorKind::LoneSurrogate) => {
                count += 1;
                (Some(r"\ufffd"), 6)
            }
            // No escape at all: what follows the backslash is for the parser to refuse.
            Err(_) => (escape.get(..1), 1),
        };
        out.push_str(kept.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    (out, count)
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
    #[test_case("\\é" => ("\\é".to_owned(), 0); "no escape at all")]
    #[test_case("\\" => ("\\".to_owned(), 0); "cut")]
    fn only_lone_surrogates_are_replaced(text: &str) -> (String, u64) {
        mended(text)
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
