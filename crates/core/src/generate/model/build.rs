//! From places to types: what all kinds of values share.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde_json::Value;

use super::{Form, Id, Model, Text, Type};
use crate::contract::Contract;
use crate::generate::GenerateError;
use crate::generate::name::{self, Names};
use crate::json::Pointer;
use crate::lower::Unsayable;
use crate::lower::original::{Clause, Original, Place, names};
use crate::lower::place::{kind_of, meet};

/// How many places may be read for each value in the contract, and some for small contracts: unions
/// multiply what stands beside them.
const PLACES_PER_VALUE: usize = 8;
const PLACES_AT_LEAST: usize = 10_000;

/// How deep types may nest; keeps the stack bounded, here and in compilers.
const DEPTH_LIMIT: usize = 100;

/// A definition in the making.
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// Absent until it is known, for ever if nothing satisfies it.
    pub(super) form: Option<Form>,
}

/// A union of which exactly one alternative must apply.
pub(super) struct Exclusive {
    pub(super) at: Pointer,
    pub(super) alternatives: Vec<Type>,
}

pub(super) struct Builder<'c> {
    pub(super) original: Original<'c>,
    pub(super) names: Names,
    pub(super) slots: Vec<Slot>,
    by_target: HashMap<Pointer, Id>,
    pending: VecDeque<(Id, Place<'c>)>,
    /// The places that are being read, outermost first.
    open: Vec<Vec<usize>>,
    places: usize,
    place_limit: usize,
    pub(super) losses: BTreeSet<(Pointer, String)>,
    pub(super) narrowings: BTreeSet<(Pointer, Unsayable)>,
    pub(super) large_integers: BTreeSet<Pointer>,
    pub(super) exclusive: Vec<Exclusive>,
}

impl<'c> Builder<'c> {
    pub(super) fn new(contract: &'c Contract) -> Self {
        let values = count_values(contract.schema());
        Self {
            original: Original::new(contract.schema(), contract.draft()),
            names: Names::of_types(),
            slots: Vec::new(),
            by_target: HashMap::new(),
            pending: VecDeque::new(),
            open: Vec::new(),
            places: 0,
            place_limit: PLACES_AT_LEAST.saturating_add(values.saturating_mul(PLACES_PER_VALUE)),
            losses: BTreeSet::new(),
            narrowings: BTreeSet::new(),
            large_integers: BTreeSet::new(),
            exclusive: Vec::new(),
        }
    }

    pub(super) fn build(mut self, name: &str) -> Result<Model, GenerateError> {
        let whole = self.original.whole();
        let root = self.reserve(name, &self.original.expand(&whole));
        self.by_target.insert(Pointer::root(), root);
        if !self.define(root, &whole) {
            return Err(GenerateError::Unsatisfiable);
        }
        while let Some((id, place)) = self.pending.pop_front() {
            if !self.define(id, &place) {
                // Nothing satisfies it, which became known too late for those who refer to it.
                self.lose_all(&self.original.expand(&place));
                self.fill(id, Form::Alias(Type::Any));
            }
        }
        Ok(self.settle())
    }

    /// Reads the definition `id`; claims that something can satisfy it.
    fn define(&mut self, id: Id, place: &Place<'c>) -> bool {
        let name = self.slots.get(id.0).map(|slot| slot.name.clone()).unwrap_or_default();
        let Some(of) = self.place(place, &name, Some(id)) else {
            return false;
        };
        if of != Type::Named(id) {
            self.fill(id, Form::Alias(of));
        }
        true
    }

    /// Takes a place for a definition that is about to be read.
    pub(super) fn reserve(&mut self, wished: &str, place: &Place<'c>) -> Id {
        let name = self.names.unique(wished);
        self.slots.push(Slot { name, description: description(place), form: None });
        Id(self.slots.len() - 1)
    }

    pub(super) fn fill(&mut self, id: Id, form: Form) {
        if let Some(slot) = self.slots.get_mut(id.0) {
            slot.form = Some(form);
        }
    }

    /// Makes a definition of `form`, as `into` if that is waited for.
    pub(super) fn hoist(
        &mut self,
        form: Form,
        name: &str,
        into: Option<Id>,
        place: &Place<'c>,
    ) -> Type {
        let id = into.unwrap_or_else(|| self.reserve(name, place));
        self.fill(id, form);
        Type::Named(id)
    }

    /// Reads a place; nothing if no value satisfies it. `name` is what a definition of it would be
    /// called, `into` the one that is waiting for it.
    pub(super) fn place(
        &mut self,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        self.places += 1;
        let expanded = self.original.expand(place);
        if expanded.never.is_some() {
            return None;
        }
        if let Some(of) = self.reference(place) {
            return Some(of);
        }
        let key = expanded.key();
        let is_circle = !key.is_empty() && self.open.contains(&key);
        if self.places > self.place_limit || self.open.len() >= DEPTH_LIMIT || is_circle {
            self.lose_all(&expanded);
            return Some(Type::Any);
        }
        self.open.push(key);
        let of = self.body(&expanded, name, into);
        self.open.pop();
        of
    }

    /// Takes what is counted like a place.
    pub(super) fn spend(&mut self, places: usize) {
        self.places = self.places.saturating_add(places);
    }

    /// Keeps a reference that stands alone.
    fn reference(&mut self, place: &Place<'c>) -> Option<Type> {
        let mut constraints = place.constraints();
        let sole = constraints.next().filter(|clause| clause.keyword == "$ref")?;
        if constraints.next().is_some() {
            return None;
        }
        let (target, schema) = self.original.follow(sole.value.as_str()?)?;
        if let Some(id) = self.by_target.get(&target) {
            return Some(Type::Named(*id));
        }
        let place = self.original.place(schema, &target);
        let name = target.segments().last().unwrap_or_default();
        let id = self.reserve(&name::pascal(&name), &self.original.expand(&place));
        self.by_target.insert(target, id);
        self.pending.push_back((id, place));
        Some(Type::Named(id))
    }

