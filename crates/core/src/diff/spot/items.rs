//! Arrays: what their items must be.

use serde_json::{Map, Value};

use crate::contract::Slot;
use crate::diff::words::bound;
use crate::diff::{ChangeKind, Side};

use super::scalars::differ;
use super::{Effect, Patch, Spot};

const ITEMS: [&str; 3] = ["prefixItems", "items", "additionalItems"];
const CONTAINS: [&str; 3] = ["contains", "minContains", "maxContains"];

impl Spot<'_, '_> {
    pub(super) fn items(&mut self) {
        if self.is_reshaped(&ITEMS) {
            self.reshaped(ChangeKind::Items, &ITEMS);
        }
        let counts = CONTAINS.iter().skip(1).any(|keyword| differ(self.both(keyword)));
        if self.is_reshaped(&CONTAINS) || counts {
            self.reshaped(ChangeKind::Items, &CONTAINS);
        }
    }

    /// Notes that what `keywords` hold together changed its shape, and compares it as a whole.
    pub(super) fn reshaped(&mut self, kind: ChangeKind, keywords: &[&'static str]) {
        let sides = keywords.iter().map(|keyword| self.both(keyword));
        let said = keywords.iter().zip(sides).filter(|(_, values)| differ(*values));
        let said: Vec<String> = said.map(|(keyword, values)| shape(keyword, values)).collect();
        let sentence = match (said.as_slice(), keywords) {
            // Said alike, by drafts that read it differently.
            ([], [first, ..]) => format!("`{first}` does not mean the same in both drafts"),
            (said, _) => said.join("; "),
        };
        let stand_ins = (self.stand_ins(keywords, Side::Old), self.stand_ins(keywords, Side::New));
        let (effect, patch) = match stand_ins {
            (Some(before), Some(after)) if !self.sees_rest => {
                self.before.apply(&whole(keywords, before));
                (Effect::Compared, whole(keywords, after))
            }
            _ => (Effect::UNKNOWN, Patch::default()),
        };
        self.atom(kind, &[], sentence, patch).effect = effect;
    }

    /// Returns what `keywords` hold on one side; nothing if it cannot be compared. What corresponds
    /// is taken from the old side: it is a pair of its own.
    fn stand_ins(&mut self, keywords: &[&str], side: Side) -> Option<Map<String, Value>> {
        let (reading, id) = match side {
            Side::Old => (self.old, self.pair.old),
            Side::New => (self.new, self.pair.new),
        };
        let mut held = Map::new();
        for keyword in keywords {
            if let Some(value) = reading.keyword(id, keyword) {
                held.insert((*keyword).to_owned(), value.clone());
            }
        }
        for child in reading.children(id) {
            if !keywords.contains(&child.keyword) {
                continue;
            }
            let is_it = |other: &crate::diff::reading::Child<'_>| other.id == child.id;
            let tied = self.tied.both.iter().find(|(old, new)| match side {
                Side::Old => is_it(old),
                Side::New => is_it(new),
            });
            let stand_in = match tied {
                Some((old, _)) => self.parts.add(self.old, Side::Old, old.id)?,
                None => self.parts.add(reading, side, child.id)?,
            };
            if INVERTING.contains(&child.keyword) && self.parts.has_rules(&stand_in) {
                return None;
            }
            let place = match (held.get_mut(child.keyword), child.slot) {
                (Some(Value::Array(list)), Slot::At(index)) => list.get_mut(index),
                (Some(Value::Object(map)), Slot::Named(name)) => map.get_mut(name),
                (place, _) => place,
            };
            *place? = stand_in;
        }
        Some(held)
    }
}

/// Keywords under which a rule more may admit values.
const INVERTING: [&str; 4] = ["not", "oneOf", "if", "contains"];

fn whole(keywords: &[&'static str], mut held: Map<String, Value>) -> Patch {
    let set = keywords.iter().map(|keyword| (*keyword, held.remove(*keyword)));
    Patch::set(set.collect())
}

/// Says how a keyword that holds schemas changes.
fn shape(keyword: &str, values: [Option<&Value>; 2]) -> String {
    match values {
        [Some(Value::Array(old)), Some(Value::Array(new))] => {
            format!("`{keyword}` has {} schemas, had {}", new.len(), old.len())
        }
        [None, Some(Value::Object(_) | Value::Array(_))] => format!("`{keyword}` is new"),
        [Some(Value::Object(_) | Value::Array(_)), None] => format!("`{keyword}` is gone"),
        [Some(Value::Object(_) | Value::Array(_)), Some(_)] => format!("`{keyword}` changes"),
        values => bound(keyword, values),
    }
}
