//! From the report of a run to what the ledger keeps of its end.

use airtight_core::codec::{FailureKind, ProviderFailure};
use airtight_core::redact::Redactor;
use airtight_core::run::{Ending, Outcome, Report, Rung};
use airtight_core::verdict::Violations;
use airtight_core::{Document, Violation};
use airtight_store::{AttemptEnd, Finish, Review};
use serde::Serialize;

/// Why an output is not valid, as the ledger keeps it: `outputErrors`.
#[derive(Debug, Serialize)]
struct OutputErrors {
    /// What the user was told.
    message: String,
    /// What is wrong with the last answer.
    violations: Vec<Wrong>,
    /// Whether there are more violations than listed.
    more_violations: bool,
}

/// One way in which an answer breaks the contract.
#[derive(Debug, Serialize)]
struct Wrong {
    pointer: String,
    keyword: String,
    message: String,
}

/// Returns what is kept of the end of a run.
pub(super) fn finish(report: &Report, redactor: &Redactor) -> Finish {
    let is_met = report.outcome == Outcome::Met;
    let is_cancelled = |ending: &Ending| *ending == Ending::Cancelled;
    let cancelled = report.attempts.iter().filter(|it| is_cancelled(&it.ending)).count();
    Finish {
        outcome: report.outcome.name().to_owned(),
        rung: report.rung.map(|rung| rung.name().to_owned()),
        output: output(report).map(|said| said.as_bytes().to_vec()),
        parsed: report.value.as_ref().filter(|_| is_met).map(Document::to_compact),
        errors: (!is_met).then(|| errors(report, redactor)).flatten(),
        edits: json(report.edits.listed()),
        losses: json(&report.losses),
        unchecked: json(&report.unchecked),
        attempts: count(report.attempts.len()),
        early_cancels: count(cancelled),
        tokens_saved: i64::try_from(report.tokens_saved).unwrap_or(i64::MAX),
        usage: report.usage,
        cost: report.cost,
        elapsed: Some(report.elapsed),
        review: if report.needs_review() { Review::Flagged } else { Review::None },
        ..Finish::default()
    }
}

/// Returns what the model said, exactly: the answer that was accepted, else its last words. What an
/// extractor said is on record as an attempt.
fn output(report: &Report) -> Option<&str> {
    let own = || report.attempts.iter().filter(|attempt| attempt.rung != Rung::Extract);
    let accepted = own().rfind(|attempt| attempt.ending == Ending::Accepted);
    let last = || own().next_back().map(|attempt| attempt.raw.as_str());
    match accepted {
        Some(attempt) => Some(&attempt.raw),
        None => report.raw.as_deref().or_else(last),
    }
}

fn errors(report: &Report, redactor: &Redactor) -> Option<String> {
    let violations = report.attempts.last().map(|attempt| &attempt.violations);
    let told =
        |error: &airtight_core::run::RunError| error.told(|text| redactor.mask(text).into_owned());
    let failures = Failures { redactor };
    json_of(&OutputErrors {
        message: report.error.as_ref().map(told).unwrap_or_default(),
        violations: violations.map(|all| failures.wrongs(all)).unwrap_or_default(),
        more_violations: violations.is_some_and(|all| all.more),
    })
}

/// Returns an attempt without what was said in it, if that is the output of the run.
pub(super) fn without(end: AttemptEnd, output: Option<&[u8]>) -> AttemptEnd {
    let is_output = end.output.is_some() && end.output.as_deref() == output;
    if is_output { AttemptEnd { output: None, ..end } } else { end }
}

/// Tells failures without secrets.
pub(super) struct Failures<'r> {
    pub(super) redactor: &'r Redactor,
}

impl Failures<'_> {
    /// Returns what a provider says of its failure.
    pub(super) fn told(&self, failure: &ProviderFailure) -> String {
        self.redactor.mask(&failure.message).into_owned()
    }

    /// Returns violations as JSON, nothing if there are none.
    pub(super) fn violations(&self, violations: &Violations) -> Option<String> {
        json(&self.wrongs(violations))
    }

    fn wrongs(&self, violations: &Violations) -> Vec<Wrong> {
        let masked = |text: &str| self.redactor.mask(text).into_owned();
        let wrong = |violation: &Violation| Wrong {
            pointer: masked(violation.pointer.as_str()),
            keyword: violation.keyword.clone(),
            message: masked(&violation.message),
        };
        violations.list.iter().map(wrong).collect()
    }
}

/// Returns the word for how an answer ended.
pub(super) fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Accepted => "accepted",
        Ending::Rejected => "rejected",
        Ending::Cancelled => "cancelled",
        Ending::Truncated => "truncated",
        Ending::Refused => "refused",
        Ending::Degenerate => "degenerate",
        Ending::Vetoed => "vetoed",
        Ending::Failed => "failed",
    }
}

/// Returns the word for how a request failed.
pub(super) fn failure_word(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Auth => "auth",
        FailureKind::RateLimit => "rate_limit",
        FailureKind::Overload => "overload",
        FailureKind::Request => "request",
        FailureKind::Unfit => "unfit",
        FailureKind::Unreachable => "unreachable",
        FailureKind::Network => "network",
        FailureKind::Stalled => "stalled",
        FailureKind::Malformed => "malformed",
        FailureKind::Program => "program",
        FailureKind::Rejected => "rejected",
        FailureKind::TurnCap => "turn_cap",
        FailureKind::Budget => "budget",
    }
}

fn json<T: Serialize>(list: &[T]) -> Option<String> {
    if list.is_empty() { None } else { json_of(&list) }
}

fn json_of(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}

fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
