//! The tape: a document's text and its nodes in reading order.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::OnceLock;

use serde_json::Value;

use super::error::{ParseError, as_text};
use super::escape::unescaped;
use super::number::Number;
use super::parse::{Failure, Limits, Parser, parse};
use super::pointer::Pointer;
use super::python::Spelling;
use super::string::Decoding;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Returns the JSON Schema name of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// One place on the tape. An object's children alternate between key and value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) kind: Kind,
    /// Where the node's text starts.
    pub(super) start: u32,
    /// Where it ends.
    pub(super) end: u32,
    /// The slot behind this node and everything in it.
    pub(super) next: u32,
    /// A container's number of items or members; a string's place in `decoded_spans` or, with [`LATE`],
    /// in `late`, plus one.
    pub(super) extra: u32,
}

/// Marks a string that is decoded when somebody asks for it. There are never so many nodes.
pub(super) const LATE: u32 = 1 << 31;

/// Strings that hold escapes, and are decoded when somebody asks for them.
#[derive(Debug, Clone)]
pub(super) struct Late(pub(super) Vec<OnceLock<String>>);

/// Stands for a slot that does not exist, so that no lookup can panic.
const NO_SLOT: Slot = Slot { kind: Kind::Null, start: 0, end: 0, next: u32::MAX, extra: 0 };

/// A JSON text, parsed once.
#[derive(Debug, Clone)]
pub struct Document {
    pub(super) text: String,
    pub(super) slots: Vec<Slot>,
    /// Strings that hold escapes, decoded.
    pub(super) decoded: String,
    pub(super) decoded_spans: Vec<(u32, u32)>,
    /// Those that are decoded when somebody asks for them: most documents have none.
    pub(super) late: Option<Box<Late>>,
    /// Slots of later duplicate keys.
    pub(super) duplicate_keys: Vec<u32>,
    /// For objects with many members: their key slots, sorted by key.
    pub(super) sorted_keys: Vec<(u32, Vec<u32>)>,
    /// How many containers are nested at most.
    pub(super) depth: usize,
}

/// A value in a document.
#[derive(Debug, Clone, Copy)]
pub struct Node<'d> {
    document: &'d Document,
    index: u32,
}

/// An array's items, in order.
#[derive(Debug, Clone)]
pub struct Items<'d> {
    document: &'d Document,
    index: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Node<'d>;

    #[inline]
    fn next(&mut self) -> Option<Node<'d>> {
        if self.index >= self.end {
            return None;
        }
        let child = Node { document: self.document, index: self.index };
        self.index = child.slot().next;
        Some(child)
    }
}

/// An object's members, in order.
#[derive(Debug, Clone)]
pub struct Members<'d>(Items<'d>);

impl<'d> Iterator for Members<'d> {
    type Item = (&'d str, Node<'d>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?;
        let value = self.0.next()?;
        Some((key.document.string_at(key.index), value))
    }
}

impl Document {
    /// Parses `text` strictly, within the default [`Limits`].
    pub fn parse(text: impl Into<String>) -> Result<Self, ParseError> {
        Self::parse_within(text, &Limits::default())
    }

    /// Parses `text` strictly, within `limits`.
    pub fn parse_within(text: impl Into<String>, limits: &Limits) -> Result<Self, ParseError> {
        parse(text.into(), limits).map_err(|failure| failure.error)
    }

    /// Parses `text` like [`Self::parse_within`], but copies it only if it is JSON.
    pub(crate) fn parse_text(text: &str, limits: &Limits) -> Result<Self, Failure> {
        parse(text, limits)
    }

    /// Parses `text` like [`Self::parse_within`], and takes it only if it is JSON; strings are decoded
    /// when they are asked for.
    pub(crate) fn take(text: &mut String, limits: &Limits) -> Result<Self, ParseError> {
        let read = Parser::read(text, limits, Spelling::Json, Decoding::Late);
        let (parsed, _) = read.map_err(|failure| failure.error)?;
        Ok(Self { text: std::mem::take(text), ..parsed })
    }

    /// Returns the text as it was parsed.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Parses bytes that may not be UTF-8.
    pub fn parse_bytes(bytes: &[u8], limits: &Limits) -> Result<Self, ParseError> {
        Self::parse_text(as_text(bytes)?, limits).map_err(|failure| failure.error)
    }

