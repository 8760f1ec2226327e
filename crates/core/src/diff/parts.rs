//! Parts of schemas that stand on their own, so that they can be compared apart from the rest.
//!
//! A part becomes a definition, and so does whatever it refers to. Rules are unknown to who compares,
//! so that a part with rules has two stand-ins: one that accepts at least as much (the part without
//! its rules) and one that accepts at most as much (nothing). What is proven with the wider one on
//! the inner side and the narrower one on the outer side holds for the part itself.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use crate::contract::{GROUNDED, Holds, INVERTING, Judges, Keyword, RULES, SiteId};

use super::Side;
use super::reading::Reading;

/// How many subschemas may be copied for one comparison.
const COPY_LIMIT: usize = 5_000;

/// Which stand-in is taken for a part with rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// One that accepts at least as much.
    AtLeast,
    /// One that accepts at most as much.
    AtMost,
}

/// One part.
#[derive(Debug, Default)]
struct Part {
    copy: Value,
    /// The parts that it refers to.
    uses: BTreeSet<String>,
    /// Whether it has rules, itself or in what it refers to.
    is_ruled: bool,
    /// Whether a rule more may make it accept more.
    is_inverting: bool,
    /// Whether the rules are in the part itself.
    has_rules: bool,
}

/// All parts of one comparison.
#[derive(Debug)]
pub(super) struct Parts {
    draft: Draft,
    all: BTreeMap<String, Part>,
    copied: usize,
}

impl Parts {
    /// Starts a comparison by the rules of `draft`.
    pub(super) fn new(draft: Draft) -> Self {
        Self { draft, all: BTreeMap::new(), copied: 0 }
    }

    /// Copies the part `id` of a schema; returns what stands for it, or nothing if it is too large or
    /// cannot stand on its own.
    pub(super) fn add(&mut self, reading: &Reading<'_>, side: Side, id: SiteId) -> Option<Value> {
        let id = reading.followed(id);
        if let Some(literal @ Value::Bool(_)) = reading.value(id) {
            return Some(literal.clone());
        }
        let mut waiting = vec![id];
        while let Some(next) = waiting.pop() {
            let name = name(side, next);
            if self.all.contains_key(&name) {
                continue;
            }
            let (draft, part) = (self.draft, Part::default());
            let mut copier = Copier { reading, side, draft, part, targets: Vec::new() };
            let copy = copier.copy(next, &mut self.copied)?;
            waiting.append(&mut copier.targets);
            self.all.insert(name, Part { copy, ..copier.part });
        }
        self.spread();
        Some(json!({ "$ref": place(&name(side, id), self.draft) }))
    }

    /// Tells every part of the rules in what it refers to.
    fn spread(&mut self) {
        loop {
            let ruled: BTreeSet<String> = self
                .all
                .iter()
                .filter(|(_, part)| part.is_ruled)
                .map(|(name, _)| name.clone())
                .collect();
            let mut has_changed = false;
            for part in self.all.values_mut().filter(|part| !part.is_ruled) {
                part.is_ruled = !part.uses.is_disjoint(&ruled);
                has_changed |= part.is_ruled;
            }
            if !has_changed {
                return;
            }
        }
    }

    /// Claims that one of the parts that `schema` refers to has rules.
    pub(super) fn has_rules(&self, schema: &Value) -> bool {
        let mut used = BTreeSet::new();
        references(schema, &mut used);
        used.iter().any(|name| self.all.get(name).is_some_and(|part| part.is_ruled))
    }

    /// Returns `schema` with every part that it needs.
    pub(super) fn complete(&self, schema: Map<String, Value>, bound: Bound) -> Value {
        let mut schema = Value::Object(schema);
        let mut waiting = BTreeSet::new();
        references(&schema, &mut waiting);
        let mut definitions = Map::new();
        while let Some(name) = waiting.pop_first() {
            let Some(part) = self.all.get(&name).filter(|_| !definitions.contains_key(&name))
            else {
                continue;
            };
            waiting.extend(part.uses.iter().cloned());
            definitions.insert(name, part.stand_in(bound));
        }
        if let (Some(members), false) = (schema.as_object_mut(), definitions.is_empty()) {
            members.insert(holder(self.draft).to_owned(), Value::Object(definitions));
        }
        schema
    }
}

