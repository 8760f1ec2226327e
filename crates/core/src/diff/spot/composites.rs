//! Choices, conditions and references: schemas beside or inside of others for the same value.

use serde_json::Value;

use crate::contract::{SiteId, Slot};
use crate::diff::reading::Child;
use crate::diff::words::{Fate, fate, name};
use crate::diff::{ChangeKind, Side};

use super::scalars::differ;
use super::{Effect, Frame, Patch, Soundness, Spot};

/// How many branches that came or went are changes of their own; more are one.
const SINGLE_LIMIT: usize = 64;

/// Keywords whose schemas only mean something together.
const TOGETHER: [&[&str]; 5] = [
    &["not"],
    &["if", "then", "else"],
    &["dependencies"],
    &["propertyNames"],
    &["unevaluatedItems", "unevaluatedProperties"],
];

impl<'c> Spot<'_, 'c> {
    pub(super) fn composites(&mut self) {
        self.beside();
        self.choice();
        if self.is_reshaped(&["oneOf"]) {
            self.reshaped(ChangeKind::Condition, &["oneOf"]);
        }
        self.dependents();
        for keywords in TOGETHER {
            let is_list = keywords == ["dependencies"] && self.lists_differ();
            if self.is_reshaped(keywords) || is_list {
                self.reshaped(ChangeKind::Condition, keywords);
            }
        }
    }

    /// Claims that `dependencies` lists other names.
    fn lists_differ(&self) -> bool {
        let lists = |value: Option<&Value>| {
            let all = value.and_then(Value::as_object).into_iter().flatten();
            let lists = all.filter(|(_, it)| it.is_array());
            Value::Object(lists.map(|(key, it)| (key.clone(), it.clone())).collect())
        };
        let [old, new] = self.both("dependencies").map(lists);
        differ([Some(&old), Some(&new)])
    }

    fn children_of(&self, keyword: &str) -> [Vec<Child<'c>>; 2] {
        let of = |children: &[Child<'c>]| {
            children.iter().filter(|child| child.keyword == keyword).copied().collect()
        };
        [of(&self.tied.removed), of(&self.tied.added)]
    }

    /// Compares what stands beside the keywords: the branches of `allOf`, and where `$ref` leads.
    fn beside(&mut self) {
        let [removed, added] = self.children_of("allOf");
        let targets = [self.old.target(self.pair.old), self.new.target(self.pair.new)];
        let references = self.both("$ref");
        // A reference whose target is not at hand says all it says by its text.
        let is_lost =
            targets.iter().zip(references).any(|(it, text)| it.is_none() && text.is_some());
        if is_lost && differ(references) {
            let sentence = "`$ref` changes".to_owned();
            self.atom(ChangeKind::Condition, &[], sentence, Patch::default()).effect =
                Effect::UNKNOWN;
            return;
        }
        let [referred, refers] = match targets {
            [Some(_), Some(_)] => [None, None],
            targets => targets,
        };
        let gone: Vec<_> = removed.iter().map(|child| child.id).chain(referred).collect();
        let fresh: Vec<_> = added.iter().map(|child| child.id).chain(refers).collect();
        let mut soundness = self.soundness();
        let before = self.parts_of(Side::Old, &gone, &mut soundness);
        let after = self.parts_of(Side::New, &fresh, &mut soundness);
        if soundness.is_sound() {
            self.before.beside.clone_from(&before);
        }
        let subject = "a schema that applies beside the others";
        if gone.len() + fresh.len() > SINGLE_LIMIT {
            let sentence = "what applies beside the others (`allOf`) changes";
            self.branch(sentence.to_owned(), after, soundness);
            return;
        }
        for position in 0..gone.len() {
            let rest = before.get(position + 1..).unwrap_or_default().to_vec();
            self.branch(fate(subject, Fate::Gone), rest, soundness);
        }
        for position in 0..fresh.len() {
            let so_far = after.get(..=position).unwrap_or_default().to_vec();
            self.branch(fate(subject, Fate::New), so_far, soundness);
        }
    }

    fn parts_of(&mut self, side: Side, ids: &[SiteId], soundness: &mut Soundness) -> Vec<Value> {
        ids.iter().map(|id| self.part(side, *id, soundness)).collect()
    }

    fn branch(&mut self, sentence: String, beside: Vec<Value>, soundness: Soundness) {
        let patch = if soundness.is_sound() { Patch::beside(beside) } else { Patch::default() };
        self.atom(ChangeKind::Condition, &[], sentence, patch).effect = Effect::given(soundness);
    }

    /// Compares the branches of `anyOf`.
    fn choice(&mut self) {
        let [removed, added] = self.children_of("anyOf");
        let count = removed.len() + added.len();
        if count == 0 {
            return;
        }
        let [before, after] = self.both("anyOf");
        if before.is_none() || after.is_none() || count > SINGLE_LIMIT {
            self.reshaped(ChangeKind::Condition, &["anyOf"]);
            return;
        }
        let mut soundness = self.soundness();
        let ids = |children: &[Child<'_>]| children.iter().map(|it| it.id).collect::<Vec<_>>();
        let mut list = self.parts_of(Side::Old, &ids(&removed), &mut soundness);
        let fresh = self.parts_of(Side::New, &ids(&added), &mut soundness);
        for child in removed {
            let before = choice_of(&list);
            list.drain(..1.min(list.len()));
            self.option((child, Fate::Gone), Frame { before, after: choice_of(&list) }, soundness);
        }
        for (child, part) in added.into_iter().zip(fresh) {
            let before = choice_of(&list);
            list.push(part);
            self.option((child, Fate::New), Frame { before, after: choice_of(&list) }, soundness);
        }
    }

    fn option(&mut self, (child, coming): (Child<'_>, Fate), frame: Frame, soundness: Soundness) {
        let (reading, side) = match coming {
            Fate::New => (self.new, Side::New),
            Fate::Gone => (self.old, Side::Old),
        };
        let pointer = reading.pointer(child.id);
        let sentence = fate("a branch of `anyOf`", coming);
        let atom = self.atom(ChangeKind::Branch, &[], sentence, Patch::default());
        (atom.pointer, atom.side) = (pointer, side);
        (atom.frame, atom.effect) = (Some(frame), Effect::given(soundness));
    }

    /// Compares what `dependentSchemas` asks of objects that have a member.
    fn dependents(&mut self) {
        let [removed, added] = self.children_of("dependentSchemas");
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let mut soundness = self.soundness();
        let mut before = self.before.clone();
        for child in &removed {
            before.apply(&dependent(*child, Some(self.part(Side::Old, child.id, &mut soundness))));
        }
        let mut fresh = Vec::new();
        for child in &added {
            fresh.push(dependent(*child, Some(self.part(Side::New, child.id, &mut soundness))));
        }
        if soundness.is_sound() {
            self.before = before;
        }
        let gone = removed.into_iter().map(|child| (child, Fate::Gone, dependent(child, None)));
        let fresh = added.into_iter().zip(fresh).map(|(child, patch)| (child, Fate::New, patch));
        for (child, coming, patch) in gone.chain(fresh).collect::<Vec<_>>() {
            let sentence = fate(&format!("what objects with {} must be", name(key(child))), coming);
            let patch = if soundness.is_sound() { patch } else { Patch::default() };
            self.atom(ChangeKind::Branch, &[], sentence, patch).effect = Effect::given(soundness);
        }
    }
}

fn key(child: Child<'_>) -> &str {
    match child.slot {
        Slot::Named(name) => name,
        Slot::Alone | Slot::At(_) => "",
    }
}

/// Returns the change that asks `value` of objects that have a member.
fn dependent(child: Child<'_>, value: Option<Value>) -> Patch {
    let entry = Some(("dependentSchemas", key(child).to_owned(), value));
    Patch { entry, ..Patch::default() }
}

/// Returns the choice between `branches` and those that correspond.
fn choice_of(branches: &[Value]) -> Value {
    let corresponding = std::iter::once(Value::Bool(false));
    Value::Array(corresponding.chain(branches.iter().cloned()).collect())
}
