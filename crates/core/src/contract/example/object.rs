//! Objects: every property that may be there, in the order of the schema.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::demand::{Demand, Place};
use super::known::Known;
use super::{Fullness, Generator, STEP_LIMIT};
use crate::json::Pointer;

/// How many names are tried for properties that the schema counts but does not name.
const NAME_LIMIT: usize = 64;

/// What trying one pattern on one name costs: it may have to be compiled.
const PATTERN_STEPS: usize = 10;

impl Generator {
    pub(super) fn object(
        &mut self,
        demand: &Demand<'_>,
        at: &Pointer,
        variant: usize,
    ) -> Option<Value> {
        let required = required(demand);
        let is_required: HashSet<&String> = required.iter().collect();
        let is_usual = self.choices.pick(at, "optional properties", 2) == 0;
        let full = is_usual == (self.fullness == Fullness::Full);
        let most = demand.at_most("maxProperties");
        let mut spare = most.checked_sub(required.len())?;
        let mut members = Map::new();
        for name in names(demand, &required) {
            if is_required.contains(&name) {
                let value = self.member(demand, at, &name, variant)?;
                members.insert(name, value);
                continue;
            }
            let wanted = full && spare > 0 && self.choices.pick(&at.key(&name), "absent", 2) == 0;
            if wanted && let Some(value) = self.member(demand, at, &name, variant) {
                members.insert(name, value);
                spare -= 1;
            }
        }
        self.fill(demand, at, variant, &mut members)?;
        Some(Value::Object(members))
    }

    /// Adds properties that the schema does not name, until there are enough.
    fn fill(
        &mut self,
        demand: &Demand<'_>,
        at: &Pointer,
        variant: usize,
        members: &mut Map<String, Value>,
    ) -> Option<()> {
        let is_map = demand.all("properties").next().is_none()
            && ["additionalProperties", "patternProperties"].iter().any(|keyword| {
                demand.all(keyword).any(|schema| schema.as_object().is_some_and(|o| !o.is_empty()))
            });
        let least = demand.at_least("minProperties");
        // A map shows one entry; any other object may have one more, should it need one.
        let is_usual = self.choices.pick(at, "entries", 2) == 0;
        let shown = match (is_map, is_usual) {
            (true, true) => 1,
            (true, false) | (false, true) => 0,
            (false, false) => members.len() + 1,
        };
        let wanted = least.max(shown.min(demand.at_most("maxProperties")));
        for attempt in 0..NAME_LIMIT + least.min(NAME_LIMIT) {
            if members.len() >= wanted {
                break;
            }
            let Some(name) = self.name(demand, at, attempt) else { continue };
            if members.contains_key(&name) {
                continue;
            }
            if let Some(value) = self.member(demand, at, &name, variant) {
                members.insert(name, value);
            }
        }
        (members.len() >= least).then_some(())
    }

    /// Builds a value for the property `name` from all schemas that apply to it.
    fn member(
        &mut self,
        demand: &Demand<'_>,
        at: &Pointer,
        name: &str,
        variant: usize,
    ) -> Option<Value> {
        let patterns = demand.all("patternProperties").filter_map(Value::as_object);
        self.steps += PATTERN_STEPS * patterns.map(Map::len).sum::<usize>();
        if self.steps >= STEP_LIMIT {
            return None;
        }
        let known = &mut self.known;
        let places: Vec<Place<'_>> =
            demand.places.iter().flat_map(|place| property(place, name, known)).collect();
        self.value(&places, &at.key(name), variant)
    }

    fn name(&mut self, demand: &Demand<'_>, at: &Pointer, attempt: usize) -> Option<String> {
        let named = demand.places.iter().find_map(|place| {
            let schema = place.get("propertyNames").filter(|schema| schema.is_object())?;
            Some(place.inner(schema))
        });
        if let Some(place) = named {
            let within = Pointer::from(format!("{}/ name {attempt}", at.as_str()).as_str());
            return self.value(&[place], &within, attempt)?.as_str().map(str::to_owned);
        }
        let patterns = demand.all("patternProperties").filter_map(Value::as_object).flatten();
        if let Some((pattern, _)) = patterns.into_iter().next() {
            return self.known.sample(pattern, 0, attempt);
        }
        Some(if attempt == 0 { "name".to_owned() } else { format!("name{}", attempt + 1) })
    }
}

/// Returns the names that must be there, also because others must.
fn required(demand: &Demand<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let lists = demand.all("required").filter_map(Value::as_array).flatten();
    let mut waiting: Vec<&str> = lists.filter_map(Value::as_str).collect();
    waiting.reverse();
    let mut seen = HashSet::new();
    while let Some(name) = waiting.pop() {
        if seen.insert(name) {
            names.push(name.to_owned());
            waiting.extend(needed_by(demand, name));
        }
    }
    names
}

/// Returns the names that must be there when `name` is.
fn needed_by<'s>(demand: &Demand<'s>, name: &str) -> impl Iterator<Item = &'s str> {
    ["dependentRequired", "dependencies"]
        .into_iter()
        .flat_map(|keyword| demand.all(keyword))
        .filter_map(move |map| map.get(name)?.as_array())
        .flatten()
        .filter_map(Value::as_str)
}

/// Returns the names that the schema knows, in its order, then those that it only requires.
fn names(demand: &Demand<'_>, required: &[String]) -> Vec<String> {
    let declared = demand.all("properties").filter_map(Value::as_object).flat_map(Map::keys);
    let mut waiting: Vec<&str> = required.iter().map(String::as_str).collect();
    waiting.reverse();
    waiting.extend(declared.map(String::as_str).collect::<Vec<_>>().into_iter().rev());
    let mut seen = HashSet::new();
    let mut names: Vec<String> = Vec::new();
    let mut needed = Vec::new();
    while let Some(name) = waiting.pop().or_else(|| needed.pop()) {
        if seen.insert(name) {
            names.push(name.to_owned());
            needed.extend(needed_by(demand, name));
        }
    }
    names
}

fn property<'s>(place: &Place<'s>, name: &str, known: &mut Known) -> Vec<Place<'s>> {
    let named = place.get("properties").and_then(|properties| properties.get(name));
    let patterns = place.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let matching =
        patterns.filter(|(pattern, _)| known.matches(pattern, name)).map(|(_, schema)| schema);
    let mut found: Vec<Place<'s>> =
        named.into_iter().chain(matching).map(|schema| place.inner(schema)).collect();
    if found.is_empty() {
        found.extend(place.get("additionalProperties").map(|schema| place.inner(schema)));
    }
    found
}
