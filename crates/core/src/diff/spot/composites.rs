//! Choices, conditions and references: schemas beside or inside of others for the same value.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::contract::Slot;
use crate::diff::reading::Child;
use crate::diff::words::{Fate, fate, name};
use crate::diff::{ChangeKind, Side};

use super::scalars::differ;
use super::{Effect, Patch, Spot};

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
        let [referred, refers] = match targets {
            [Some(old), None] => [Some(old), None],
            [None, Some(new)] => [None, Some(new)],
            _ => [None, None],
        };
        // A reference whose target is not at hand says all it says by its text.
        let [before, after] = self.both("$ref");
        let is_lost = targets == [None, None] && differ([before, after]);
        if is_lost {
            let sentence = "`$ref` changes".to_owned();
            self.atom(ChangeKind::Condition, &[], sentence, Patch::default()).effect =
                Effect::UNKNOWN;
        }
        let mut sound = !self.sees_rest;
        let gone: Vec<_> = removed.iter().map(|child| child.id).chain(referred).collect();
        let fresh: Vec<_> = added.iter().map(|child| child.id).chain(refers).collect();
        let mut current = VecDeque::new();
        for id in &gone {
            current.push_back(self.part(Side::Old, *id, &mut sound));
        }
        self.before.beside = current.iter().cloned().collect();
        for _ in gone {
            current.pop_front();
            self.branch(Fate::Gone, current.iter().cloned().collect(), sound);
        }
        for id in fresh {
            current.push_back(self.part(Side::New, id, &mut sound));
            self.branch(Fate::New, current.iter().cloned().collect(), sound);
        }
    }

    fn branch(&mut self, coming: Fate, beside: Vec<Value>, sound: bool) {
        let patch = Patch { beside: Some(beside), ..Patch::default() };
        let sentence = fate("a schema that applies beside the others", coming);
        self.atom(ChangeKind::Condition, &[], sentence, patch).effect = Effect::if_sound(sound);
    }

    /// Compares the branches of `anyOf`. Those that correspond accept nothing here: a choice between
    /// them and others is wider exactly as far as the others are.
    fn choice(&mut self) {
        let [removed, added] = self.children_of("anyOf");
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let [before, after] = self.both("anyOf");
        let mut sound = !self.sees_rest;
        let mut list = VecDeque::new();
        for child in &removed {
            list.push_back(self.part(Side::Old, child.id, &mut sound));
        }
        let mut fresh = VecDeque::new();
        for child in &added {
            fresh.push_back(self.part(Side::New, child.id, &mut sound));
        }
        self.before.apply(&choice_of(before.map(|_| &list)));
        if before.is_none() || after.is_none() {
            let coming = if before.is_none() { Fate::New } else { Fate::Gone };
            let (sentence, patch) =
                (fate("a choice (`anyOf`)", coming), choice_of(after.map(|_| &fresh)));
            self.atom(ChangeKind::Condition, &[], sentence, patch).effect =
                Effect::if_sound(sound);
            return;
        }
        for child in removed {
            list.pop_front();
            self.option((child, Fate::Gone), choice_of(Some(&list)), sound);
        }
        for (child, part) in added.into_iter().zip(fresh) {
            list.push_back(part);
            self.option((child, Fate::New), choice_of(Some(&list)), sound);
        }
    }

    fn option(&mut self, (child, coming): (Child<'_>, Fate), patch: Patch, sound: bool) {
        let (reading, side) = match coming {
            Fate::New => (self.new, Side::New),
            Fate::Gone => (self.old, Side::Old),
        };
        let pointer = reading.pointer(child.id);
        let sentence = fate("a branch of `anyOf`", coming);
        let atom = self.atom(ChangeKind::Branch, &[], sentence, patch);
        (atom.pointer, atom.side) = (pointer, side);
        atom.effect = Effect::if_sound(sound);
    }

    /// Compares what `dependentSchemas` asks of objects that have a member.
    fn dependents(&mut self) {
        let [removed, added] = self.children_of("dependentSchemas");
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let mut map = Map::new();
        let mut sound = !self.sees_rest;
        let key = |child: Child<'c>| match child.slot {
            Slot::Named(name) => name,
            Slot::Alone | Slot::At(_) => "",
        };
        for child in &removed {
            map.insert(key(*child).to_owned(), self.part(Side::Old, child.id, &mut sound));
        }
        let patch = |map: &Map<String, Value>| Patch {
            set: vec![("dependentSchemas", Some(Value::Object(map.clone())))],
            beside: None,
        };
        self.before.apply(&patch(&map));
        let gone = removed.into_iter().map(|child| (child, Fate::Gone));
        for (child, coming) in gone.chain(added.into_iter().map(|child| (child, Fate::New))) {
            match coming {
                Fate::Gone => drop(map.remove(key(child))),
                Fate::New => {
                    map.insert(key(child).to_owned(), self.part(Side::New, child.id, &mut sound));
                }
            }
            let sentence = fate(&format!("what objects with {} must be", name(key(child))), coming);
            self.atom(ChangeKind::Branch, &[], sentence, patch(&map)).effect =
                Effect::if_sound(sound);
        }
    }
}

/// Returns the patch that leaves a choice between `branches` and those that correspond.
fn choice_of(branches: Option<&VecDeque<Value>>) -> Patch {
    let list = branches.map(|branches| {
        let corresponding = std::iter::once(Value::Bool(false));
        Value::Array(corresponding.chain(branches.iter().cloned()).collect())
    });
    Patch { set: vec![("anyOf", list)], beside: None }
}
