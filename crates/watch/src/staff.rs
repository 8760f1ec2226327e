//! Who does the work of a session: asks a model, drives an agent CLI.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use airtight_core::price::Cost;
use airtight_core::watch::{ExitClaim, Payload, Retold, SessionEnding, Tier};
use airtight_store::{Lead, Ledger, Minutes, StoreError};
use tokio_util::sync::CancellationToken;

use crate::guard::Gatekeeper;

/// What a session is to do.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The name of the session, and of its run.
    pub session: String,
    /// Its tier.
    pub tier: Tier,
    /// Standing instructions: the operator's, never what a session wrote.
    pub task: String,
    /// What is asked, and everything that is known, as data.
    pub prompt: String,
    /// Who must be asked before a tool is called.
    pub guard: Arc<Gatekeeper>,
    /// Where the hooks of an agent CLI ask, if there is such a place.
    pub door: Option<PathBuf>,
    /// Ends the session cleanly.
    pub interrupt: CancellationToken,
}

/// Sees every line of a session's stream.
pub trait Witness: Send {
    /// Takes a line: JSON.
    fn line(&mut self, json: &str);
}

/// Who answers in a tier, as the ledger names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// What drives the model.
    pub driver: String,
    /// The model.
    pub model: String,
}

/// Does the work of sessions.
pub trait Staff: Send + Sync {
    /// Says who answers in a tier.
    fn who(&self, tier: Tier) -> Who;

    /// Does the work of one session to its end, which nothing is on record of until it is settled.
    fn perform(
        &self,
        assignment: Assignment,
        witness: &mut dyn Witness,
    ) -> impl Future<Output = Performed> + Send;

    /// Puts what a session said in a few sentences, if somebody is there for that; `interrupt` ends it
    /// cleanly.
    fn retell(
        &self,
        _said: &str,
        _interrupt: CancellationToken,
    ) -> impl Future<Output = Retold> + Send {
        async { Retold::Not }
    }
}

/// What a session came to.
pub struct Performed {
    /// How it ended.
    pub ending: SessionEnding,
    /// Its structured answer.
    pub payload: Payload,
    /// What the model said in text, block by block.
    pub said: Vec<String>,
    /// What it answered in words, if a program says so.
    pub result: Option<String>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// How often the model was asked.
    pub turns: Option<i64>,
    /// What it cost, if known.
    pub cost: Option<Cost>,
    /// Whether work was left behind that had not ended.
    pub pending: bool,
    /// Puts the end of its run on record.
    pub account: Box<dyn Account>,
}

impl Performed {
    /// The end of a session that could not be worked on, or not be kept.
    pub(crate) const FAILED: SessionEnding =
        SessionEnding::Exited { code: 1, claim: ExitClaim::Error };

    /// Returns a session that could not be worked on at all.
    pub fn failed(ledger: Ledger, failure: String) -> Self {
        Self {
            ending: Self::FAILED,
            payload: Payload::Absent,
            said: Vec::new(),
            result: None,
            failure: Some(failure),
            turns: None,
            cost: None,
            pending: false,
            account: Box::new(NoRun(ledger)),
        }
    }
}

/// What has to be done before the watch goes on.
pub type Settling<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

/// The end of a run that is not on record yet.
pub trait Account: Send + Sync {
    /// Puts it on record together with `minutes`, or nothing of either; asked again where that failed.
    fn settle(&self, lead: Lead, minutes: Minutes) -> Settling<'_>;
}

/// A session without a run: its minutes are all there is.
pub struct NoRun(pub Ledger);

impl Account for NoRun {
    fn settle(&self, lead: Lead, minutes: Minutes) -> Settling<'_> {
        Box::pin(async move { self.0.minute(lead, minutes).await })
    }
}
