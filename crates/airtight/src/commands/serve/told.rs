//! What clients are told of a run: its value, or why there is none.

use airtight_core::Violation;
use airtight_core::run::{self, Report, RunError};
use airtight_serve::{Fault, FaultKind, Record, Reply};
use airtight_store::{Run, StoreError};
use serde_json::json;

use super::bench::Bench;
use super::hints;
use crate::ledger::{Kept, Recorder};

/// Says what came of a run.
pub(super) fn told(
    report: &Report,
    recorder: &Recorder,
    bench: &Bench,
    record: Record,
) -> Result<Reply, Fault> {
    if let Some(value) = report.value.as_ref().filter(|_| report.outcome == run::Outcome::Met) {
        return Ok(Reply {
            run: recorder.id().clone(),
            value: value.to_compact(),
            usage: report.usage,
            rung: report.rung.map(|rung| rung.name().to_owned()),
            record,
        });
    }
    let masked = |text: &str| bench.redactor.mask(text).into_owned();
    let wrong = |violation: &Violation| {
        json!({
            "pointer": masked(violation.pointer.as_str()),
            "keyword": violation.keyword,
            "message": masked(&violation.message),
        })
    };
    let last = report.attempts.last().map(|attempt| &attempt.violations.list);
    let error = report.error.as_ref();
    let mut message = error.map_or_else(|| "the run failed".to_owned(), |it| it.told(masked));
    if let Some(advice) = error.and_then(|error| error.advice.as_ref()) {
        message = format!("{message}; {}", hints::advice(advice));
    }
    Err(Fault {
        kind: kind(report.outcome),
        message,
        violations: last.into_iter().flatten().map(wrong).collect(),
        run: Some(recorder.id().clone()),
    })
}

/// Says what an outcome means to the client.
fn kind(outcome: run::Outcome) -> FaultKind {
    match outcome {
        run::Outcome::Met
        | run::Outcome::NoAnswer
        | run::Outcome::AttemptsExhausted
        | run::Outcome::Refused
        | run::Outcome::Truncated
        | run::Outcome::Degenerate
        | run::Outcome::Loop
        | run::Outcome::TurnCap
        | run::Outcome::Budget => FaultKind::NotMet(outcome.name()),
        run::Outcome::Provider | run::Outcome::Harness | run::Outcome::Auth => {
            FaultKind::Provider(outcome.name())
        }
        run::Outcome::Sandbox => FaultKind::Setup,
        run::Outcome::Config => FaultKind::Contract,
        run::Outcome::Interrupted => FaultKind::Stopped,
    }
}

/// Returns the answer that a key has already: as it was accepted, or not at all.
pub(super) fn settled(found: &Run) -> Result<Reply, Fault> {
    let summary = &found.summary;
    let run = summary.id.clone();
    let why = match Kept::of(found).value() {
        Ok(value) => {
            let (value, rung) = (value.to_owned(), summary.rung.clone());
            return Ok(Reply { run, value, usage: summary.usage, rung, record: Record::Stored });
        }
        Err(why) => why,
    };
    let outcome = summary.outcome.as_deref().unwrap_or("unknown");
    let message = format!(
        "the run of this `Idempotency-Key` came to `{outcome}`, and {why}: choose another key; \
         with `policy.store` at `full`, values are kept"
    );
    Err(Fault { run: Some(run), ..Fault::new(FaultKind::Unkept, message) })
}

pub(super) fn unfit(bench: &Bench, error: &RunError) -> Fault {
    let message = error.told(|text| bench.redactor.mask(text).into_owned());
    let hint = error.advice.iter().map(hints::advice);
    let words: Vec<String> = [message].into_iter().chain(hint).collect();
    Fault::new(kind(error.outcome), words.join("; "))
}

pub(super) fn refused(error: &StoreError) -> Fault {
    if let StoreError::OtherJob { .. } = error {
        let message = "this `Idempotency-Key` belongs to another question: choose another key";
        return Fault::new(FaultKind::KeyTaken, message);
    }
    // A name that no database takes is the client's to change.
    let is_name = matches!(error, StoreError::Nul { .. } | StoreError::TooLarge { .. });
    let kind = if is_name { FaultKind::Contract } else { FaultKind::Ledger };
    Fault::new(kind, format!("nothing was asked: {error}"))
}

pub(super) fn without_contract() -> Fault {
    let message = "there is no contract to answer by: send a format of `json_schema`, force a tool, or \
                   name a contract as the `model`";
    Fault::new(FaultKind::Contract, message)
}

pub(super) fn mistake() -> Fault {
    Fault::new(FaultKind::Mistake, "airtight made a mistake")
}
