//! Whether a value that breaks the contract may be the answer, and the one that conforms an example of it.
//!
//! What has all members of an answer is one wherever it stands ([`super::shape::resembles`]). What has
//! some, or cannot be told from an answer because the contract names none, counts by its place.

use super::shape::Shape;
use super::tally::Conforming;
use crate::contract::Contract;
use crate::json::{Document, Kind, Node};
use crate::recover::Place;
use crate::verdict::Violations;

/// A value that breaks the contract.
pub(super) struct Suspect {
    start: usize,
    stand: Stand,
    likeness: Likeness,
    pub(super) violations: Violations,
}

/// How a value stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// In a block of JSON, or at the start of a line.
    Apart,
    /// Amid the words of a sentence, or behind a label.
    Amid,
}

impl Stand {
    /// Returns how a value stands of which `before` is all that is said before it.
    pub(super) fn of(place: Place, before: &str) -> Self {
        let line = before.trim_end_matches([' ', '\t']);
        let leads = line.is_empty() || line.ends_with('\n');
        if place == Place::JsonBlock || leads { Self::Apart } else { Self::Amid }
    }
}

/// What a value has of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Likeness {
    /// It has a member of an answer.
    Member,
    /// It is of this kind, and the contract names no members.
    Kin(Kind),
}

impl Likeness {
    /// Returns what `value` has of an answer, if it has anything.
    pub(super) fn of(contract: &Contract, value: &Document, place: Place) -> Option<Self> {
        let (near, root) = (&contract.names().near, value.root());
        if near.is_empty() {
            let is_container = matches!(root.kind(), Kind::Array | Kind::Object);
            let is_kin = is_container && Shape::of_root(contract).required().next().is_none();
            return is_kin.then_some(Self::Kin(root.kind()));
        }
        // Large answers hold many like the first.
        let first = root.items().find(|item| item.kind() == Kind::Object);
        let mut names = root.members().chain(first.into_iter().flat_map(Node::members));
        let is_named = names.any(|(key, _)| near.contains(&key.to_ascii_lowercase()));
        (place == Place::JsonBlock && is_named).then_some(Self::Member)
    }
}

impl Suspect {
    pub(super) fn new(
        start: usize,
        stand: Stand,
        likeness: Likeness,
        violations: Violations,
    ) -> Self {
        Self { start, stand, likeness, violations }
    }

    /// Claims that this may be the answer in place of the only value that conforms.
    ///
    /// A value that stands apart is what all before it led to; one amid words may be an example of what stood
    /// apart before. Behind a block of JSON, what stands amid words is about something else.
    pub(super) fn rivals(&self, only: &Conforming, text: &str) -> bool {
        let before = text.get(..only.range.start).unwrap_or_default();
        let is_placed = if self.start < only.range.start {
            Stand::of(only.place, before) == Stand::Amid && self.stand == Stand::Apart
        } else {
            only.place != Place::JsonBlock || self.stand == Stand::Apart
        };
        let is_like = match self.likeness {
            Likeness::Member => true,
            Likeness::Kin(kind) => kind == only.accepted.value.root().kind(),
        };
        is_placed && is_like
    }
}