    /// Returns the document that `value` would be parsed from.
    pub fn from_value(value: &Value) -> Result<Self, ParseError> {
        Self::parse(value.to_string())
    }

    /// Returns the text as it was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the outermost value.
    pub fn root(&self) -> Node<'_> {
        Node { document: self, index: 0 }
    }

    /// Returns the number of slots, a measure of the document's size.
    pub fn node_count(&self) -> usize {
        self.slots.len()
    }

    /// Returns how many containers are nested at most.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the node at `pointer`.
    pub fn at(&self, pointer: &Pointer) -> Option<Node<'_>> {
        let mut node = self.root();
        for segment in pointer.segments() {
            node = match node.kind() {
                Kind::Object => node.member(&segment)?,
                Kind::Array => node.items().nth(segment.parse().ok()?)?,
                Kind::Null | Kind::Boolean | Kind::Number | Kind::String => return None,
            };
        }
        Some(node)
    }

    /// Returns the document as a `serde_json` value; exact but for numbers beyond 64 bits.
    pub fn to_value(&self) -> Value {
        self.root().to_value()
    }

    /// Returns the text without insignificant white space, literals as written.
    pub fn to_compact(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        self.root().write_compact(&mut out);
        out
    }

    pub(super) fn slot(&self, index: u32) -> Slot {
        self.slots.get(index as usize).copied().unwrap_or(NO_SLOT)
    }

    pub(super) fn string_at(&self, index: u32) -> &str {
        let slot = self.slot(index);
        let inside = slot.start as usize + 1..(slot.end as usize).saturating_sub(1);
        let written = || self.text.get(inside).unwrap_or_default();
        if slot.extra == 0 {
            return written();
        }
        if slot.extra & LATE != 0 {
            let place = (slot.extra & !LATE) as usize - 1;
            let cell = self.late.as_ref().and_then(|late| late.0.get(place));
            return cell.map_or("", |cell| cell.get_or_init(|| unescaped(written())));
        }
        let span = self.decoded_spans.get(slot.extra as usize - 1).copied().unwrap_or_default();
        self.decoded.get(span.0 as usize..span.1 as usize).unwrap_or_default()
    }
}

impl<'d> Node<'d> {
    fn slot(self) -> Slot {
        self.document.slot(self.index)
    }

    /// Returns this node's place on the tape, which identifies it within its document.
    pub fn id(self) -> u32 {
        self.index
    }

