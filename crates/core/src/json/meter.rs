//! A bound on the work of one validation.
//!
//! Branches and references let a small schema and a small value cost exponentially many steps, and
//! a validator that is a library cannot be asked to stop. So reading the value costs: every step
//! into a container, every reported error and, in contracts that expand much in place, every
//! applied subschema takes a unit. In its last half the meter is *low*: containers look empty, so
//! that the validator ends by itself with what it has found. When nothing is left, the validation
//! is unwound, as rust-analyzer's cancelled queries are; no answer comes out of it. Nor does one
//! come out of a validator that panics: what it cannot judge is not accepted.
//!
//! Errors hold the way to their value in writing, so the bytes of those count as well, with a limit of
//! their own.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::document::Document;
use super::places::Places;
use crate::contract::{Patterns, Source};

/// How many errors one validation may report.
///
/// Far more than anybody reads, so that coercion sees them all; bounds memory at some 20 MB.
const ERROR_LIMIT: u64 = 50_000;

/// How many bytes the places that those errors hold may take before the meter is low.
///
/// As many errors with places of 300 bytes, and about what the errors themselves take.
const PLACE_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// How many bytes are searched for the price of a step: what takes about as long.
const SEARCHED_BYTES_PER_UNIT: usize = 1024;

/// How much work one validation may still do, and the text that it may consult.
#[derive(Debug)]
pub(crate) struct Meter {
    left: Cell<u64>,
    low: u64,
    error_cost: u64,
    places: Places,
    /// How many bytes the places of errors may still take.
    place_bytes: Cell<u64>,
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
            places: Places::default(),
            place_bytes: Cell::new(2 * PLACE_LIMIT_BYTES),
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
            places: Places::default(),
            place_bytes: Cell::new(2 * PLACE_LIMIT_BYTES),
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

    /// Counts the bytes of the places that errors about values of `document` hold.
    pub(crate) fn with_places(mut self, document: &Document) -> Self {
        self.places = Places::of(document);
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

    /// Takes what it costs to search `bytes` of text.
    pub(crate) fn spend_search(&self, bytes: usize) {
        self.take(u64::try_from(bytes / SEARCHED_BYTES_PER_UNIT + 1).unwrap_or(u64::MAX));
    }

    /// Takes what one error costs; `id` is the place of its value on the tape, if it has one.
    pub(crate) fn spend_error(&self, id: Option<u32>) {
        self.take(self.error_cost);
        let bytes = id.map_or(0, |id| self.places.bytes(id));
        let Some(left) = self.place_bytes.get().checked_sub(bytes) else {
            stop();
        };
        self.place_bytes.set(left);
        if left < PLACE_LIMIT_BYTES {
            self.settle(self.low.saturating_sub(1));
        }
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
    use crate::json::Node;

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
    fn long_places_of_errors_make_a_meter_low_and_then_stop_it() {
        let document = Document::parse(format!(r#"{{"{}":[0]}}"#, "k".repeat(1_000_000))).unwrap();
        let (_, items) = document.root().members().next().unwrap();
        let item = items.items().next().map(Node::id);
        let meter = Meter::lenient(1_000_000).with_places(&document);
        let errors = Cell::new(0);
        let until = |is_over: &dyn Fn() -> bool| {
            bounded(|| {
                while !is_over() {
                    meter.spend_error(item);
                    errors.set(errors.get() + 1);
                }
            })
        };
        assert_eq!(until(&|| meter.is_low()), Ok(()));
        assert_eq!(errors.get(), 17);
        assert_eq!(until(&|| false), Err(Unfinished::Exhausted));
        assert_eq!(errors.get(), 33);
    }

    #[test]
    fn a_validator_that_panics_gives_no_answer() {
        let run: Result<(), _> = bounded(|| resume_unwind(Box::new(7)));
        assert_eq!(run, Err(Unfinished::Panicked));
    }
}
