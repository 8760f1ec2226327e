//! What differs at one pair of corresponding parts, taken apart into single changes.
//!
//! A part is a conjunction of keywords. What both sides say alike, whatever it is, cannot make a
//! difference; so each change is compared within a small schema that holds the plain keywords of the
//! old part, the keywords that changed, and stand-ins that decide nothing for the subschemas that
//! correspond: they are pairs of their own. One change is made after the other, so that what is proven
//! of each adds up to a proof for all.

mod annotations;
mod composites;
mod items;
mod members;
mod rules;
mod scalars;

use serde_json::{Map, Value, json};

use crate::Answer;
use crate::contract::{Holds, Keyword, Site, SiteId};
use crate::json::Pointer;

use super::pairs::{Pair, Tied, tie};
use super::parts::Parts;
use super::reading::{Child, Reading, UNEVALUATED};
use super::words::sentences;
use super::{ChangeKind, Side};

/// One change at a part, before anything is known of what it does.
#[derive(Debug)]
pub(super) struct Atom {
    pub(super) kind: ChangeKind,
    /// The keywords that a value breaks which the change affects; none if they may be any.
    pub(super) keywords: Vec<&'static str>,
    /// The member that it is about.
    pub(super) member: Option<String>,
    pub(super) pointer: Pointer,
    pub(super) side: Side,
    pub(super) sentence: String,
    pub(super) patch: Patch,
    pub(super) effect: Effect,
    /// The choice that it is about, if it is about one.
    pub(super) frame: Option<Frame>,
    /// Describes values that the change is likely to show in.
    pub(super) likely: Option<Value>,
}

/// What a change does to the small schema.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// Keywords with their new values; removed where there is none.
    pub(super) set: Vec<(&'static str, Option<Value>)>,
    /// One member of what a keyword holds, with its new value; removed where there is none.
    pub(super) entry: Option<(&'static str, String, Option<Value>)>,
    /// What applies beside the keywords, if that changes.
    pub(super) beside: Option<Vec<Value>>,
    /// All of it, if that is easier said.
    whole: Option<Mini>,
}

impl Patch {
    /// Gives keywords other values.
    fn set(set: Vec<(&'static str, Option<Value>)>) -> Self {
        Self { set, ..Self::default() }
    }

    /// Replaces what applies beside the keywords.
    fn beside(beside: Vec<Value>) -> Self {
        Self { beside: Some(beside), ..Self::default() }
    }
}

/// A choice before and after a change, in which the branches that correspond accept nothing.
///
/// A choice between them and others is wider as far as the others are, but only while everything else
/// stays as it is: so it is seen by no other change.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) before: Value,
    pub(super) after: Value,
}

/// How the effect of a change is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// By comparing the small schemas before and after it.
    Compared,
    /// It is known.
    Known {
        /// Whether everything that was accepted still is.
        kept: Answer,
        /// Whether everything that is accepted already was.
        within: Answer,
    },
}

impl Effect {
    pub(super) const NONE: Self = Self::Known { kept: Answer::Yes, within: Answer::Yes };
    pub(super) const UNKNOWN: Self = Self::Known { kept: Answer::Unknown, within: Answer::Unknown };

    /// Returns how the effect is found out, given what a comparison would say.
    fn given(soundness: Soundness) -> Self {
        match soundness {
            Soundness::Sound => Self::Compared,
            Soundness::Unsound => Self::UNKNOWN,
        }
    }
}

/// What a comparison of the small schemas says of the parts that they stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Soundness {
    /// What holds for them holds for the parts.
    Sound,
    /// Nothing: something in a part has no stand-in, or counts from outside.
    Unsound,
}

impl Soundness {
    fn is_sound(self) -> bool {
        self == Self::Sound
    }
}

/// A small schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Mini {
    pub(super) keywords: Map<String, Value>,
    /// What applies beside them.
    pub(super) beside: Vec<Value>,
}

