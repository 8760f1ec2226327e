//! What came of a run, for Rust programs.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_core::run::{Attempt, Outcome, Report, RunError, Rung};
use airtight_core::{Document, Edits, Loss, Pointer};
use serde::de::DeserializeOwned;

/// An answer that satisfies its contract.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    /// The answer as its type.
    pub value: T,
    /// The answer exactly as it was judged, digit for digit.
    pub document: Document,
    /// How it was obtained.
    pub rung: Rung,
    /// Every attempt, the accepted one last.
    pub attempts: Vec<Attempt>,
    /// What was changed in what the model said.
    pub edits: Edits,
    /// Places of an extracted answer that cannot be looked up in what the model said.
    pub unchecked: Vec<Pointer>,
    /// What the provider was not asked to enforce.
    pub losses: Vec<Loss>,
    /// All tokens, failed requests included.
    pub usage: Usage,
    /// What they cost; absent if the price of the model is not known, or what a request used.
    pub cost: Option<Cost>,
    /// Model calls.
    pub turns: u32,
}

/// Why a run delivered no answer.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RunFailure {
    /// How it ended.
    pub outcome: Outcome,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Everything that is known, if the run began.
    pub report: Option<Box<Report>>,
    #[source]
    source: Option<serde_json::Error>,
}

impl RunFailure {
    pub(crate) fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self { outcome, message: message.into(), hint: None, report: None, source: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<RunError> for RunFailure {
    fn from(error: RunError) -> Self {
        Self {
            hint: error.advice.as_ref().map(ToString::to_string),
            ..Self::new(error.outcome, error.to_string())
        }
    }
}

/// Reads a finished run.
pub(crate) fn read<T: DeserializeOwned>(report: Report) -> Result<Answer<T>, RunFailure> {
    let failed = |report: Report| {
        let error = report.error.clone();
        let failure = match error {
            Some(error) => RunFailure::from(error),
            None => RunFailure::new(report.outcome, "the run delivered no answer"),
        };
        RunFailure { report: Some(Box::new(report)), ..failure }
    };
    let (Outcome::Met, Some(document), Some(rung)) = (report.outcome, &report.value, report.rung)
    else {
        return Err(failed(report));
    };
    match serde_json::from_str(&document.to_compact()) {
        Ok(value) => Ok(Answer {
            value,
            document: document.clone(),
            rung,
            attempts: report.attempts,
            edits: report.edits,
            unchecked: report.unchecked,
            losses: report.losses,
            usage: report.usage,
            cost: report.cost,
            turns: report.turns,
        }),
        // The contract is weaker than the type: it accepts what cannot be read.
        Err(error) => Err(RunFailure {
            source: Some(error),
            report: Some(Box::new(report)),
            ..RunFailure::new(Outcome::Config, "the answer conforms but is not of the Rust type")
        }),
    }
}
