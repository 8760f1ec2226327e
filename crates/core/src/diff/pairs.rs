//! Which parts of the two schemas correspond, and how a change in each reaches the whole.
//!
//! Both schemas are walked at the same time: members by their names, items by their places, branches
//! by what they say. References are followed on both sides, so that moving a part to `$defs` changes
//! nothing. A part under `not` works the other way round, one under `oneOf` or `if` both ways.

use std::collections::{HashMap, VecDeque};

use crate::contract::{Judges, SiteId, Slot};

use super::branches;
use super::reading::{Child, Reading, UNEVALUATED};

/// How many pairs are looked at: twice what the largest contracts have.
const PAIR_LIMIT: usize = 40_000;

/// What becomes of the whole if a part accepts more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Polarity {
    /// It accepts more.
    pub(super) follows: bool,
    /// It accepts less.
    pub(super) opposes: bool,
    /// Nothing can be said.
    pub(super) is_opaque: bool,
}

impl Polarity {
    pub(super) const FOLLOWS: Self = Self { follows: true, opposes: false, is_opaque: false };
    pub(super) const OPAQUE: Self = Self { follows: true, opposes: true, is_opaque: true };

    fn and(self, other: Self) -> Self {
        Self {
            follows: self.follows || other.follows,
            opposes: self.opposes || other.opposes,
            is_opaque: self.is_opaque || other.is_opaque,
        }
    }

    fn inverted(self) -> Self {
        Self { follows: self.opposes, opposes: self.follows, ..self }
    }
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hop {
    /// To the value itself.
    Here,
    /// To a member.
    Key(String),
    /// To an item.
    Item(usize),
    /// To a member whose name this pattern matches.
    Matching(String),
    /// To a member that is not named.
    Other,
    /// To the names of members, which are no values.
    Name,
}

/// Two parts that correspond.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) old: SiteId,
    pub(super) new: SiteId,
    pub(super) polarity: Polarity,
    /// The pair that led here first, and the step from its value.
    from: Option<(usize, Hop)>,
}

/// All parts that correspond.
pub(super) struct Pairs {
    pub(super) list: Vec<Pair>,
    /// Whether there are more than are looked at.
    pub(super) is_partial: bool,
}

/// The subschemas of two sites, those that correspond together.
pub(super) struct Tied<'c> {
    pub(super) both: Vec<(Child<'c>, Child<'c>)>,
    pub(super) removed: Vec<Child<'c>>,
    pub(super) added: Vec<Child<'c>>,
}

impl Pairs {
    /// Walks both schemas.
    pub(super) fn of(old: &Reading<'_>, new: &Reading<'_>, root: Polarity) -> Self {
        let mut walk = Walk { old, new, pairs: Vec::new(), index: HashMap::new() };
        let mut waiting = VecDeque::from([(0, 0, root, None)]);
        let mut is_partial = false;
        while let Some((left, right, polarity, from)) = waiting.pop_front() {
            let Some(position) = walk.visit((left, right), polarity, from) else { continue };
            if walk.pairs.len() > PAIR_LIMIT {
                is_partial = true;
                break;
            }
            waiting.extend(walk.next(position));
        }
        Self { list: walk.pairs, is_partial }
    }

    /// Returns the steps from the whole value to the one that `pair` judges.
    pub(super) fn way(&self, pair: &Pair) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut at = pair.from.as_ref();
        while let Some((position, hop)) = at {
            hops.push(hop.clone());
            at = self.list.get(*position).and_then(|pair| pair.from.as_ref());
        }
        hops.reverse();
        hops
    }
}

type Waiting = (SiteId, SiteId, Polarity, Option<(usize, Hop)>);

struct Walk<'w, 'c> {
    old: &'w Reading<'c>,
    new: &'w Reading<'c>,
    pairs: Vec<Pair>,
    index: HashMap<(SiteId, SiteId), usize>,
}

impl Walk<'_, '_> {
    /// Notes a pair; returns its position if that tells anything new.
    fn visit(
        &mut self,
        (old, new): (SiteId, SiteId),
        polarity: Polarity,
        from: Option<(usize, Hop)>,
    ) -> Option<usize> {
        let (old, new) = (self.old.followed(old), self.new.followed(new));
        let position = *self.index.entry((old, new)).or_insert(self.pairs.len());
        let Some(known) = self.pairs.get_mut(position) else {
            self.pairs.push(Pair { old, new, polarity, from });
            return Some(position);
        };
        let joined = known.polarity.and(polarity);
        if joined == known.polarity {
            return None;
        }
        known.polarity = joined;
        Some(position)
    }