impl Mini {
    /// Makes a change.
    pub(super) fn apply(&mut self, patch: &Patch) {
        if let Some(whole) = &patch.whole {
            self.clone_from(whole);
        }
        for (name, value) in &patch.set {
            match value {
                Some(value) => self.keywords.insert((*name).to_owned(), value.clone()),
                None => self.keywords.remove(*name),
            };
        }
        if let Some((name, key, value)) = &patch.entry {
            let held = self.keywords.entry((*name).to_owned()).or_insert_with(|| json!({}));
            if let Value::Object(members) = held {
                match value {
                    Some(value) => members.insert(key.clone(), value.clone()),
                    None => members.remove(key),
                };
            }
        }
        if let Some(beside) = &patch.beside {
            self.beside.clone_from(beside);
        }
    }

    /// Returns it as a schema with `choice`, without the parts that it refers to.
    pub(super) fn schema(&self, choice: Option<&Value>) -> Map<String, Value> {
        let mut schema = self.keywords.clone();
        schema.extend(choice.map(|choice| ("anyOf".to_owned(), choice.clone())));
        if !self.beside.is_empty() {
            schema.insert("allOf".to_owned(), Value::Array(self.beside.clone()));
        }
        schema
    }
}

/// A pair, and what differs there.
pub(super) struct Spot<'r, 'c> {
    old: &'r Reading<'c>,
    new: &'r Reading<'c>,
    pair: &'r Pair,
    tied: Tied<'c>,
    /// Keywords that see what others leave over make every other one count.
    sees_rest: bool,
    pub(super) parts: Parts,
    pub(super) before: Mini,
    pub(super) atoms: Vec<Atom>,
}

impl<'r, 'c> Spot<'r, 'c> {
    /// Finds out what differs.
    pub(super) fn of(old: &'r Reading<'c>, new: &'r Reading<'c>, pair: &'r Pair) -> Self {
        let sees_rest = UNEVALUATED.iter().any(|keyword| {
            old.keyword(pair.old, keyword).is_some() || new.keyword(pair.new, keyword).is_some()
        });
        let mut spot = Self {
            old,
            new,
            pair,
            tied: tie(old, new, pair),
            sees_rest,
            parts: Parts::new(new.contract.draft()),
            before: Mini { keywords: plain(old, pair), beside: Vec::new() },
            atoms: Vec::new(),
        };
        if is_literal(old, pair.old) || is_literal(new, pair.new) {
            spot.whole();
            return spot;
        }
        spot.scalars();
        spot.members();
        spot.items();
        spot.composites();
        spot.merge();
        spot.rules();
        spot.annotations();
        spot
    }

    /// Compares a part that is `true` or `false` as a whole.
    fn whole(&mut self) {
        let (Pair { old, new, .. }, literals) =
            (self.pair, [self.old.value(self.pair.old), self.new.value(self.pair.new)]);
        if literals[0] == literals[1] {
            return;
        }
        let held_by = self.new.subschemas.get(*new).and_then(Site::held_by);
        let sentence = match (held_by, literals) {
            (
                Some("additionalProperties" | "unevaluatedProperties"),
                [_, Some(Value::Bool(false))],
            ) => "members that are not declared are refused",
            (
                Some("additionalProperties" | "unevaluatedProperties"),
                [Some(Value::Bool(false)), _],
            ) => "members that are not declared are allowed",
            (_, [_, Some(Value::Bool(false))]) => "nothing is accepted here any more",
            (_, [_, Some(Value::Bool(true))]) => "everything is accepted here",
            (_, [Some(Value::Bool(false)), _]) => "something is accepted here",
            _ => "not everything is accepted here any more",
        };
        let mut soundness = Soundness::Sound;
        let before = vec![self.part(Side::Old, *old, &mut soundness)];
        self.before = Mini { keywords: Map::new(), beside: before };
        let patch = Patch::beside(vec![self.part(Side::New, *new, &mut soundness)]);
        self.atom(ChangeKind::Schema, &[], sentence.to_owned(), patch).effect =
            Effect::given(soundness);
    }

