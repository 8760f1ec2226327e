//! Attempts: a row before the request leaves, closed after.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use serde::Serialize;

/// A request that is about to leave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewAttempt {
    /// Who serves the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What it is for, if not for the answer: `extract`, a subagent.
    pub purpose: String,
}

/// What came of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptEnd {
    /// The number that opening it returned.
    pub number: i64,
    /// How it ended, in a word: those of core's `Ending`, or a failure.
    pub ending: String,
    /// Which rung the answer was on.
    pub rung: Option<String>,
    /// What was said, exactly; absent if nothing was, or if it is the output of the run.
    pub output: Option<Vec<u8>>,
    /// What is wrong with it: JSON.
    pub violations: Option<String>,
    /// Why there is none, masked before it is stored.
    pub error: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What that cost, if known.
    pub cost: Option<Cost>,
}

/// One attempt, as the ledger knows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Its number in the run, from 1.
    pub number: i64,
    /// Whether it is over.
    pub state: AttemptState,
    /// Who served the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What it was for, if not for the answer.
    pub purpose: String,
    /// How it ended.
    pub ending: Option<String>,
    /// Which rung the answer was on.
    pub rung: Option<String>,
    /// What was said, if it is not the output of the run.
    #[serde(serialize_with = "crate::form::serialize_bytes")]
    pub output: Option<Vec<u8>>,
    /// What is wrong with it: JSON.
    #[serde(serialize_with = "crate::form::serialize_json")]
    pub violations: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// What that cost, if known.
    pub cost_usd: Option<Cost>,
    /// When it was opened, in Unix milliseconds.
    pub started_at: i64,
    /// When it was closed.
    pub ended_at: Option<i64>,
}

/// Whether an attempt is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AttemptState {
    /// Its request is under way.
    Open,
    /// It is over.
    Closed,
    /// Its process is gone: it may have been answered and paid, or never sent.
    Unknown,
    /// It came after another process had taken the run over; it counts for nothing.
    Stray,
}

impl AttemptState {
    pub(crate) fn named(word: &str) -> Self {
        match word {
            "open" => Self::Open,
            "closed" => Self::Closed,
            "stray" => Self::Stray,
            _ => Self::Unknown,
        }
    }
}
