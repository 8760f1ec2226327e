//! A bound on the work of one validation.
//!
//! Branches and references let a small schema and a small value cost exponentially many steps, and
//! a validator that is a library cannot be asked to stop. So reading the value costs: every step
//! into a container, every reported error and, in contracts that expand much in place, every
//! applied subschema takes a unit. In its last half the meter is *low*: containers look empty, so
//! that the validator ends by itself with what it has found. When nothing is left, the validation
//! is unwound, as rust-analyzer's cancelled queries are; no answer comes out of it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::contract::Source;

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
}

/// The meter was empty before the validation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Meter {
    /// Returns a meter that stops a validation after `units`.
    pub(crate) fn strict(units: u64) -> Self {
        Self { left: Cell::new(units), low: 0, error_cost: 1, source: None }
    }

    /// Returns a meter that is low after `units`, and stops after as many again.
    pub(crate) fn lenient(units: u64) -> Self {
        let error_cost = (units / ERROR_LIMIT).max(1);
        Self { left: Cell::new(units.saturating_mul(2)), low: units, error_cost, source: None }
    }

    /// Adds the text that grounded strings are quoted from.
    pub(crate) fn with_source(mut self, source: Option<&Source>) -> Self {
        self.source = source.cloned();
        self
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
pub(crate) fn bounded<T>(validation: impl FnOnce() -> T) -> Result<T, Exhausted> {
    catch_unwind(AssertUnwindSafe(validation)).map_err(|payload| {
        if payload.is::<Exhausted>() {
            return Exhausted;
        }
        resume_unwind(payload)
    })
}

/// Ends the validation without a panic message: nothing is wrong with the program.
#[cold]
fn stop() -> ! {
    resume_unwind(Box::new(Exhausted))
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
        assert_eq!((run, steps.get()), (Err::<(), _>(Exhausted), 10));
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
    fn other_panics_are_not_swallowed() {
        let outer = catch_unwind(AssertUnwindSafe(|| bounded(|| resume_unwind(Box::new(7)))));
        assert_eq!(outer.unwrap_err().downcast_ref(), Some(&7));
    }
}
