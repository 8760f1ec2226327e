//! Shapes: what the adapted schema says about places, as far as reading an answer back needs it.

use std::collections::{BTreeMap, HashSet};

use crate::json::{Kind, Node, Pointer};

/// A shape's number.
pub(super) type ShapeId = usize;

/// How many pairs of shapes the search for ambiguous nulls may visit.
const PAIR_LIMIT: usize = 1_000_000;

/// What may stand at one place of an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// An object's members, where objects may stand.
    pub(super) members: Option<BTreeMap<String, Member>>,
    /// An array's items.
    pub(super) items: Option<ShapeId>,
    /// Any of these instead.
    pub(super) branches: Vec<ShapeId>,
    /// The value travels as JSON text.
    pub(super) is_text: bool,
}

/// One declared member.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) shape: ShapeId,
    pub(super) presence: Presence,
    /// Where the contract declares it.
    pub(super) pointer: Pointer,
    /// The strings that it must be one of, if it must.
    pub(super) tags: Vec<String>,
}

/// How a member is, or is not, there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It always is.
    Required,
    /// It always is, and `null` may be what the contract means.
    RequiredOrNull,
    /// It may be left out.
    Optional,
    /// It may be left out, and `null` may be what the contract means.
    OptionalOrNull,
    /// It always is, and `null` says that it is absent.
    NullIfAbsent,
}

impl Presence {
    fn must_be_there(self) -> bool {
        !matches!(self, Self::Optional | Self::OptionalOrNull)
    }

    pub(super) fn means_null(self) -> bool {
        matches!(self, Self::RequiredOrNull | Self::OptionalOrNull)
    }
}

/// All shapes of one adapted schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Shapes(Vec<Shape>);

impl Shapes {
    pub(super) fn add(&mut self, shape: Shape) -> ShapeId {
        self.0.push(shape);
        self.0.len() - 1
    }

    pub(super) fn set(&mut self, id: ShapeId, shape: Shape) {
        if let Some(place) = self.0.get_mut(id) {
            *place = shape;
        }
    }

    pub(super) fn at(&self, id: ShapeId) -> Option<&Shape> {
        self.0.get(id)
    }

    /// Claims that no answer needs to be changed.
    pub(super) fn are_plain(&self) -> bool {
        !self.carry_text() && !self.read_nulls()
    }

    /// Claims that some value travels as JSON text.
    pub(super) fn carry_text(&self) -> bool {
        self.0.iter().any(|shape| shape.is_text)
    }

    /// Claims that some `null` says that a member is absent.
    pub(super) fn read_nulls(&self) -> bool {
        let members = self.0.iter().flat_map(|shape| &shape.members).flat_map(BTreeMap::values);
        members.into_iter().any(|member| member.presence == Presence::NullIfAbsent)
    }

    /// Returns the shapes and all their branches, none of them twice.
    pub(super) fn closure(&self, from: impl IntoIterator<Item = ShapeId>) -> Vec<ShapeId> {
        let mut unread: Vec<ShapeId> = from.into_iter().collect();
        let mut seen = HashSet::new();
        let mut closed = Vec::new();
        while let Some(id) = unread.pop() {
            if seen.insert(id) {
                closed.push(id);
                unread.extend(self.at(id).into_iter().flat_map(|shape| &shape.branches));
            }
        }
        closed
    }

    /// Returns the members whose `null` would mean absence here but `null` in another branch.
    ///
    /// Nothing is returned if there are too many branches to tell.
    pub(super) fn ambiguous_nulls(&self, root: ShapeId) -> Option<Vec<Pointer>> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut compared = HashSet::new();
        let mut steps = 0;
        let mut unread = vec![(root, root)];
        while let Some((left, right)) = unread.pop() {
            if !seen.insert((left, right)) {
                continue;
            }
            let pairs = self
                .closure([left])
                .into_iter()
                .flat_map(|left| self.closure([right]).into_iter().map(move |right| (left, right)));
            for pair in pairs {
                steps += 1;
                if steps > PAIR_LIMIT {
                    return None;
                }
                if let (true, Some(left), Some(right)) =
                    (compared.insert(pair), self.at(pair.0), self.at(pair.1))
                {
                    unread.extend(left.items.zip(right.items));
                    compare(left, right, &mut unread, &mut found);
                }
            }
        }
        Some(found)
    }
}

fn compare(
    left: &Shape,
    right: &Shape,
    unread: &mut Vec<(ShapeId, ShapeId)>,
    found: &mut Vec<Pointer>,
) {
    let (Some(left), Some(right)) = (&left.members, &right.members) else {
        return;
    };
    let lacks = |one: &BTreeMap<String, Member>, other: &BTreeMap<String, Member>| {
        one.iter().any(|(key, member)| member.presence.must_be_there() && !other.contains_key(key))
    };
    if lacks(left, right) || lacks(right, left) {
        return;
    }
    let shared = || left.iter().filter_map(|(key, member)| Some((member, right.get(key)?)));
    let told_apart = |(one, other): (&Member, &Member)| {
        !one.tags.is_empty()
            && !other.tags.is_empty()
            && !one.tags.iter().any(|tag| other.tags.contains(tag))
            && (one.presence != Presence::NullIfAbsent || other.presence != Presence::NullIfAbsent)
    };
    if shared().any(told_apart) {
        return;
    }
    for (one, other) in shared() {
        unread.push((one.shape, other.shape));
        if one.presence == Presence::NullIfAbsent && other.presence.means_null() {
            found.push(one.pointer.clone());
        }
        if other.presence == Presence::NullIfAbsent && one.presence.means_null() {
            found.push(other.pointer.clone());
        }
    }
}

impl Shape {
    /// Claims that the object could be meant by this shape, by its keys and tags alone.
    pub(super) fn fits(&self, object: Node<'_>) -> bool {
        let Some(members) = &self.members else {
            return false;
        };
        let given_are_declared = object.members().all(|(key, value)| {
            members.get(key).is_some_and(|member| {
                let text = value.as_str();
                member.tags.is_empty()
                    || member.tags.iter().any(|tag| Some(tag.as_str()) == text)
                    || (value.kind() == Kind::Null && member.presence == Presence::NullIfAbsent)
            })
        });
        given_are_declared
            && members.iter().all(|(key, member)| {
                !member.presence.must_be_there() || object.member(key).is_some()
            })
    }
}
