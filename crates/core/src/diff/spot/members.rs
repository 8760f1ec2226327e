//! Objects: which members may be there, which must.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::contract::{Slot, text_matching};
use crate::diff::reading::Child;
use crate::diff::words::{Fate, fate, name};
use crate::diff::{ChangeKind, Side};

use super::{Effect, Patch, Soundness, Spot};

const MEMBERS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];

impl Spot<'_, '_> {
    pub(super) fn members(&mut self) {
        // In this order each change means something while the others are not made yet: nothing could
        // have a member that must be there and must not.
        self.required(Fate::Gone);
        if self.is_reshaped(&MEMBERS) {
            self.declared();
        }
        self.required(Fate::New);
    }

    fn declared(&mut self) {
        let concerns = |child: &Child<'_>| MEMBERS.contains(&child.keyword);
        let [removed, added] = [&self.tied.removed, &self.tied.added]
            .map(|all| all.iter().copied().filter(concerns).collect::<Vec<_>>());
        let both: Vec<Child<'_>> =
            self.tied.both.iter().map(|(old, _)| *old).filter(concerns).collect();
        let mut soundness = self.soundness();
        let mut before = self.before.clone();
        for child in both {
            // What holds for the same members on both sides decides nothing; which members are not
            // declared is another matter.
            let stand_in = match child.keyword {
                "additionalProperties" => self.part(Side::Old, child.id, &mut soundness),
                _ => Value::Bool(true),
            };
            before.apply(&slot(child, Some(stand_in)));
        }
        for child in &removed {
            before.apply(&slot(*child, Some(self.part(Side::Old, child.id, &mut soundness))));
        }
        let mut fresh = Vec::new();
        for child in &added {
            fresh.push(slot(*child, Some(self.part(Side::New, child.id, &mut soundness))));
        }
        // What cannot be compared must not count where the others are.
        if soundness.is_sound() {
            self.before = before;
        }
        let patched = |patch| if soundness.is_sound() { patch } else { Patch::default() };
        for child in removed {
            self.member((child, Fate::Gone), patched(slot(child, None)), soundness);
        }
        for (child, patch) in added.into_iter().zip(fresh) {
            self.member((child, Fate::New), patched(patch), soundness);
        }
    }

    fn member(&mut self, (child, coming): (Child<'_>, Fate), patch: Patch, soundness: Soundness) {
        let (reading, side) = match coming {
            Fate::New => (self.new, Side::New),
            Fate::Gone => (self.old, Side::Old),
        };
        let pointer = reading.pointer(child.id);
        let (kind, sentence) = match (child.keyword, child.slot, coming) {
            ("properties", Slot::Named(key), Fate::New) => {
                (ChangeKind::PropertyAdded, fate(&format!("property {}", name(key)), coming))
            }
            ("properties", Slot::Named(key), Fate::Gone) => {
                (ChangeKind::PropertyRemoved, fate(&format!("property {}", name(key)), coming))
            }
            ("patternProperties", Slot::Named(key), _) => {
                let subject = format!("what members that match {} must be", name(key));
                (ChangeKind::Members, fate(&subject, coming))
            }
            _ => (ChangeKind::Members, rest(reading.value(child.id), coming)),
        };
        let member = match child.slot {
            Slot::Named(key) if child.keyword == "properties" => Some(key.to_owned()),
            Slot::Named(pattern) => text_matching(pattern),
            Slot::Alone | Slot::At(_) => None,
        };
        let atom = self.atom(kind, &[], sentence, patch);
        (atom.pointer, atom.side, atom.member) = (pointer, side, member);
        atom.effect = Effect::given(soundness);
    }

    /// Notes the members that must be there no longer, or that must from now on.
    fn required(&mut self, coming: Fate) {
        let names = |value: Option<&Value>| -> BTreeSet<String> {
            let names = value.and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let [before, after] = self.both("required").map(names);
        let (mut current, changed): (BTreeSet<String>, Vec<String>) = match coming {
            Fate::Gone => (before.clone(), before.difference(&after).cloned().collect()),
            Fate::New => (
                before.intersection(&after).cloned().collect(),
                after.difference(&before).cloned().collect(),
            ),
        };
        for key in &changed {
            let (kind, sentence) = match coming {
                Fate::New => {
                    current.insert(key.clone());
                    (ChangeKind::RequiredAdded, format!("{} becomes required", name(key)))
                }
                Fate::Gone => {
                    current.remove(key);
                    (ChangeKind::RequiredRemoved, format!("{} becomes optional", name(key)))
                }
            };
            let list = Value::from(current.iter().cloned().collect::<Vec<_>>());
            // Draft 4 knows no empty list.
            let list = Some(list).filter(|_| !current.is_empty());
            let patch = Patch::set(vec![("required", list)]);
            let atom = self.atom(kind, &["required"], sentence, patch);
            atom.member = Some(key.clone());
        }
    }
}

/// Returns the change that puts `value` where `child` stands.
fn slot(child: Child<'_>, value: Option<Value>) -> Patch {
    match child.slot {
        Slot::Named(name) => {
            let entry = Some((child.keyword, name.to_owned(), value));
            Patch { entry, ..Patch::default() }
        }
        Slot::Alone | Slot::At(_) => Patch::set(vec![(child.keyword, value)]),
    }
}

/// Says what becomes of members that are not declared.
fn rest(schema: Option<&Value>, coming: Fate) -> String {
    let words = match (schema, coming) {
        (Some(Value::Bool(false)), Fate::New) => "members that are not declared are refused",
        (Some(Value::Bool(false)), Fate::Gone) => "members that are not declared are allowed",
        (Some(Value::Bool(true)), _) => "it is said otherwise that other members are allowed",
        (_, Fate::New) => "members that are not declared are held to a schema",
        (_, Fate::Gone) => "members that are not declared may be anything",
    };
    words.to_owned()
}