    /// Notes a change at this part, and returns it.
    fn atom(
        &mut self,
        kind: ChangeKind,
        keywords: &[&'static str],
        sentence: String,
        patch: Patch,
    ) -> &mut Atom {
        self.atoms.push(Atom {
            kind,
            keywords: keywords.to_vec(),
            member: None,
            pointer: self.new.pointer(self.pair.new),
            side: Side::New,
            sentence,
            patch,
            effect: Effect::Compared,
            frame: None,
            likely: None,
        });
        let last = self.atoms.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was put there two lines above")]
        &mut self.atoms[last]
    }

    /// Returns what a comparison says as long as every part has a stand-in.
    fn soundness(&self) -> Soundness {
        if self.sees_rest { Soundness::Unsound } else { Soundness::Sound }
    }

    /// Returns what stands for a part; if nothing can, the comparison is not sound any more.
    fn part(&mut self, side: Side, id: SiteId, soundness: &mut Soundness) -> Value {
        let reading = match side {
            Side::Old => self.old,
            Side::New => self.new,
        };
        let part = self.parts.add(reading, side, id);
        if part.is_none() {
            *soundness = Soundness::Unsound;
        }
        part.unwrap_or(Value::Bool(false))
    }

    /// Returns both values of a keyword.
    fn both(&self, keyword: &str) -> [Option<&'c Value>; 2] {
        [self.old.keyword(self.pair.old, keyword), self.new.keyword(self.pair.new, keyword)]
    }

    /// Claims that a subschema of one of `keywords` is there on one side alone.
    fn is_reshaped(&self, keywords: &[&str]) -> bool {
        let concerns = |child: &Child<'_>| keywords.contains(&child.keyword);
        self.tied.removed.iter().any(concerns) || self.tied.added.iter().any(concerns)
    }

    /// Makes one change of all that take a whole condition apart, since none of them means much alone.
    fn merge(&mut self) {
        let is_complex = |atom: &Atom| atom.kind == ChangeKind::Condition;
        // What is known of a change without a comparison says nothing of the others.
        let is_known = |atom: &Atom| !matches!(atom.effect, Effect::Compared | Effect::UNKNOWN);
        let (apart, mut atoms): (Vec<Atom>, Vec<Atom>) = std::mem::take(&mut self.atoms)
            .into_iter()
            .partition(|atom| atom.frame.is_some() || is_known(atom));
        if atoms.len() > 1 && atoms.iter().any(is_complex) {
            atoms = vec![self.merged(&atoms)];
        }
        self.atoms = atoms.into_iter().chain(apart).collect();
    }

    fn merged(&self, atoms: &[Atom]) -> Atom {
        let mut merged = Atom {
            kind: ChangeKind::Condition,
            keywords: Vec::new(),
            member: None,
            pointer: self.new.pointer(self.pair.new),
            side: Side::New,
            sentence: String::new(),
            patch: Patch::default(),
            effect: Effect::Compared,
            frame: None,
            likely: None,
        };
        let mut after = self.before.clone();
        for atom in atoms {
            after.apply(&atom.patch);
            if atom.effect != Effect::Compared {
                merged.effect = Effect::UNKNOWN;
            }
        }
        merged.patch.whole = Some(after);
        merged.sentence = sentences(atoms.iter().map(|atom| atom.sentence.as_str()));
        merged
    }
}

fn is_literal(reading: &Reading<'_>, id: SiteId) -> bool {
    reading.value(id).is_some_and(Value::is_boolean)
}

/// Returns the keywords of the old part that hold no schemas.
fn plain(old: &Reading<'_>, pair: &Pair) -> Map<String, Value> {
    let is_plain = |name: &str| {
        let is_data = Keyword::named(name).is_some_and(|keyword| keyword.holds == Holds::Data);
        is_data && old.is_constraint(name) && !NOT_PLAIN.contains(&name)
    };
    let keywords = old.keywords(pair.old).into_iter().filter(|(name, _)| is_plain(name));
    keywords.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// Keywords without schemas that mean nothing without others.
const NOT_PLAIN: [&str; 5] = ["$ref", "$dynamicRef", "$recursiveRef", "minContains", "maxContains"];
