//! Types, values, numbers and texts.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::Answer;
use crate::contract::Fingerprint;
use crate::diff::ChangeKind;
use crate::diff::words::{bound, list, quoted};

use super::{Effect, Patch, Spot};

/// How many values are compared within other keywords; longer lists are compared by themselves.
const LISTED_LIMIT: usize = 500;

/// How many values are tried to show that they came or went.
const SHOWN_LIMIT: usize = 8;

/// Keywords without schemas that are changes of their own.
const PLAIN: [(ChangeKind, &[&str]); 15] = [
    (ChangeKind::Range, &["minimum", "exclusiveMinimum"]),
    (ChangeKind::Range, &["maximum", "exclusiveMaximum"]),
    (ChangeKind::Range, &["multipleOf"]),
    (ChangeKind::Length, &["minLength"]),
    (ChangeKind::Length, &["maxLength"]),
    (ChangeKind::Length, &["minItems"]),
    (ChangeKind::Length, &["maxItems"]),
    (ChangeKind::Length, &["minProperties"]),
    (ChangeKind::Length, &["maxProperties"]),
    (ChangeKind::Items, &["uniqueItems"]),
    (ChangeKind::Pattern, &["pattern"]),
    (ChangeKind::Format, &["format"]),
    (ChangeKind::Format, &["contentMediaType"]),
    (ChangeKind::Format, &["contentEncoding"]),
    (ChangeKind::Members, &["dependentRequired"]),
];

impl Spot<'_, '_> {
    pub(super) fn scalars(&mut self) {
        self.types();
        self.values();
        for (kind, keywords) in PLAIN {
            self.plain(kind, keywords);
        }
    }

    /// Notes that the value of one of `keywords` differs.
    fn plain(&mut self, kind: ChangeKind, keywords: &'static [&'static str]) {
        let counts =
            |keyword: &&str| self.new.is_constraint(keyword) && self.old.is_constraint(keyword);
        let differing: Vec<&'static str> = keywords
            .iter()
            .filter(|keyword| counts(keyword) && differ(self.both(keyword)))
            .copied()
            .collect();
        if differing.is_empty() {
            return;
        }
        let said = differing.iter().map(|keyword| bound(keyword, self.both(keyword)));
        let sentence = said.collect::<Vec<_>>().join("; ");
        let set = differing.iter().map(|keyword| (*keyword, self.both(keyword)[1].cloned()));
        let patch = Patch::set(set.collect());
        // Whoever breaks `dependentRequired` lacks what is then required.
        let broken = if kind == ChangeKind::Members { &[] } else { keywords };
        self.atom(kind, broken, sentence, patch);
    }

    fn types(&mut self) {
        let [old, new] = self.both("type");
        let names = |value: Option<&Value>| -> Option<BTreeSet<String>> {
            let value = value?;
            let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        let (before, after) = (names(old), names(new));
        if before == after {
            return;
        }
        let or = |names: &BTreeSet<String>| list(names, "or");
        let sentence = match (&before, &after) {
            (Some(before), Some(after)) => {
                format!("the type changes from {} to {}", or(before), or(after))
            }
            (None, Some(after)) => format!("only {} is accepted", or(after)),
            (Some(before), None) => format!("other types than {} are accepted", or(before)),
            (None, None) => return,
        };
        let patch = Patch::set(vec![("type", new.cloned())]);
        self.atom(ChangeKind::Type, &["type"], sentence, patch);
    }

    /// Notes that values which are listed differ: first those that are gone, then those that are new.
    fn values(&mut self) {
        let keywords = ["enum", "const"];
        let sides = keywords.map(|keyword| self.both(keyword));
        let listed = |side: usize| -> Option<Vec<&Value>> {
            let [many, one] = sides.map(|values| values.get(side).copied().flatten());
            match (many.and_then(Value::as_array), one) {
                (Some(many), None) => Some(many.iter().collect()),
                (None, Some(one)) => Some(vec![one]),
                (None, None) | (Some(_), Some(_)) => None,
            }
        };
        let set = |list: Option<Value>, one: Option<Value>| {
            Patch::set(vec![("enum", list), ("const", one)])
        };
        let [many, one] = sides.map(|[_, new]| new.cloned());
        let (Some(before), Some(after)) = (listed(0), listed(1)) else {
            if sides.iter().any(|values| differ(*values)) {
                let said = keywords.iter().zip(sides).filter(|(_, values)| differ(*values));
                let said = said.map(|(keyword, values)| bound(keyword, values));
                let sentence = said.collect::<Vec<_>>().join("; ");
                self.atom(ChangeKind::Values, &["enum", "const"], sentence, set(many, one));
            }
            return;
        };
        let prints = |values: &[&Value]| -> BTreeSet<Fingerprint> {
            values.iter().map(|value| Fingerprint::of(value)).collect()
        };
        let (old, new) = (prints(&before), prints(&after));
        let is_gone = |value: &&&Value| !new.contains(&Fingerprint::of(value));
        let gone: Vec<&Value> = before.iter().filter(is_gone).copied().collect();
        let fresh: Vec<&Value> =
            after.iter().filter(|value| !old.contains(&Fingerprint::of(value))).copied().collect();
        if !gone.is_empty() {
            let kept = before.iter().filter(|value| !is_gone(value)).map(|it| (*it).clone());
            let sentence = format!("{} is no longer among the values", quoted(&gone));
            let rest = Some(Value::Array(kept.collect()));
            let atom = self.atom(ChangeKind::Values, &["enum", "const"], sentence, set(rest, None));
            atom.likely = Some(some_of(&gone));
            if before.len() > LISTED_LIMIT {
                atom.effect = Effect::Known { kept: Answer::Unknown, within: Answer::Yes };
            }
        }
        if !fresh.is_empty() {
            let sentence = format!("{} is among the values", quoted(&fresh));
            let atom = self.atom(ChangeKind::Values, &["enum", "const"], sentence, set(many, one));
            atom.likely = Some(some_of(&fresh));
            if after.len() > LISTED_LIMIT {
                atom.effect = Effect::Known { kept: Answer::Yes, within: Answer::Unknown };
            }
        }
    }
}

/// Describes some of `values`.
fn some_of(values: &[&Value]) -> Value {
    let some: Vec<&Value> = values.iter().take(SHOWN_LIMIT).copied().collect();
    json!({ "enum": some })
}

/// Claims that two values are not the same, however they are written.
pub(super) fn differ([old, new]: [Option<&Value>; 2]) -> bool {
    old.map(Fingerprint::of) != new.map(Fingerprint::of)
}