    fn next(&self, position: usize) -> Vec<Waiting> {
        let Some(pair) = self.pairs.get(position) else { return Vec::new() };
        let sees_rest = |reading: &Reading<'_>, id| {
            UNEVALUATED.iter().any(|keyword| reading.keyword(id, keyword).is_some())
        };
        let sees_rest = sees_rest(self.old, pair.old) || sees_rest(self.new, pair.new);
        let counts = |reading: &Reading<'_>, id| reading.keyword(id, "maxContains").is_some();
        let counts = counts(self.old, pair.old) || counts(self.new, pair.new);
        let mut next = Vec::new();
        for (left, right) in tie(self.old, self.new, pair).both {
            let mut polarity = match left.keyword {
                "not" => pair.polarity.inverted(),
                "oneOf" | "if" => pair.polarity.and(pair.polarity.inverted()),
                "contains" if counts => pair.polarity.and(pair.polarity.inverted()),
                _ => pair.polarity,
            };
            let stays = |reading: &Reading<'_>, id| {
                reading.subschemas.get(id).is_some_and(|it| it.judges() == Judges::SameValue)
            };
            if sees_rest && stays(self.new, right.id) {
                polarity = polarity.and(Polarity::OPAQUE);
            }
            let hop = hop(self.new, pair.new, right);
            next.push((left.id, right.id, polarity, Some((position, hop))));
        }
        if let (Some(left), Some(right)) = (self.old.target(pair.old), self.new.target(pair.new)) {
            let opaque = if sees_rest { Polarity::OPAQUE } else { Polarity::default() };
            next.push((left, right, pair.polarity.and(opaque), Some((position, Hop::Here))));
        }
        next
    }
}

/// Returns the step from the value that `parent` judges to the one that `child` does.
fn hop(reading: &Reading<'_>, parent: SiteId, child: Child<'_>) -> Hop {
    let fixed = || {
        let list = reading.keyword(parent, "prefixItems").or(reading.keyword(parent, "items"));
        list.and_then(serde_json::Value::as_array).map_or(0, Vec::len)
    };
    match (child.keyword, child.slot) {
        ("properties", Slot::Named(name)) => Hop::Key(name.to_owned()),
        ("patternProperties", Slot::Named(pattern)) => Hop::Matching(pattern.to_owned()),
        ("additionalProperties" | "unevaluatedProperties", _) => Hop::Other,
        ("propertyNames", _) => Hop::Name,
        ("prefixItems" | "items", Slot::At(index)) => Hop::Item(index),
        ("items" | "additionalItems" | "unevaluatedItems" | "contains", _) => Hop::Item(fixed()),
        _ => Hop::Here,
    }
}

/// Finds out which subschemas of a pair correspond.
pub(super) fn tie<'c>(old: &Reading<'c>, new: &Reading<'c>, pair: &Pair) -> Tied<'c> {
    let (mut before, mut after) = (old.children(pair.old), new.children(pair.new));
    let mut tied = Tied { both: Vec::new(), removed: Vec::new(), added: Vec::new() };
    for keyword in branches::KEYWORDS {
        let take = |all: &mut Vec<Child<'c>>| -> Vec<Child<'c>> {
            all.extract_if(.., |child| child.keyword == keyword).collect()
        };
        let (left, right) = (take(&mut before), take(&mut after));
        branches::tie((old, left), (new, right), &mut tied);
    }
    let mut by_slot: HashMap<(&str, Slot<'c>), Child<'c>> =
        after.iter().map(|child| ((child.keyword, child.slot), *child)).collect();
    for child in before {
        match by_slot.remove(&(child.keyword, child.slot)) {
            Some(other) => tied.both.push((child, other)),
            None => tied.removed.push(child),
        }
    }
    let is_left = |child: &Child<'c>| by_slot.contains_key(&(child.keyword, child.slot));
    tied.added.extend(after.iter().filter(|child| is_left(child)).copied());
    tied
}