    fn body(&mut self, place: &Place<'c>, name: &str, into: Option<Id>) -> Option<Type> {
        let types = types(place);
        if types.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        if let Some(union) = place.clauses.iter().find(|it| is_union(it)) {
            return self.union(place, union, name, into);
        }
        self.lose_logic(place);
        if place.all("enum").chain(place.all("const")).next().is_some() {
            return self.choice(place, types.as_deref(), name, into);
        }
        if let Some(types) = types {
            return self.kinds(place, &types, name, into);
        }
        if let Some(kind) = kind_of(place) {
            self.narrowings.insert((place.pointer(), Unsayable::OtherTypes));
            return self.kind(kind, place, name, into);
        }
        self.lose_all(place);
        Some(Type::Any)
    }

    /// Reads a place of one or several kinds.
    fn kinds(
        &mut self,
        place: &Place<'c>,
        kinds: &[&str],
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        let counted = |kind: &&&str| **kind != "null";
        if let [single] = kinds {
            return self.kind(single, place, name, into);
        }
        let several = kinds.iter().filter(counted).count() > 1;
        let mut found = Vec::new();
        for kind in kinds {
            let suffix = kind_name(kind);
            let wished = inner_name(name, several.then_some(suffix), into);
            found.extend(self.kind(kind, place, &wished, None).map(|of| (suffix.to_owned(), of)));
        }
        self.combine(found, place, name, into)
    }

    /// Reads what a place says about values of one kind.
    fn kind(
        &mut self,
        kind: &str,
        place: &Place<'c>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        match kind {
            "null" => Some(Type::Null),
            "boolean" => Some(Type::Boolean),
            "string" => self.text(place, name, into),
            "integer" => self.integer(place, name, into),
            "number" => self.number(place, name, into),
            "array" => self.array(place, name, into),
            "object" => self.object(place, name, into),
            _ => {
                self.lose_all(place);
                Some(Type::Any)
            }
        }
    }

    fn text(&mut self, place: &Place<'c>, name: &str, into: Option<Id>) -> Option<Type> {
        self.lose_every(place, &["format", "contentEncoding", "contentMediaType"]);
        let text = Text {
            min: self.at_least(place, "minLength"),
            max: self.at_most(place, "maxLength"),
            patterns: patterns(place),
        };
        if text.max.is_some_and(|max| max < text.min) {
            return None;
        }
        if text == Text::default() {
            return Some(Type::Text);
        }
        Some(self.hoist(Form::Text(text), name, into, place))
    }

    /// Returns the largest count that `keyword` gives.
    pub(super) fn at_least(&mut self, place: &Place<'c>, keyword: &str) -> u64 {
        self.counts(place, keyword).into_iter().max().unwrap_or(0)
    }

    /// Returns the smallest count that `keyword` gives.
    pub(super) fn at_most(&mut self, place: &Place<'c>, keyword: &str) -> Option<u64> {
        self.counts(place, keyword).into_iter().min()
    }

    fn counts(&mut self, place: &Place<'c>, keyword: &str) -> Vec<u64> {
        let mut counts = Vec::new();
        for clause in place.all(keyword) {
            // No language counts further everywhere.
            match count(clause.value).filter(|count| u32::try_from(*count).is_ok()) {
                Some(count) => counts.push(count),
                None => self.lose(clause),
            }
        }
        counts
    }
}

/// Returns what the contract says a place is.
pub(super) fn description(place: &Place<'_>) -> Option<String> {
    let said = |keyword: &str| place.all(keyword).find_map(|clause| clause.value.as_str());
    said("description").or_else(|| said("title")).map(str::to_owned)
}

/// Returns what an inner type of `name` is called.
///
/// A definition that waits for the outer type has its name already.
pub(super) fn inner_name(name: &str, suffix: Option<&str>, into: Option<Id>) -> String {
    match (suffix, into) {
        (Some(suffix), _) => name::inside(name, suffix),
        (None, Some(_)) => name::inside(name, "Value"),
        (None, None) => name.to_owned(),
    }
}

/// Returns the word for values of a kind in names.
pub(super) fn kind_name(kind: &str) -> &'static str {
    match kind {
        "null" => "Null",
        "boolean" => "Flag",
        "integer" => "Integer",
        "number" => "Number",
        "string" => "Text",
        "array" => "List",
        _ => "Object",
    }
}

pub(super) fn is_union(clause: &Clause<'_>) -> bool {
    matches!(clause.keyword, "anyOf" | "oneOf")
}

/// Returns the types that the place allows: none if any, an empty list if nothing.
pub(super) fn types<'c>(place: &Place<'c>) -> Option<Vec<&'c str>> {
    place
        .all("type")
        .map(|clause| names(clause.value).collect::<Vec<_>>())
        .reduce(|left, right| meet(&left, &right))
}

fn patterns(place: &Place<'_>) -> Vec<super::Pattern> {
    let mut patterns: Vec<super::Pattern> = Vec::new();
    for clause in place.all("pattern") {
        let text = clause.value.as_str().unwrap_or_default().to_owned();
        patterns.push(super::Pattern { text, at: clause.at.clone() });
    }
    patterns
}

/// Returns a count, which may be written `2.0`.
fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.to_string().strip_suffix(".0")?.parse().ok())
}

fn count_values(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(count_values).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}
