//! Choices: where the generator could have done otherwise.

use std::collections::{HashMap, HashSet};

use crate::json::Pointer;

/// What names a choice: where in the value, and which of the questions there.
type Site = (Pointer, String);

/// The alternatives picked so far, kept from attempt to attempt.
#[derive(Debug, Default)]
pub(super) struct Choices {
    picked: HashMap<Site, Pick>,
    attempt: usize,
    /// The sites of this attempt, in the order in which they were met.
    trail: Vec<Site>,
    /// The sites of all attempts.
    known: Vec<Site>,
}

#[derive(Debug, Clone, Copy)]
struct Pick {
    index: usize,
    options: usize,
    /// The attempt that met it last.
    met: usize,
}

impl Choices {
    /// Starts an attempt.
    pub(super) fn begin(&mut self) {
        self.attempt += 1;
        self.trail.clear();
    }

    /// Returns which of `options` to take for `question` at `at`.
    pub(super) fn pick(&mut self, at: &Pointer, question: &str, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        let site = (at.clone(), question.to_owned());
        let pick = self.picked.entry(site.clone()).or_insert_with(|| {
            self.known.push(site.clone());
            Pick { index: 0, options, met: 0 }
        });
        if pick.met != self.attempt {
            pick.met = self.attempt;
            self.trail.push(site);
        }
        pick.options = options;
        pick.index.min(options - 1)
    }

    /// Moves to the next combination of choices at `at` itself; claims that there was one.
    pub(super) fn advance(&mut self, at: &Pointer) -> bool {
        let is_met = self.trail.iter().any(|(place, _)| place == at);
        let sites = if is_met { &self.trail } else { &self.known };
        for site in sites.iter().rev().filter(|(place, _)| place == at) {
            let Some(pick) = self.picked.get_mut(site) else { continue };
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
        let is_inside = |inner: &Pointer, outer: &Pointer| {
            let rest = inner.as_str().strip_prefix(outer.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let mut seen = HashSet::new();
        let mut order: Vec<(usize, Pointer)> = Vec::new();
        for (place, _) in self.trail.iter().chain(&self.known) {
            let distance = if place == blame {
                0
            } else if is_inside(place, blame) {
                1
            } else if is_inside(blame, place) {
                2 + blame.as_str().len() - place.as_str().len()
            } else {
                continue;
            };
            if seen.insert(place) {
                order.push((distance, place.clone()));
            }
        }
        order.sort_by_key(|(distance, _)| *distance);
        order.iter().any(|(_, place)| self.advance(place))
    }
}
