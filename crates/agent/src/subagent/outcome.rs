//! What the one who sent a subagent is told.

use airtight_core::message::ToolStatus;
use airtight_core::run::{self, Report};
use tokio_util::sync::CancellationToken;

use crate::tools::preview;

/// What came of a subagent.
#[derive(Debug)]
pub(super) struct Outcome(Result<String, SubagentError>);

/// Why a subagent brought nothing back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SubagentError {
    #[error("the subagent was cancelled: the run that sent it is over")]
    Aborted,
    #[error("the subagent's answer was rejected {attempts} times: {reason}")]
    AttemptsExhausted { attempts: usize, reason: String },
    #[error("the subagent ended without ever giving an answer that fits the schema")]
    NeverAttempted,
    #[error("the subagent did not complete: {reason}")]
    Incomplete { reason: String },
}

impl Outcome {
    /// Reads the report of a subagent whose caller may have given it up.
    pub(super) fn of(report: Report, cancel: &CancellationToken) -> Self {
        if cancel.is_cancelled() {
            return Self(Err(SubagentError::Aborted));
        }
        Self(read(report))
    }

    /// Returns the word that notifications use.
    pub(super) fn status(&self) -> &'static str {
        match &self.0 {
            Ok(_) => "completed",
            Err(SubagentError::Aborted) => "cancelled",
            Err(_) => "failed",
        }
    }

    /// Returns what the model is told.
    pub(super) fn told(&self) -> (ToolStatus, String) {
        match &self.0 {
            Ok(text) => (ToolStatus::Done, preview(text.clone())),
            Err(error) => (ToolStatus::Failed, format!("Error: {error}")),
        }
    }
}

fn read(report: Report) -> Result<String, SubagentError> {
    let attempts = report.attempts.len();
    let reason = report.error.map(|error| error.to_string()).unwrap_or_default();
    match report.outcome {
        run::Outcome::Met => {
            let value = report.value.map(|value| value.to_compact());
            Ok(value.or(report.text).unwrap_or_default())
        }
        run::Outcome::AttemptsExhausted => {
            Err(SubagentError::AttemptsExhausted { attempts, reason })
        }
        run::Outcome::NoAnswer => Err(SubagentError::NeverAttempted),
        run::Outcome::Interrupted => Err(SubagentError::Aborted),
        run::Outcome::Refused
        | run::Outcome::Truncated
        | run::Outcome::Degenerate
        | run::Outcome::Loop
        | run::Outcome::Provider
        | run::Outcome::Harness
        | run::Outcome::Auth
        | run::Outcome::Sandbox
        | run::Outcome::Config
        | run::Outcome::TurnCap
        | run::Outcome::Budget => Err(SubagentError::Incomplete { reason }),
    }
}
