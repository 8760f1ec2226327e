//! Numbers: small, whole where possible, within the bounds.

use std::ops::{Bound, RangeBounds};

use serde_json::{Number, Value};

use super::choice::Choices;
use super::demand::{Demand, Place};
use crate::json::Pointer;

/// The interval that the bounds leave.
type Interval = (Bound<f64>, Bound<f64>);

/// Beyond this, numbers without a bound are not worth showing.
const FAR: f64 = 1e9;

/// Returns the `variant`-th number that fits, as far as floats can tell.
pub(super) fn sample(
    demand: &Demand<'_>,
    at: &Pointer,
    variant: usize,
    choices: &mut Choices,
) -> Option<Value> {
    let interval = interval(demand);
    let (low, high) = (edge(interval.0, -FAR), edge(interval.1, FAR));
    let whole = demand.kinds().first() == Some(&"integer");
    let steps: Vec<f64> = demand.all("multipleOf").filter_map(Value::as_f64).collect();
    // A multiple of all steps is a multiple of their product.
    let product = steps.iter().product();
    let mut candidates = Vec::new();
    for step in steps.into_iter().chain([1.0, product]) {
        candidates.extend(multiples(low.min(high), high, step, variant));
    }
    if !whole {
        candidates.extend([f64::midpoint(low, high), low, high]);
    }
    candidates.retain(|number| interval.contains(number) && (!whole || number.fract() == 0.0));
    let mut literals: Vec<Value> = candidates.into_iter().filter_map(literal).collect();
    literals.extend(exact_bound(demand, &interval).cloned());
    let chosen = choices.pick(at, "number", literals.len());
    literals.into_iter().nth(chosen)
}

/// Returns a bound that is itself allowed: exact where floats are not.
fn exact_bound<'s>(demand: &Demand<'s>, interval: &Interval) -> Option<&'s Value> {
    let mut bounds = demand.all("minimum").chain(demand.all("maximum"));
    bounds.find(|bound| bound.as_f64().is_some_and(|bound| interval.contains(&bound)))
}

fn interval(demand: &Demand<'_>) -> Interval {
    let mut low = Bound::Unbounded;
    let mut high = Bound::Unbounded;
    for place in &demand.places {
        for bound in bounds(place, "minimum", "exclusiveMinimum") {
            let tightens = (low, Bound::Unbounded).contains(&edge(bound, 0.0));
            low = if tightens { bound } else { low };
        }
        for bound in bounds(place, "maximum", "exclusiveMaximum") {
            let tightens = (Bound::Unbounded, high).contains(&edge(bound, 0.0));
            high = if tightens { bound } else { high };
        }
    }
    (low, high)
}

/// Returns the bounds that one schema gives on one side, the exclusive one last.
fn bounds(place: &Place<'_>, inclusive: &str, exclusive: &str) -> Vec<Bound<f64>> {
    let number = |keyword: &str| place.get(keyword).and_then(Value::as_f64);
    // Draft 4 writes `exclusiveMinimum: true` beside `minimum`.
    let is_out = place.get(exclusive).and_then(Value::as_bool) == Some(true);
    let kind = if is_out { Bound::Excluded } else { Bound::Included };
    let first = number(inclusive).map(kind);
    first.into_iter().chain(number(exclusive).map(Bound::Excluded)).collect()
}

fn edge(bound: Bound<f64>, otherwise: f64) -> f64 {
    match bound {
        Bound::Included(number) | Bound::Excluded(number) => number,
        Bound::Unbounded => otherwise,
    }
}

/// Returns multiples of `step` around the interval, nearest to one `step` first.
fn multiples(low: f64, high: f64, step: f64, variant: usize) -> Vec<f64> {
    if !(step.is_normal() && step > 0.0) {
        return Vec::new();
    }
    let shift = f64::from(u32::try_from(variant).unwrap_or(u32::MAX));
    let start = 1.0_f64.max((low / step).ceil()).min((high / step).floor());
    [start + shift, start + 1.0 + shift, start - 1.0 - shift, start - shift, 0.0]
        .into_iter()
        .map(|factor| tidy(factor * step))
        .collect()
}

/// Drops the noise that multiplying floats adds: `3 × 0.1` is meant to be `0.3`.
fn tidy(number: f64) -> f64 {
    let short = format!("{number:.12}").parse().unwrap_or(number);
    if number.abs() < 1e3 { short } else { number }
}

fn literal(number: f64) -> Option<Value> {
    if number.fract() == 0.0
        && number.abs() < 1e15
        && let Ok(integer) = format!("{number:.0}").parse::<i64>()
    {
        return Some(integer.into());
    }
    Number::from_f64(number).map(Value::Number)
}
