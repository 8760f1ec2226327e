//! Lets `jsonschema` read a [`Document`] in place, and stops it when it works too much.
//!
//! Recursive contracts with branches can make any validator explore exponentially many pairs of
//! schema and value. Each step into a container costs one unit of the [`Meter`]; once it is empty,
//! containers look like `null`, so the validator finds nothing to descend into and ends. Whoever
//! started it must ask [`Meter::is_empty`] and discard the answer.

use std::borrow::Cow;
use std::cell::Cell;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, NodeIdentity, Object};
use jsonschema_value::LazyInstance;
use serde_json::Value;

use super::document::{Document, Kind, Node};
use super::number::Number;
use crate::contract::Source;

/// The representation of instances as tapes.
pub(crate) enum Tape {}

/// How much work one validation may still do, and the text that it may consult.
#[derive(Debug)]
pub(crate) struct Meter {
    left: Cell<u64>,
    source: Option<Source>,
}

impl Meter {
    pub(crate) fn new(units: u64) -> Self {
        Self { left: Cell::new(units), source: None }
    }

    /// Adds the text that grounded strings are quoted from.
    pub(crate) fn with_source(mut self, source: Option<&Source>) -> Self {
        self.source = source.cloned();
        self
    }

    /// Takes one unit; claims that there was one.
    pub(crate) fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.get() == 0
    }
}

/// What the validator holds: a node of a document, or a property name on its own.
#[derive(Clone, Copy)]
pub(crate) enum Probe<'d> {
    Node(Node<'d>, &'d Meter),
    Name(&'d str),
}

impl Json for Tape {
    type Node<'d> = Probe<'d>;
    type PreparedKey = Box<str>;
    type StringBuffer = String;

    // Small objects are scanned anyway, so one pass over the members beats many lookups.
    const KEYS_PER_LOOKUP: usize = 16;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut String, string: &str, f: impl FnOnce(Probe<'_>) -> T) -> T {
        buffer.clear();
        buffer.push_str(string);
        f(Probe::Name(buffer))
    }
}

/// What a name alone may cost a rule; it has no meter.
const NAME_UNITS: u64 = 100_000;

impl<'d> Probe<'d> {
    /// Returns how many units a keyword of ours may spend.
    pub(crate) fn allowance(&self) -> u64 {
        match self {
            Self::Node(_, meter) => meter.left.get(),
            Self::Name(_) => NAME_UNITS,
        }
    }

    /// Leaves `left` units for what follows.
    pub(crate) fn settle(&self, left: u64) {
        if let Self::Node(_, meter) = self {
            meter.left.set(left.min(meter.left.get()));
        }
    }

    /// Returns the text that grounded strings are quoted from.
    pub(crate) fn source(&self) -> Option<&'d Source> {
        match self {
            Self::Node(_, meter) => meter.source.as_ref(),
            Self::Name(_) => None,
        }
    }

    fn node(&self, kind: Kind) -> Option<Node<'d>> {
        match self {
            Self::Node(node, _) if node.kind() == kind => Some(*node),
            Self::Node(..) | Self::Name(_) => None,
        }
    }

    fn container(&self, kind: Kind) -> Option<Children<'d>> {
        match self {
            Self::Node(node, meter) if node.kind() == kind && meter.spend() => {
                Some(Children { node: *node, meter })
            }
            Self::Node(..) | Self::Name(_) => None,
        }
    }
}