impl Part {
    fn stand_in(&self, bound: Bound) -> Value {
        let is_vague = self.is_ruled && self.is_inverting;
        match bound {
            Bound::AtLeast if is_vague => Value::Bool(true),
            Bound::AtMost if is_vague || self.has_rules => Value::Bool(false),
            Bound::AtLeast | Bound::AtMost => self.copy.clone(),
        }
    }
}

fn name(side: Side, id: SiteId) -> String {
    match side {
        Side::Old => format!("o{id}"),
        Side::New => format!("n{id}"),
    }
}

fn holder(draft: Draft) -> &'static str {
    match draft {
        Draft::Draft4 | Draft::Draft6 | Draft::Draft7 => "definitions",
        Draft::Draft201909 | Draft::Draft202012 | _ => "$defs",
    }
}

fn place(name: &str, draft: Draft) -> String {
    format!("#/{}/{name}", holder(draft))
}

/// Adds the names of all parts that `schema` refers to.
fn references(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            names.extend(reference.and_then(|it| it.rsplit('/').next()).map(str::to_owned));
            members.values().for_each(|member| references(member, names));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Copies one part.
struct Copier<'p, 'c> {
    reading: &'p Reading<'c>,
    side: Side,
    draft: Draft,
    part: Part,
    targets: Vec<SiteId>,
}

impl Copier<'_, '_> {
    /// Copies the constraints of `id`. Recurses as deep as the schema, which is bounded.
    fn copy(&mut self, id: SiteId, copied: &mut usize) -> Option<Value> {
        *copied += 1;
        if *copied > COPY_LIMIT {
            return None;
        }
        if let Some(literal @ Value::Bool(_)) = self.reading.value(id) {
            return Some(literal.clone());
        }
        let mut copy = Map::new();
        for (name, value) in self.reading.keywords(id) {
            if name == RULES || (name == GROUNDED && value != &Value::Bool(false)) {
                self.part.is_ruled = true;
                self.part.has_rules = true;
                continue;
            }
            let Some(keyword) = Keyword::named(name).filter(|_| self.reading.is_constraint(name))
            else {
                continue;
            };
            self.part.is_inverting |= INVERTING.contains(&name);
            copy.insert(name.to_owned(), self.held(id, keyword, value, copied)?);
        }
        Some(Value::Object(copy))
    }

    /// Copies what a keyword holds.
    fn held(
        &mut self,
        id: SiteId,
        keyword: &Keyword,
        value: &Value,
        copied: &mut usize,
    ) -> Option<Value> {
        if keyword.name == "$ref" {
            let target = self.reading.followed(self.reading.target(id)?);
            self.targets.push(target);
            let name = name(self.side, target);
            let place = place(&name, self.draft);
            self.part.uses.insert(name);
            return Some(Value::String(place));
        }
        if keyword.holds == Holds::Data || keyword.judges == Judges::Nothing {
            return Some(value.clone());
        }
        let mut inner = |value: &Value| match self.reading.subschemas.at(value) {
            Some(child) => self.copy(child, copied),
            None => Some(value.clone()),
        };
        match (keyword.holds, value) {
            (Holds::SchemaMap | Holds::Dependencies, Value::Object(members)) => members
                .iter()
                .map(|(name, value)| Some((name.clone(), inner(value)?)))
                .collect::<Option<Map<_, _>>>()
                .map(Value::Object),
            (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(items)) => {
                items.iter().map(inner).collect::<Option<Vec<_>>>().map(Value::Array)
            }
            _ => inner(value),
        }
    }
}
