//! What each change at a part does to the values that the part accepts.

use serde_json::{Map, Value};

use crate::Answer;
use crate::contract::coverage::{Coverage, Terms, compare};

use super::parts::{Bound, Parts};
use super::spot::{Effect, Mini, Spot};

/// What one change does.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) coverage: Coverage,
    /// The small schema before it and after it.
    pub(super) minis: [Map<String, Value>; 2],
}

/// Makes one change of `spot` after the other, and finds out what each does.
pub(super) fn weigh(spot: &Spot<'_, '_>, terms: Terms, budget: &mut u64) -> Vec<Found> {
    let mut found = Vec::with_capacity(spot.atoms.len());
    let mut current = spot.before.clone();
    for atom in &spot.atoms {
        let before = current.clone();
        current.apply(&atom.patch);
        let coverage = match atom.effect {
            Effect::Known { kept, within } => Coverage { kept, within, ..Coverage::default() },
            Effect::Compared => compared(&before, &current, &spot.parts, (terms, budget)),
        };
        found.push(Found { coverage, minis: [before.schema(), current.schema()] });
    }
    together(spot, &mut found, (terms, budget));
    found
}

/// Looks at all changes at once where one by one did not decide: what one allows, another may forbid.
fn together(spot: &Spot<'_, '_>, found: &mut [Found], terms: (Terms, &mut u64)) {
    let is_compared = |index: &usize| {
        spot.atoms.get(*index).is_some_and(|atom| atom.effect == Effect::Compared)
    };
    let compared_ones: Vec<usize> = (0..found.len()).filter(is_compared).collect();
    let is_open = |found: &Found| [found.coverage.kept, found.coverage.within] != [Answer::Yes; 2];
    if compared_ones.len() < 2 || !found.iter().any(is_open) {
        return;
    }
    let mut after = spot.before.clone();
    for index in &compared_ones {
        spot.atoms.get(*index).into_iter().for_each(|atom| after.apply(&atom.patch));
    }
    let whole = compared(&spot.before, &after, &spot.parts, terms);
    for index in compared_ones {
        let Some(Found { coverage, .. }) = found.get_mut(index) else { continue };
        if whole.kept == Answer::Yes {
            (coverage.kept, coverage.lost) = (Answer::Yes, None);
        }
        if whole.within == Answer::Yes {
            (coverage.within, coverage.gained) = (Answer::Yes, None);
        }
    }
}

fn compared(before: &Mini, after: &Mini, parts: &Parts, terms: (Terms, &mut u64)) -> Coverage {
    let (terms, budget) = terms;
    let (before, after) = (before.schema(), after.schema());
    let complete = |mini: &Map<String, Value>, bound| parts.complete(mini.clone(), bound);
    let [old, new] = [&before, &after].map(|mini| complete(mini, Bound::AtLeast));
    let first = compare(&old, &new, terms, budget);
    if !parts.has_rules(&old) && !parts.has_rules(&new) {
        return first;
    }
    let [least_old, least_new] = [&before, &after].map(|mini| complete(mini, Bound::AtMost));
    let kept = compare(&old, &least_new, terms, budget).kept;
    let within = compare(&least_old, &new, terms, budget).within;
    Coverage { kept, within, ..first }
}
