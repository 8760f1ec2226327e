//! What came of one input: one line of a file.

use airtight_core::Violation;
use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_core::redact::Redactor;
use airtight_core::run::{Outcome, Report, RunError};
use airtight_store::{Run, RunId};
use serde::Deserialize;
use serde_json::Value;

use crate::ledger::Kept;

/// What came of one input, once and for all.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    /// The run; bad inputs have none, and neither have runs that are not recorded.
    pub(crate) run_id: Option<RunId>,
    pub(crate) end: End,
    /// How the value was obtained, if there is one.
    pub(crate) rung: Option<String>,
    /// What was done to it on the way, as a list in JSON; nothing is known of what was not kept.
    pub(crate) edits: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<Cost>,
    pub(crate) age: Age,
}

/// Whether something was asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// Just now.
    New,
    /// Before: it was on record.
    Known,
}

/// How it ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// With a value that satisfies the contract: JSON.
    Met(String),
    /// Without one.
    Failed { outcome: String, error: String, violations: Vec<Value> },
}

/// What the ledger keeps of errors.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputErrors {
    message: String,
    violations: Vec<Value>,
}

impl Settled {
    /// Returns what a run came to that is over now.
    pub(crate) fn now(run_id: Option<RunId>, report: &Report, redactor: &Redactor) -> Self {
        let value = report.value.as_ref().filter(|_| report.outcome == Outcome::Met);
        let end = match value {
            Some(value) => End::Met(value.to_compact()),
            None => failed(report, redactor),
        };
        let rung = report.rung.map(|rung| rung.name().to_owned());
        let edits = value.and_then(|_| serde_json::to_string(report.edits.listed()).ok());
        let (usage, cost) = (report.usage, report.cost);
        Self { run_id, end, rung, edits, usage, cost, age: Age::New }
    }

    /// Returns what a run had come to before, as the ledger has it.
    pub(crate) fn before(run: Run) -> Self {
        let kept = Kept::of(&run).value().map(str::to_owned);
        let Run { summary, output_errors, edits, .. } = run;
        let edits = edits.filter(|_| kept.is_ok());
        let outcome = summary.outcome.unwrap_or_default();
        let end = match kept {
            Ok(value) => End::Met(value),
            Err(why) if summary.output_valid => {
                let error = format!("the run came to `{outcome}`, and {why}");
                End::Failed { outcome, error, violations: Vec::new() }
            }
            Err(_) => {
                let errors = output_errors.unwrap_or_default();
                let errors: OutputErrors = serde_json::from_str(&errors).unwrap_or_default();
                let OutputErrors { message: error, violations } = errors;
                End::Failed { outcome, error, violations }
            }
        };
        let (rung, usage, cost) = (summary.rung, summary.usage, summary.cost_usd);
        Self { run_id: Some(summary.id), end, rung, edits, usage, cost, age: Age::Known }
    }

    /// Returns what is said of an input that cannot be used.
    pub(crate) fn unusable(why: String) -> Self {
        Self { cost: Some(Cost::default()), ..Self::without_run("input", why) }
    }

    /// Returns what is said of a run that a mistake of ours ended.
    pub(crate) fn mistaken() -> Self {
        let error = "airtight made a mistake; the run is in the ledger as unknown".to_owned();
        Self::without_run("machine", error)
    }

    /// Returns what is said of a run that is left to the next command, because its agent CLI broke down.
    pub(crate) fn broken(error: &RunError) -> Self {
        Self::without_run(error.outcome.name(), error.to_string())
    }

    fn without_run(outcome: &str, error: String) -> Self {
        let end = End::Failed { outcome: outcome.to_owned(), error, violations: Vec::new() };
        let usage = Usage::default();
        Self { run_id: None, end, rung: None, edits: None, usage, cost: None, age: Age::New }
    }

    pub(crate) fn is_met(&self) -> bool {
        matches!(self.end, End::Met(_))
    }
}

fn failed(report: &Report, redactor: &Redactor) -> End {
    let masked = |text: &str| redactor.mask(text).into_owned();
    let wrong = |violation: &Violation| {
        serde_json::json!({
            "pointer": masked(violation.pointer.as_str()),
            "keyword": violation.keyword,
            "message": masked(&violation.message),
        })
    };
    let last = report.attempts.last();
    End::Failed {
        outcome: report.outcome.name().to_owned(),
        error: report.error.as_ref().map(|error| error.told(masked)).unwrap_or_default(),
        violations: last
            .map(|it| it.violations.list.iter().map(wrong).collect())
            .unwrap_or_default(),
    }
}
