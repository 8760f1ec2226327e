//! What each change at a part does to the values that the part accepts.

use serde_json::{Map, Value};

use crate::Answer;
use crate::contract::coverage::{Coverage, Terms, compare};

use super::parts::{Bound, Parts};
use super::spot::{Atom, Effect, Mini, Spot};

/// The small schema before a change and after it.
pub(super) type Minis = [Map<String, Value>; 2];

/// Makes the first `count` changes of `spot` one after the other, and finds out what each does.
pub(super) fn weigh(
    spot: &Spot<'_, '_>,
    count: usize,
    (terms, budget): (Terms, &mut u64),
) -> Vec<Coverage> {
    let mut found = Vec::new();
    let mut current = spot.before.clone();
    for atom in spot.atoms.iter().take(count) {
        found.push(match atom.effect {
            Effect::Known { kept, within } => Coverage { kept, within, ..Coverage::default() },
            Effect::Compared => compared(&step(&mut current, atom), &spot.parts, (terms, budget)),
        });
        if atom.effect != Effect::Compared {
            current.apply(&atom.patch);
        }
    }
    if count >= spot.atoms.len() {
        together(spot, &mut found, (terms, budget));
    }
    found
}

/// Makes a change, and returns the small schemas before and after it.
pub(super) fn step(current: &mut Mini, atom: &Atom) -> Minis {
    let frame = atom.frame.as_ref();
    let before = current.schema(frame.map(|frame| &frame.before));
    current.apply(&atom.patch);
    [before, current.schema(frame.map(|frame| &frame.after))]
}

/// Looks at all changes at once where one by one did not decide: what one allows, another may forbid.
fn together(spot: &Spot<'_, '_>, found: &mut [Coverage], terms: (Terms, &mut u64)) {
    let counts = |atom: &Atom| atom.effect == Effect::Compared && atom.frame.is_none();
    let is_open = |found: &Coverage| [found.kept, found.within] != [Answer::Yes; 2];
    let changed = spot.atoms.iter().filter(|atom| counts(atom)).count();
    if changed < 2 || !found.iter().any(is_open) {
        return;
    }
    let mut after = spot.before.clone();
    for atom in spot.atoms.iter().filter(|atom| counts(atom)) {
        after.apply(&atom.patch);
    }
    let whole = compared(&[spot.before.schema(None), after.schema(None)], &spot.parts, terms);
    for (coverage, _) in found.iter_mut().zip(&spot.atoms).filter(|(_, atom)| counts(atom)) {
        if whole.kept == Answer::Yes {
            (coverage.kept, coverage.lost) = (Answer::Yes, None);
        }
        if whole.within == Answer::Yes {
            (coverage.within, coverage.gained) = (Answer::Yes, None);
        }
    }
}

fn compared(minis: &Minis, parts: &Parts, (terms, budget): (Terms, &mut u64)) -> Coverage {
    let complete = |mini: &Map<String, Value>, bound| parts.complete(mini.clone(), bound);
    let [old, new] = minis.each_ref().map(|mini| complete(mini, Bound::AtLeast));
    let first = compare(&old, &new, terms, budget);
    if !parts.has_rules(&old) && !parts.has_rules(&new) {
        return first;
    }
    let [least_old, least_new] = minis.each_ref().map(|mini| complete(mini, Bound::AtMost));
    let kept = compare(&old, &least_new, terms, budget).kept;
    let within = compare(&least_old, &new, terms, budget).within;
    Coverage { kept, within, ..first }
}
