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
    place: Place,
    likeness: Likeness,
    pub(super) violations: Violations,
}

/// What a value has of an answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Likeness {
    /// It is a block of JSON, and has none but members of an answer.
    Part,
    /// It is a block of JSON, and has a member of an answer beside others.
    Named,
    /// It is of this kind, and the contract names no members.
    Kin(Kind),
}

impl Likeness {
    /// Returns what `value` has of an answer, if it has anything.
    pub(super) fn of(contract: &Contract, value: &Document, place: Place) -> Option<Self> {
        let (names, root) = (contract.names(), value.root());
        if names.near.is_empty() {
            let is_container = matches!(root.kind(), Kind::Array | Kind::Object);
            let is_kin = is_container && !Shape::of_root(contract).requires_any();
            return is_kin.then_some(Self::Kin(root.kind()));
        }
        // Large answers hold many like the first.
        let first = root.items().find(|item| item.kind() == Kind::Object);
        let known = root.members().chain(first.into_iter().flat_map(Node::members));
        let known = known.map(|(key, _)| names.near.contains(&key.to_ascii_lowercase()));
        let (known, all) =
            known.fold((0, 0), |(known, all), is| (known + usize::from(is), all + 1));
        let likeness = if known == all { Self::Part } else { Self::Named };
        (known > 0 && place == Place::JsonBlock).then_some(likeness)
    }
}

impl Suspect {
    pub(super) fn new(
        start: usize,
        place: Place,
        likeness: Likeness,
        violations: Violations,
    ) -> Self {
        Self { start, place, likeness, violations }
    }

    /// Claims that this may be the answer in place of the only value that conforms.
    ///
    /// A block of JSON behind it is what all of it led to.
    pub(super) fn rivals(&self, only: &Conforming) -> bool {
        let leads = only.place == Place::JsonBlock && self.start < only.range.start;
        match self.likeness {
            Likeness::Part => true,
            Likeness::Named => !leads,
            Likeness::Kin(kind) => {
                kind == only.accepted.value.root().kind()
                    && !(leads && self.place == Place::Elsewhere)
            }
        }
    }
}
