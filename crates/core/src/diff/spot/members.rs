//! Objects: which members may be there, which must.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::contract::{Slot, text_matching};
use crate::diff::reading::Child;
use crate::diff::words::{Fate, fate, name};
use crate::diff::{ChangeKind, Side};

use super::{Effect, Patch, Spot};

const MEMBERS: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];

/// What is said of members, with stand-ins for what corresponds.
struct Shape {
    properties: Map<String, Value>,
    patterns: Map<String, Value>,
    rest: Option<Value>,
}

impl Shape {
    fn patch(&self) -> Patch {
        let map = |map: &Map<String, Value>| {
            (!map.is_empty()).then(|| Value::Object(map.clone()))
        };
        let set = vec![
            ("properties", map(&self.properties)),
            ("patternProperties", map(&self.patterns)),
            ("additionalProperties", self.rest.clone()),
        ];
        Patch { set, beside: None }
    }

    fn slot(&mut self, child: Child<'_>, value: Option<Value>) {
        let map = match (child.keyword, child.slot) {
            ("properties", Slot::Named(_)) => &mut self.properties,
            ("patternProperties", Slot::Named(_)) => &mut self.patterns,
            _ => {
                self.rest = value;
                return;
            }
        };
        let Slot::Named(name) = child.slot else { return };
        match value {
            Some(value) => map.insert(name.to_owned(), value),
            None => map.remove(name),
        };
    }
}

impl Spot<'_, '_> {
    pub(super) fn members(&mut self) {
        if self.is_reshaped(&MEMBERS) {
            self.declared();
        }
        self.required();
    }

    fn declared(&mut self) {
        let concerns = |child: &&Child<'_>| MEMBERS.contains(&child.keyword);
        let removed: Vec<Child<'_>> = self.tied.removed.iter().filter(concerns).copied().collect();
        let added: Vec<Child<'_>> = self.tied.added.iter().filter(concerns).copied().collect();
        let both: Vec<Child<'_>> =
            self.tied.both.iter().map(|(old, _)| *old).filter(|it| concerns(&it)).collect();
        let mut shape = Shape { properties: Map::new(), patterns: Map::new(), rest: None };
        let mut sound = !self.sees_rest;
        for child in both {
            // What holds for the same members on both sides decides nothing; which members are not
            // declared is another matter.
            let stand_in = match child.keyword {
                "additionalProperties" => self.part(Side::Old, child.id, &mut sound),
                _ => Value::Bool(true),
            };
            shape.slot(child, Some(stand_in));
        }
        for child in &removed {
            let part = self.part(Side::Old, child.id, &mut sound);
            shape.slot(*child, Some(part));
        }
        self.before.apply(&shape.patch());
        for child in removed {
            shape.slot(child, None);
            self.member((child, Fate::Gone), shape.patch(), sound);
        }
        for child in added {
            let part = self.part(Side::New, child.id, &mut sound);
            shape.slot(child, Some(part));
            self.member((child, Fate::New), shape.patch(), sound);
        }
    }

    fn member(&mut self, (child, coming): (Child<'_>, Fate), patch: Patch, sound: bool) {
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
        atom.effect = Effect::if_sound(sound);
    }

    fn required(&mut self) {
        let names = |value: Option<&Value>| -> BTreeSet<String> {
            let names = value.and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let [before, after] = self.both("required").map(names);
        let mut current = before.clone();
        let gone = before.difference(&after).map(|key| (key, Fate::Gone));
        let fresh = after.difference(&before).map(|key| (key, Fate::New));
        for (key, coming) in gone.chain(fresh) {
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
            let patch = Patch { set: vec![("required", list)], beside: None };
            let atom = self.atom(kind, &["required"], sentence, patch);
            atom.member = Some(key.clone());
        }
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
