//! Arrays: at least one item where that is allowed.

use serde_json::Value;

use super::demand::{Demand, Place, count};
use super::{Generator, LENGTH_LIMIT, STEP_LIMIT};
use crate::json::Pointer;

/// How many variants of an item are tried to find one that is not there yet.
const VARIANT_LIMIT: usize = 64;

/// How many comparisons of items cost as much as building one.
const COMPARISONS_PER_STEP: usize = 64;

impl Generator {
    pub(super) fn array(
        &mut self,
        demand: &Demand<'_>,
        at: &Pointer,
        variant: usize,
    ) -> Option<Value> {
        let least = demand.at_least("minItems");
        let most = demand.at_most("maxItems");
        if least > LENGTH_LIMIT {
            self.steps = STEP_LIMIT;
        }
        if least > most || least > LENGTH_LIMIT {
            return None;
        }
        let fixed = demand.places.iter().map(|place| tuple(place).len()).max().unwrap_or_default();
        let contained = contained(demand);
        let usual = least.max(fixed).max(1).max(contained.len()).min(most);
        let lengths = [usual, least.max(contained.len()).min(most), least, (usual + 1).min(most)];
        let length = lengths.get(self.choices.pick(at, "length", lengths.len())).copied()?;
        // What must be contained stands where the tuple says nothing, else in front.
        let first = if fixed + contained.len() <= length { fixed } else { 0 };
        let unique = demand.all("uniqueItems").any(|value| value.as_bool() == Some(true));
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length {
            let mut places = item(demand, index);
            let extra = index.checked_sub(first).and_then(|place| contained.get(place));
            places.extend(extra.cloned());
            let tries = if unique { VARIANT_LIMIT } else { 1 };
            let built = (0..tries).find_map(|shift| {
                self.steps += if unique { items.len() / COMPARISONS_PER_STEP } else { 0 };
                self.value(&places, &at.index(index), variant + index + shift)
                    .filter(|value| !unique || !items.contains(value))
            });
            match built {
                Some(value) => items.push(value),
                None if index >= least => break,
                None => return None,
            }
        }
        Some(Value::Array(items))
    }
}

/// Returns the schemas of the items that have one each.
fn tuple<'s>(place: &Place<'s>) -> &'s [Value] {
    let listed = place.get("prefixItems").or_else(|| place.get("items"));
    listed.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns all schemas that apply to the item at `index`.
fn item<'s>(demand: &Demand<'s>, index: usize) -> Vec<Place<'s>> {
    let of = |place: &Place<'s>| {
        let own = tuple(place).get(index);
        let rest = if place.get("items").is_some_and(Value::is_array) {
            place.get("additionalItems")
        } else {
            place.get("items")
        };
        own.or(rest).map(|schema| place.inner(schema))
    };
    demand.places.iter().filter_map(of).collect()
}

/// Returns the schemas that some item must fit, as often as they must.
fn contained<'s>(demand: &Demand<'s>) -> Vec<Place<'s>> {
    let of = |place: &Place<'s>| {
        let schema = place.get("contains")?;
        let times = place.get("minContains").and_then(count).unwrap_or(1);
        Some(vec![place.inner(schema); times.min(LENGTH_LIMIT)])
    };
    demand.places.iter().filter_map(of).flatten().collect()
}