    /// Returns the document that this node belongs to.
    pub fn document(self) -> &'d Document {
        self.document
    }

    /// Returns what this node is.
    pub fn kind(self) -> Kind {
        self.slot().kind
    }

    /// Returns where the node stands in the text.
    pub fn span(self) -> Range<usize> {
        let slot = self.slot();
        slot.start as usize..slot.end as usize
    }

    /// Returns the node's text as written.
    pub fn raw(self) -> &'d str {
        self.document.text.get(self.span()).unwrap_or_default()
    }

    /// Returns the string, decoded.
    pub fn as_str(self) -> Option<&'d str> {
        (self.kind() == Kind::String).then(|| self.document.string_at(self.index))
    }

    /// Returns the number.
    pub fn as_number(self) -> Option<Number<'d>> {
        (self.kind() == Kind::Number).then(|| Number::new(self.raw()))
    }

    /// Returns the boolean.
    pub fn as_boolean(self) -> Option<bool> {
        (self.kind() == Kind::Boolean).then(|| self.raw() == "true")
    }

    /// Claims that this is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the number of items or members; none for a scalar.
    pub fn len(self) -> usize {
        match self.kind() {
            Kind::Array | Kind::Object => self.slot().extra as usize,
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => 0,
        }
    }

    /// Claims that there are no items and no members.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns an array's items; nothing for anything else.
    pub fn items(self) -> Items<'d> {
        self.children_of(Kind::Array)
    }

    /// Returns an object's members in order; nothing for anything else.
    pub fn members(self) -> Members<'d> {
        Members(self.children_of(Kind::Object))
    }

    /// Returns this value and those in it, in order; keys are none of them.
    pub(crate) fn values(self) -> impl Iterator<Item = Node<'d>> + use<'d> {
        let alone = Items { document: self.document, index: self.index, end: self.slot().next };
        let mut open = vec![(Kind::Array, alone)];
        std::iter::from_fn(move || {
            loop {
                let (container, children) = open.last_mut()?;
                if *container == Kind::Object {
                    children.next();
                }
                let Some(node) = children.next() else {
                    open.pop();
                    continue;
                };
                if let kind @ (Kind::Array | Kind::Object) = node.kind() {
                    open.push((kind, node.children_of(kind)));
                }
                return Some(node);
            }
        })
    }

    /// Returns an object's members with their keys as nodes.
    pub(crate) fn keyed_members(self) -> impl Iterator<Item = (Node<'d>, Node<'d>)> + use<'d> {
        let mut children = self.children_of(Kind::Object);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Returns the member called `key`; the first of several.
    pub fn member(self, key: &str) -> Option<Self> {
        let document = self.document;
        let many = &document.sorted_keys;
        if let Ok(found) = many.binary_search_by_key(&self.index, |(object, _)| *object) {
            let (_, keys) = many.get(found)?;
            let first = keys.partition_point(|slot| document.string_at(*slot) < key);
            let slot = *keys.get(first)?;
            return (document.string_at(slot) == key).then_some(Node { document, index: slot + 1 });
        }
        self.members().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    #[inline]
    fn children_of(self, kind: Kind) -> Items<'d> {
        let slot = self.slot();
        let end = if slot.kind == kind { slot.next } else { 0 };
        Items { document: self.document, index: self.index + 1, end }
    }

    /// Returns the value as `serde_json` holds it; exact but for numbers beyond 64 bits.
    ///
    /// Recurses as deep as the document, which the parser has bounded.
    pub fn to_value(self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Boolean => Value::Bool(self.raw() == "true"),
            Kind::Number => Value::Number(Number::new(self.raw()).to_machine()),
            Kind::String => Value::String(self.document.string_at(self.index).to_owned()),
            Kind::Array => self.items().map(Node::to_value).collect(),
            Kind::Object => {
                self.members().map(|(key, value)| (key.to_owned(), value.to_value())).collect()
            }
        }
    }

    /// Appends the value to `out` without insignificant white space, literals as written.
    pub fn write_compact(self, out: &mut String) {
        match self.kind() {
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => out.push_str(self.raw()),
            Kind::Array => {
                out.push('[');
                for (position, item) in self.items().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    item.write_compact(out);
                }
                out.push(']');
            }
            Kind::Object => {
                out.push('{');
                for (position, (key, value)) in self.keyed_members().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    out.push_str(key.raw());
                    out.push(':');
                    value.write_compact(out);
                }
                out.push('}');
            }
        }
    }

    /// Claims that both are the same JSON value: numbers by value, members in any order, but in the
    /// same order where a key is repeated.
    pub fn same_value(self, other: Node<'_>) -> bool {
        if self.kind() != other.kind() || self.len() != other.len() {
            return false;
        }
        match self.kind() {
            Kind::Null => true,
            Kind::Boolean => self.raw() == other.raw(),
            Kind::String => self.as_str() == other.as_str(),
            Kind::Number => Number::new(self.raw()).compare(&Number::new(other.raw())).is_eq(),
            Kind::Array => {
                self.items().zip(other.items()).all(|(left, right)| left.same_value(right))
            }
            Kind::Object if self.holds_repeated() || other.holds_repeated() => {
                self.repeats_members(other)
            }
            Kind::Object => self.shares_members(other),
        }
    }

    /// Claims that `other` has every member of this object, with the same value.
    fn shares_members(self, other: Node<'_>) -> bool {
        self.members()
            .all(|(key, value)| other.member(key).is_some_and(|found| value.same_value(found)))
    }

    /// Claims that `other` has the same members in the same order.
    ///
    /// Of a key that is repeated, each member has to be compared; one by one that takes a single pass,
    /// each with each would take time that doubles at every level.
    fn repeats_members(self, other: Node<'_>) -> bool {
        self.members().zip(other.members()).all(|((key, value), (other_key, other_value))| {
            key == other_key && value.same_value(other_value)
        })
    }

    /// Claims that some object in this node has a key twice.
    fn holds_repeated(self) -> bool {
        let repeated = &self.document.duplicate_keys;
        let next = repeated.partition_point(|key| *key < self.index);
        repeated.get(next).is_some_and(|key| *key < self.slot().next)
    }
}
