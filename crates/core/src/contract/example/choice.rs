//! Choices: where the generator could have done otherwise.

use std::collections::HashMap;

use crate::json::Pointer;

/// The alternatives picked so far, kept from attempt to attempt.
#[derive(Debug, Default)]
pub(super) struct Choices {
    attempt: usize,
    picks: HashMap<Pointer, Vec<Pick>>,
    /// The places with choices, in the order in which they were first met.
    places: Vec<Pointer>,
}

/// One question at one place, and the answer for now.
#[derive(Debug)]
struct Pick {
    question: String,
    index: usize,
    options: usize,
    /// The attempt that met it last.
    met: usize,
}

impl Choices {
    /// Starts an attempt.
    pub(super) fn begin(&mut self) {
        self.attempt += 1;
    }

    /// Returns which of `options` to take for `question` at `at`.
    pub(super) fn pick(&mut self, at: &Pointer, question: &str, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        let met = self.attempt;
        let picks = self.picks.entry(at.clone()).or_insert_with(|| {
            self.places.push(at.clone());
            Vec::new()
        });
        if let Some(pick) = picks.iter_mut().find(|pick| pick.question == question) {
            pick.met = met;
            pick.options = options;
            return pick.index.min(options - 1);
        }
        picks.push(Pick { question: question.to_owned(), index: 0, options, met });
        0
    }

    fn is_met(&self, at: &Pointer) -> bool {
        let picks = self.picks.get(at).into_iter().flatten();
        picks.into_iter().any(|pick| pick.met == self.attempt)
    }

    /// Moves to the next combination of choices at `at` itself; claims that there was one.
    ///
    /// Where this attempt met none, those of earlier attempts move.
    pub(super) fn advance(&mut self, at: &Pointer) -> bool {
        let oldest = if self.is_met(at) { self.attempt } else { 0 };
        let picks = self.picks.get_mut(at).into_iter().flatten();
        for pick in picks.rev().filter(|pick| pick.met >= oldest) {
            if pick.index + 1 < pick.options {
                pick.index += 1;
                return true;
            }
            pick.index = 0;
        }
        false
    }

    /// Changes what most likely caused a violation at `blame`; claims that something is left.
    ///
    /// The choices there come first, then those inside, then those around it.
    pub(super) fn reconsider(&mut self, blame: &Pointer) -> bool {
        let distance = |place: &Pointer| {
            if place == blame {
                return Some(0);
            }
            if is_inside(place, blame) {
                return Some(1);
            }
            is_inside(blame, place).then(|| 2 + blame.as_str().len() - place.as_str().len())
        };
        let mut order: Vec<(usize, bool, Pointer)> = Vec::new();
        for place in &self.places {
            if let Some(distance) = distance(place) {
                order.push((distance, !self.is_met(place), place.clone()));
            }
        }
        order.sort_by_key(|(distance, is_stale, _)| (*distance, *is_stale));
        order.iter().any(|(_, _, place)| self.advance(place))
    }
}

fn is_inside(inner: &Pointer, outer: &Pointer) -> bool {
    let rest = inner.as_str().strip_prefix(outer.as_str());
    rest.is_some_and(|rest| rest.starts_with('/'))
}
