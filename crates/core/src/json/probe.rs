//! Lets `jsonschema` read a [`Document`] in place, at the cost of a [`Meter`].
//!
//! [`Document`]: super::Document

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, NodeIdentity, Object};
use jsonschema_value::LazyInstance;
use serde_json::Value;

use super::document::{Items, Kind, Members, Node};
use super::meter::{Meter, stop};
use super::number::Number;
use super::unique::first_repeated;
use crate::contract::Source;

/// The representation of instances as tapes.
pub(crate) enum Tape {}

/// Stands for the value in errors, which know it by its pointer.
static NOT_KEPT: Value = Value::Null;

/// The same in errors reported when the meter was low, which may be wrong.
static NOT_TRUSTED: Value = Value::Bool(false);

/// Claims that `instance` belongs to an error that was found on a low meter.
pub(crate) fn is_untrusted(instance: &Value) -> bool {
    *instance == NOT_TRUSTED
}

/// What the validator holds: a node of a document, or a property name on its own.
#[derive(Clone, Copy)]
pub(crate) enum Probe<'d> {
    Node(Node<'d>, &'d Meter),
    Name(&'d str, &'d Meter),
}

/// A property name while it is judged by itself, with what that may cost.
pub(crate) struct NameBuffer {
    name: String,
    meter: Meter,
}

/// How much work the names of one object may be.
const NAME_WORK_LIMIT: u64 = 1_000_000;

impl Default for NameBuffer {
    fn default() -> Self {
        Self { name: String::new(), meter: Meter::strict(NAME_WORK_LIMIT) }
    }
}

impl Json for Tape {
    type Node<'d> = Probe<'d>;
    type PreparedKey = Box<str>;
    type StringBuffer = NameBuffer;

    // Small objects are scanned anyway, so one pass over the members beats many lookups.
    const KEYS_PER_LOOKUP: usize = 16;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut NameBuffer,
        string: &str,
        f: impl FnOnce(Probe<'_>) -> T,
    ) -> T {
        buffer.name.clear();
        buffer.name.push_str(string);
        f(Probe::Name(&buffer.name, &buffer.meter))
    }
}

impl<'d> Probe<'d> {
    /// Returns the text that grounded strings are quoted from.
    pub(crate) fn source(&self) -> Option<&'d Source> {
        self.meter().source()
    }

    /// Returns what reading this costs from.
    pub(crate) fn meter(&self) -> &'d Meter {
        match self {
            Self::Node(_, meter) | Self::Name(_, meter) => meter,
        }
    }

    /// Returns what pointers are looked up in, if this is the root of such a validation.
    fn searched(&self) -> Option<Value> {
        let Self::Node(node, meter) = self else {
            return None;
        };
        let document = node.document();
        if !meter.is_backtracking() || node.id() != document.root().id() || node.is_empty() {
            return None;
        }
        // Of two members with one name a copy has only one, so a pointer may lead nowhere.
        if meter.is_low() || document.has_duplicates() {
            stop();
        }
        meter.spend_copy(document.node_count());
        Some(node.to_value())
    }

    fn node(&self, kind: Kind) -> Option<Node<'d>> {
        match self {
            Self::Node(node, _) if node.kind() == kind => Some(*node),
            Self::Node(..) | Self::Name(..) => None,
        }
    }

    fn container(&self, kind: Kind) -> Option<Children<'d>> {
        let Self::Node(node, meter) = self else {
            return None;
        };
        if node.kind() != kind {
            return None;
        }
        meter.spend();
        (!meter.is_low()).then_some(Children { node: *node, meter })
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
            Self::Name(name, _) => Some(Cow::Borrowed(name)),
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

    fn is_number(&self) -> bool {
        self.node(Kind::Number).is_some()
    }

    fn json_type(&self) -> JsonType {
        match self {
            Self::Name(..) => JsonType::String,
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
            Self::Name(name, _) => expected.as_str() == Some(name),
            Self::Node(node, _) => equals(*node, expected),
        }
    }

    /// Used for error texts alone, which are ours: see [`Self::lazy_value`].
    fn to_value(&self) -> Cow<'d, Value> {
        let id = match self {
            Self::Node(node, _) => Some(node.id()),
            Self::Name(..) => None,
        };
        self.meter().spend_error(id);
        Cow::Borrowed(if self.meter().is_low() { &NOT_TRUSTED } else { &NOT_KEPT })
    }

    /// Keeps no value: a copy for each error is quadratic, and the document has it anyway.
    ///
    /// Only of a match that was given up on does `jsonschema` know the pointer alone, and demands
    /// to find it in the root.
    fn lazy_value(&self) -> LazyInstance<'d> {
        LazyInstance::Ready(match self.searched() {
            Some(root) => Cow::Owned(root),
            None => self.to_value(),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match self {
            Self::Node(node, _) => {
                Some(NodeIdentity::tagged(std::ptr::from_ref(node.document()).addr(), node.id()))
            }
            Self::Name(..) => None,
        }
    }

    /// Scalars are remembered like containers: a node's place on the tape is its own for good.
    fn container_identity(&self) -> Option<NodeIdentity> {
        self.identity()
    }
}

fn equals(node: Node<'_>, expected: &Value) -> bool {
    match expected {
        Value::Null => node.is_null(),
        Value::Bool(boolean) => node.as_boolean() == Some(*boolean),
        Value::String(string) => node.as_str() == Some(string),
        Value::Number(number) => node.as_number().is_some_and(|ours| ours.equals(number)),
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

/// An object's members under the validator's eyes.
pub(crate) struct ProbedMembers<'d> {
    members: Members<'d>,
    meter: &'d Meter,
}

impl<'d> Iterator for ProbedMembers<'d> {
    type Item = (&'d str, Probe<'d>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.meter.is_low() {
            return None;
        }
        let (key, node) = self.members.next()?;
        Some((key, Probe::Node(node, self.meter)))
    }
}

/// An array's items under the validator's eyes.
pub(crate) struct ProbedItems<'d> {
    items: Items<'d>,
    meter: &'d Meter,
}

impl<'d> Iterator for ProbedItems<'d> {
    type Item = Probe<'d>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.meter.is_low() {
            return None;
        }
        Some(Probe::Node(self.items.next()?, self.meter))
    }
}

impl<'d> Object<'d, Tape> for Children<'d> {
    type Node = Probe<'d>;
    type MemberName = &'d str;
    type MembersIter = ProbedMembers<'d>;

    fn len(&self) -> usize {
        self.node.len()
    }

    fn get(&self, key: &Box<str>) -> Option<Probe<'d>> {
        self.node.member(key).map(|node| Probe::Node(node, self.meter))
    }

    fn members(&self) -> ProbedMembers<'d> {
        ProbedMembers { members: self.node.members(), meter: self.meter }
    }
}

impl<'d> Array<'d, Tape> for Children<'d> {
    type Node = Probe<'d>;
    type ElementsIter = ProbedItems<'d>;

    fn len(&self) -> usize {
        self.node.len()
    }

    fn elements(&self) -> ProbedItems<'d> {
        ProbedItems { items: self.node.items(), meter: self.meter }
    }

    fn is_unique(&self) -> bool {
        first_repeated(self.node).is_none()
    }
}
