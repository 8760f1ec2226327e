//! Witnesses: values that one contract accepts and the other rejects, by the verdicts themselves.

use crate::contract::{Contract, Effort, GROUNDED, Source, strings};
use crate::json::Document;
use crate::json::meter::{Meter, bounded};
use crate::json::probe::Probe;
use crate::verdict::{Violation, check_against};

use super::reading::Reading;
use super::{Grounds, Side, Witness};

/// How many places all values that are tried for one comparison may fill.
const STEPS: usize = 400_000;

/// How many containers the validations of all of them may step into, on the way to a candidate.
const SEARCH_WORK: u64 = 12_000_000;

/// And how many those that judge candidates by both contracts may: about half a second.
const TRIAL_WORK: u64 = 12_000_000;

/// How many values are tried for one change.
const ATTEMPTS: usize = 40;

/// Judges candidates by both contracts, within bounds.
pub(super) struct Trial<'c> {
    pub(super) court: Court<'c>,
    pub(super) effort: Effort,
}

/// Both contracts, and what may still be spent on verdicts.
pub(super) struct Court<'c> {
    old: &'c Contract,
    new: &'c Contract,
    work: u64,
    grounds: &'static [Grounds],
}

impl<'c> Trial<'c> {
    pub(super) fn new(old: &Reading<'c>, new: &Reading<'c>) -> Self {
        let is_grounded = [old, new].iter().any(|reading| {
            let mut sites = reading.subschemas.iter();
            sites.any(|(_, site)| site.members().is_some_and(|it| it.contains_key(GROUNDED)))
        });
        let grounds: &[Grounds] =
            if is_grounded { &[Grounds::Quoting, Grounds::Silent] } else { &[Grounds::Quoting] };
        let court = Court { old: old.contract, new: new.contract, work: TRIAL_WORK, grounds };
        Self { court, effort: Effort::new(ATTEMPTS, STEPS, SEARCH_WORK) }
    }
}

impl<'c> Court<'c> {
    /// Returns the contract of one side.
    pub(super) fn contract(&self, side: Side) -> &'c Contract {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }

    /// Returns the witness that `value` is, if `side` accepts it and the other one rejects it for a
    /// reason that `concerns` the question.
    pub(super) fn witness(
        &mut self,
        value: &Document,
        side: Side,
        concerns: impl Fn(&Violation) -> bool,
    ) -> Option<Witness> {
        for grounds in self.grounds {
            let source = grounds.source(value);
            let is_split = self.accepts(side, value, &source) == Some(true)
                && self.accepts(side.other(), value, &source) == Some(false);
            if !is_split || !check_against(self.contract(side), value, &source).is_empty() {
                continue;
            }
            let violations = check_against(self.contract(side.other()), value, &source).list;
            // What is too much work to judge is not rejected for what it says.
            let mut reasons = violations.into_iter().filter(|it| it.keyword != "work_limit");
            if let Some(violation) = reasons.find(|violation| concerns(violation)) {
                let (value, grounds) = (value.clone(), *grounds);
                return Some(Witness { value, accepted_by: side, violation, grounds });
            }
        }
        None
    }

    /// Claims that one contract accepts `value`; nothing if that cannot be afforded any more.
    fn accepts(&mut self, side: Side, value: &Document, source: &Source) -> Option<bool> {
        let contract = self.contract(side);
        let meter =
            Meter::strict(self.work).with_source(Some(source)).with_patterns(contract.patterns());
        let judged =
            bounded(|| contract.validator().is_valid(Probe::Node(value.root(), &meter))).ok();
        self.work = meter.left();
        judged.map(|is_valid| is_valid && !meter.is_doubtful())
    }
}

impl Grounds {
    /// Returns the source text that `value` is judged with.
    pub(super) fn source(self, value: &Document) -> Source {
        match self {
            Self::Quoting => Source::new(&strings(&value.to_value())),
            Self::Silent => Source::new(""),
        }
    }
}
