//! How a run ends: in one transaction, once.

use std::time::Duration;

use airtight_core::codec::Usage;
use airtight_core::price::Cost;

use super::attempt::AttemptEnd;
use super::event::NewEvent;
use super::record::Review;
use crate::queue::{Again, Claim};
use crate::watch::{Lead, Minutes};

/// The end of a run. All of it is stored, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finish {
    /// How it ended: the name of core's `Outcome`, or another word.
    pub outcome: String,
    /// How the value was obtained: the name of core's `Rung`, or another word.
    pub rung: Option<String>,
    /// What the model said, exactly as received; never the repaired text.
    pub output: Option<Vec<u8>>,
    /// The accepted value: JSON.
    pub parsed: Option<String>,
    /// What is wrong with the output: JSON.
    pub errors: Option<String>,
    /// What was changed in the accepted answer: JSON.
    pub edits: Option<String>,
    /// What the provider was not asked to enforce: JSON.
    pub losses: Option<String>,
    /// The places of the accepted value that nobody could look up: JSON.
    pub unchecked: Option<String>,
    /// Answers that were judged.
    pub attempts: i64,
    /// Answers that were stopped early.
    pub early_cancels: i64,
    /// An estimate of the tokens which that saved.
    pub tokens_saved: i64,
    /// All tokens, failed requests included.
    pub usage: Usage,
    /// What they cost, if known.
    pub cost: Option<Cost>,
    /// How long it took; absent, the ledger's clock says.
    pub elapsed: Option<Duration>,
    /// Attempts that are closed with it. Others that are still open are closed as `unknown`.
    pub ended: Vec<AttemptEnd>,
    /// The last events.
    pub events: Vec<NewEvent>,
    /// Whether a person should look at it.
    pub review: Review,
    /// The job of the queue that this completes.
    pub claim: Option<Claim>,
    /// What a session of the watch yields: written with the end, and the end with it.
    pub minutes: Option<(Lead, Minutes)>,
}

/// Work that is to be tried again later: the run stays open, and nobody's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Postponed {
    /// When its job is offered again.
    pub again: Again,
    /// Why, masked before it is stored.
    pub error: String,
    /// Attempts that are closed with it.
    pub ended: Vec<AttemptEnd>,
    /// Events so far.
    pub events: Vec<NewEvent>,
    /// The job of the queue that goes back to it.
    pub claim: Option<Claim>,
}
