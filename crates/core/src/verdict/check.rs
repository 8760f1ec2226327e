//! The verdict on one parsed value.

use super::findings::find;
use super::stack::with_room;
use super::violation::{Violation, Violations};
use crate::contract::{Contract, Source};
use crate::json::Document;
use crate::json::meter::{Meter, Unfinished, bounded};
use crate::json::probe::Probe;

/// How many violations are reported.
pub(super) const VIOLATION_LIMIT: usize = 100;

/// How much work any validation may be: some hundredths of a second.
pub(crate) const BASE_WORK: u64 = 1_000_000;

/// How much more for each node of the value: an ordinary contract needs two or three, a choice
/// among hundreds of forms a unit for each.
const WORK_PER_NODE: u64 = 128;

/// Judges `value` by the original contract alone; empty if it conforms.
///
/// A key that occurs twice is a violation, whatever the contract says: consumers disagree on which
/// member counts. So is a value whose judgement takes too much work.
pub fn check(contract: &Contract, value: &Document) -> Violations {
    weigh(contract, value, None)
}

/// Judges `value` like [`check`], with the source text that grounded strings are quoted from.
pub fn check_against(contract: &Contract, value: &Document, source: &Source) -> Violations {
    weigh(contract, value, Some(source))
}

/// Judges `value`, with a source text if there is one.
pub(crate) fn weigh(contract: &Contract, value: &Document, source: Option<&Source>) -> Violations {
    with_room(contract, value, || judge(contract, value, source))
}

fn judge(contract: &Contract, value: &Document, source: Option<&Source>) -> Violations {
    let meter = Meter::strict(work_limit(value)).with_source(source);
    let judged = bounded(|| contract.validator().is_valid(Probe::Node(value.root(), &meter)));
    let mut violations = Violations::default();
    if value.has_duplicates() {
        add_duplicates(value, &mut violations);
    }
    match judged {
        Ok(true) if meter.is_doubtful() => {
            violations.list.push(unjudged("cannot be judged: a rule cannot be evaluated on it"));
        }
        Ok(true) => {}
        Ok(false) => explain(contract, value, source, &mut violations),
        Err(Unfinished::Exhausted) => {
            violations.list.push(unjudged("takes too much work to judge"));
        }
        Err(Unfinished::Panicked) => {
            violations.list.push(unjudged("cannot be judged: the validator fails on it"));
        }
    }
    violations
}

/// Returns how many units a validation of `value` may take.
pub(super) fn work_limit(value: &Document) -> u64 {
    let nodes = u64::try_from(value.node_count()).unwrap_or(u64::MAX);
    nodes.saturating_mul(WORK_PER_NODE).saturating_add(BASE_WORK)
}

fn add_duplicates(value: &Document, violations: &mut Violations) {
    let duplicates = value.duplicates(VIOLATION_LIMIT);
    violations.more = value.duplicate_count() > duplicates.len();
    violations.list.extend(duplicates.into_iter().map(|duplicate| {
        let message = "occurs more than once in its object, keep one of them";
        Violation {
            pointer: duplicate.pointer,
            keyword: "duplicate_key".to_owned(),
            message: message.to_owned(),
            masked: message.to_owned(),
        }
    }));
}

fn explain(
    contract: &Contract,
    value: &Document,
    source: Option<&Source>,
    violations: &mut Violations,
) {
    let before = violations.list.len();
    let found = find(contract, value, source, |findings| {
        findings.describe(&mut violations.list, VIOLATION_LIMIT);
        findings.is_partial()
    });
    violations.more |= found != Ok(false) || violations.list.len() > VIOLATION_LIMIT;
    violations.list.truncate(VIOLATION_LIMIT);
    if violations.list.len() == before && before < VIOLATION_LIMIT {
        violations.list.push(unjudged("breaks the contract in too many ways to list"));
    }
}

fn unjudged(message: &str) -> Violation {
    Violation {
        pointer: "".into(),
        keyword: "work_limit".to_owned(),
        message: message.to_owned(),
        masked: message.to_owned(),
    }
}