impl<'d> jsonschema::json::Node<'d, Tape> for Probe<'d> {
    type Object = Children<'d>;
    type Array = Children<'d>;
    type Number = Number<'d>;

    fn as_object(&self) -> Option<Children<'d>> {
        self.container(Kind::Object)
    }

    fn as_array(&self) -> Option<Children<'d>> {
        self.container(Kind::Array)
    }

    fn as_string(&self) -> Option<Cow<'d, str>> {
        match self {
            Self::Node(node, _) => node.as_str().map(Cow::Borrowed),
            Self::Name(name) => Some(Cow::Borrowed(name)),
        }
    }

    fn as_number(&self) -> Option<Number<'d>> {
        self.node(Kind::Number)?.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.node(Kind::Boolean)?.as_boolean()
    }

    fn is_null(&self) -> bool {
        self.node(Kind::Null).is_some()
    }

    fn json_type(&self) -> JsonType {
        match self {
            Self::Name(_) => JsonType::String,
            Self::Node(node, _) => match node.kind() {
                Kind::Null => JsonType::Null,
                Kind::Boolean => JsonType::Boolean,
                Kind::Number => JsonType::Number,
                Kind::String => JsonType::String,
                Kind::Array => JsonType::Array,
                Kind::Object => JsonType::Object,
            },
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match self {
            Self::Name(name) => expected.as_str() == Some(name),
            Self::Node(node, _) => equals(*node, expected),
        }
    }

    fn to_value(&self) -> Cow<'d, Value> {
        Cow::Owned(match self {
            Self::Node(node, _) => node.to_value(),
            Self::Name(name) => Value::String((*name).to_owned()),
        })
    }

    fn lazy_value(&self) -> LazyInstance<'d> {
        match self {
            Self::Name(_) => LazyInstance::Ready(self.to_value()),
            Self::Node(node, _) => LazyInstance::Deferred {
                bytes: node.raw().as_bytes(),
                tag: 0,
                make: read_again,
                cell: std::sync::OnceLock::new(),
            },
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match self {
            Self::Node(node, _) => {
                Some(NodeIdentity::tagged(std::ptr::from_ref(node.document()).addr(), node.id()))
            }
            Self::Name(_) => None,
        }
    }

    /// Scalars are remembered like containers: a node's place on the tape is its own for good.
    fn container_identity(&self) -> Option<NodeIdentity> {
        self.identity()
    }
}

/// Parses the text of a node that was part of a valid document.
fn read_again(bytes: &[u8], _tag: u32) -> Value {
    let text = String::from_utf8_lossy(bytes).into_owned();
    Document::parse(text).map_or(Value::Null, |document| document.to_value())
}

fn equals(node: Node<'_>, expected: &Value) -> bool {
    match expected {
        Value::Null => node.is_null(),
        Value::Bool(boolean) => node.as_boolean() == Some(*boolean),
        Value::String(string) => node.as_str() == Some(string),
        Value::Number(number) => node
            .as_number()
            .is_some_and(|ours| ours.compare(&Number::new(&number.to_string())).is_eq()),
        Value::Array(items) => {
            node.kind() == Kind::Array
                && node.len() == items.len()
                && node.items().zip(items).all(|(ours, theirs)| equals(ours, theirs))
        }
        Value::Object(members) => {
            node.kind() == Kind::Object
                && node.len() == members.len()
                && node
                    .members()
                    .all(|(key, ours)| members.get(key).is_some_and(|theirs| equals(ours, theirs)))
        }
    }
}

/// The inside of an array or object.
pub(crate) struct Children<'d> {
    node: Node<'d>,
    meter: &'d Meter,
}

impl<'d> Object<'d, Tape> for Children<'d> {
    type Node = Probe<'d>;
    type MemberName = &'d str;
    type MembersIter = Box<dyn Iterator<Item = (&'d str, Probe<'d>)> + 'd>;

    fn len(&self) -> usize {
        self.node.len()
    }

    fn get(&self, key: &Box<str>) -> Option<Probe<'d>> {
        self.node.member(key).map(|node| Probe::Node(node, self.meter))
    }

    fn members(&self) -> Self::MembersIter {
        let meter = self.meter;
        Box::new(self.node.members().map(move |(key, node)| (key, Probe::Node(node, meter))))
    }
}

impl<'d> Array<'d, Tape> for Children<'d> {
    type Node = Probe<'d>;
    type ElementsIter = Box<dyn Iterator<Item = Probe<'d>> + 'd>;

    fn len(&self) -> usize {
        self.node.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        let meter = self.meter;
        Box::new(self.node.items().map(move |node| Probe::Node(node, meter)))
    }
}
