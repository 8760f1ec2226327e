//! A bound on the work of one validation.
//!
//! Branches and references let a small schema and a small value cost exponentially many steps, and
//! a validator that is a library cannot be asked to stop. So reading the value costs: every step
//! into a container, every reported error and, in contracts that expand much in place, every
//! applied subschema takes a unit. In its last half the meter is *low*: containers look empty, so
//! that the validator ends by itself with what it has found. When nothing is left, the validation
//! is unwound, as rust-analyzer's cancelled queries are; no answer comes out of it. Nor does one
//! come out of a validator that panics: what it cannot judge is not accepted.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::contract::{Patterns, Source};

/// How many errors one validation may report.
///
/// Far more than anybody reads, so that coercion sees them all; bounds memory at some 20 MB.
const ERROR_LIMIT: u64 = 50_000;

/// How much work one validation may still do, and the text that it may consult.
#[derive(Debug)]
pub(crate) struct Meter {
    left: Cell<u64>,
    low: u64,
    error_cost: u64,
    source: Option<Source>,
    patterns: Patterns,
    /// Whether something could not be decided, which under `not` would look like a pass.
    doubtful: Cell<bool>,
}

/// Why a validation ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The meter was empty.
    Exhausted,
    /// The validator panicked.
    Panicked,
}

impl Meter {
    /// Returns a meter that stops a validation after `units`.
    pub(crate) fn strict(units: u64) -> Self {
        Self {
            left: Cell::new(units),
            low: 0,
            error_cost: 1,
            source: None,
            doubtful: Cell::new(false),
            patterns: Patterns::Linear,
        }
    }

    /// Returns a meter that is low after `units`, and stops after as many again.
    pub(crate) fn lenient(units: u64) -> Self {
        let error_cost = (units / ERROR_LIMIT).max(1);
        Self {
            left: Cell::new(units.saturating_mul(2)),
            low: units,
            error_cost,
            source: None,
            doubtful: Cell::new(false),
            patterns: Patterns::Linear,
        }
    }

    /// Adds the text that grounded strings are quoted from.
    pub(crate) fn with_source(mut self, source: Option<&Source>) -> Self {
        self.source = source.cloned();
        self
    }

    /// Says how patterns are matched, which decides what errors must know of the value.
    pub(crate) fn with_patterns(mut self, patterns: Patterns) -> Self {
        self.patterns = patterns;
        self
    }

    /// Claims that a match may be given up on.
    pub(crate) fn is_backtracking(&self) -> bool {
        self.patterns == Patterns::LookAround
    }

    /// Notes that an assertion could not be decided.
    pub(crate) fn doubt(&self) {
        self.doubtful.set(true);
    }

    /// Claims that some assertion could not be decided.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.get()
    }

    /// Returns the text that grounded strings are quoted from.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Returns how many units are left.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Leaves at most `left` units, for work that was counted elsewhere.
    pub(crate) fn settle(&self, left: u64) {
        self.left.set(left.min(self.left.get()));
    }

    /// Takes one unit for a step.
    #[inline]
    pub(crate) fn spend(&self) {
        self.take(1);
    }

    /// Takes what a copy of `nodes` values costs.
    pub(crate) fn spend_copy(&self, nodes: usize) {
        self.take(u64::try_from(nodes).unwrap_or(u64::MAX));
    }

    /// Takes what one error costs.
    pub(crate) fn spend_error(&self) {
        self.take(self.error_cost);
    }

    /// Claims that the validation should come to its end.
    #[inline]
    pub(crate) fn is_low(&self) -> bool {
        self.left.get() < self.low
    }

    #[inline]
    fn take(&self, units: u64) {
        let left = self.left.get();
        if left < units {
            stop();
        }
        self.left.set(left - units);
    }
}

/// Runs a validation until its meter stops it.
pub(crate) fn bounded<T>(validation: impl FnOnce() -> T) -> Result<T, Unfinished> {
    catch_unwind(AssertUnwindSafe(validation))
        .map_err(|payload| payload.downcast_ref().copied().unwrap_or(Unfinished::Panicked))
}

/// Ends the validation without a panic message: nothing is wrong with the program.
#[cold]
pub(super) fn stop() -> ! {
    resume_unwind(Box::new(Unfinished::Exhausted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_meter_ends_an_endless_run() {
        let meter = Meter::strict(10);
        let steps = Cell::new(0);
        let run = bounded(|| {
            loop {
                meter.spend();
                steps.set(steps.get() + 1);
            }
        });
        assert_eq!((run, steps.get()), (Err::<(), _>(Unfinished::Exhausted), 10));
    }

    #[test]
    fn a_lenient_meter_warns_half_way() {
        let meter = Meter::lenient(10);
        let steps = bounded(|| {
            let mut steps = 0;
            while !meter.is_low() {
                meter.spend();
                steps += 1;
            }
            steps
        });
        assert_eq!(steps, Ok(11));
    }

    #[test]
    fn a_validator_that_panics_gives_no_answer() {
        let run: Result<(), _> = bounded(|| resume_unwind(Box::new(7)));
        assert_eq!(run, Err(Unfinished::Panicked));
    }
}
