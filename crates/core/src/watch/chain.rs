//! One chain: from tier 1 up, session by session, until nobody asks for more or policy says no.
//!
//! A machine without I/O: [`Chain::step`] says what to do, and what came of it is fed back. Its state is
//! data: whoever stores it before each step can be killed at any point and goes on without doing anything
//! twice. A session that had begun is never begun again: what it did is not known, and that is told.

mod beginning;
mod ending;
#[cfg(test)]
mod laws;
mod record;
mod recovery;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::escalation::{BlockedBy, Decision, Situation, decide};
use super::schedule::Trigger;
use super::session::{Extracted, Extraction, Finished, SessionStatus};
use super::tier::Tier;
use crate::price::Cost;

use record::Ended;

pub use beginning::{Brief, ChainPolicy, ChainStart};
pub use record::{Known, Proposal, Record, SessionEnd};

/// A chain that was left for longer than this is not gone on with: what it knows is old.
pub const STALE_MS: i64 = 60 * 60 * 1_000;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Delete the handoff file if there is one, then say [`Chain::performed`].
    DeleteHandoff,
    /// Say [`Chain::began`], store that with the session's row, run it, and say [`Chain::finished`].
    ///
    /// Where it cannot even begin, say [`Chain::aborted`].
    RunTier(Box<Brief>),
    /// Write all of this and the state after [`Chain::performed`] in one transaction.
    Record(Box<Record>),
    /// It is over.
    Done(ChainOutcome),
}

/// How a chain ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "of", rename_all = "snake_case")]
pub enum ChainOutcome {
    /// Nobody asks for more.
    Settled {
        /// The services that were acted on, to be looked at again.
        acted_on: Vec<String>,
    },
    /// Somebody does, and policy says no.
    Blocked(BlockedBy),
    /// A session could not begin.
    Aborted,
    /// The watch was gone while a session ran.
    Lost,
    /// It was left for too long.
    Stale,
    /// An operator ended it.
    Stopped,
    /// A session failed, and asked for nothing.
    Failed,
}

/// Something was fed back that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a chain that is {is} cannot be told that it {told}")]
pub struct OutOfTurn {
    is: &'static str,
    told: &'static str,
}

/// One chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    start: ChainStart,
    policy: ChainPolicy,
    state: State,
    sessions: Vec<ChainSession>,
    spent: Cost,
    acted_on: Vec<String>,
    /// When it was told something last.
    moved_at_ms: i64,
}

/// A session of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainSession {
    /// Its id.
    pub id: String,
    /// Its tier.
    pub tier: Tier,
    /// Where it stands.
    pub status: SessionStatus,
    /// How its yield was found, once it has ended.
    #[serde(default)]
    pub extraction: Option<Extraction>,
}

/// Where a chain stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum State {
    /// A handoff is to be deleted, then this happens.
    Clearing { then: Next },
    /// A session is to begin.
    Ready { brief: Box<Brief> },
    /// It did.
    Running { brief: Box<Brief>, session_id: String },
    /// Its yield is to be written, then this happens.
    Recording { record: Box<Record>, then: Next },
    /// It is over.
    Over { outcome: ChainOutcome },
}

/// What happens when everything is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Next {
    /// A session begins.
    Run { brief: Box<Brief> },
    /// The chain is over.
    End { outcome: ChainOutcome },
}

impl Chain {
    /// Begins a chain; one whose tier the policy does not allow ends with an event.
    pub fn begin(start: ChainStart, policy: ChainPolicy, now_ms: i64) -> Self {
        let mut chain = Self {
            state: State::Clearing { then: Next::Run { brief: Box::new(start.brief()) } },
            sessions: Vec::new(),
            spent: Cost::default(),
            acted_on: Vec::new(),
            moved_at_ms: now_ms,
            start,
            policy,
        };
        if let Some(by) = chain.refusal() {
            chain.refuse(by);
        }
        chain
    }

    /// Returns its id.
    pub fn id(&self) -> &str {
        &self.start.id
    }

    /// Returns the tier that it begins with.
    pub fn first_tier(&self) -> Tier {
        self.start.tier
    }

    /// Returns why it began.
    pub fn trigger(&self) -> Trigger {
        self.start.trigger
    }

    /// Returns its sessions so far, from the first.
    pub fn sessions(&self) -> &[ChainSession] {
        &self.sessions
    }

    /// Returns the services that its sessions acted on so far.
    pub fn acted_on(&self) -> &[String] {
        &self.acted_on
    }

    /// Returns how it ended, if it did.
    pub fn outcome(&self) -> Option<&ChainOutcome> {
        match &self.state {
            State::Over { outcome } => Some(outcome),
            State::Clearing { .. }
            | State::Ready { .. }
            | State::Running { .. }
            | State::Recording { .. } => None,
        }
    }

    /// Says what to do next; the same again until something is fed back.
    ///
    /// While a session runs it is its brief: nobody may act on that but who said [`Chain::began`].
    pub fn step(&self) -> Step {
        match &self.state {
            State::Clearing { .. } => Step::DeleteHandoff,
            State::Ready { brief } | State::Running { brief, .. } => Step::RunTier(brief.clone()),
            State::Recording { record, .. } => Step::Record(record.clone()),
            State::Over { outcome } => Step::Done(outcome.clone()),
        }
    }

    /// Tells that a handoff was deleted or a record written.
    pub fn performed(&mut self, now_ms: i64) -> Result<(), OutOfTurn> {
        self.state = match &self.state {
            State::Recording { then, .. } => State::Clearing { then: then.clone() },
            State::Clearing { then: Next::Run { brief } } => State::Ready { brief: brief.clone() },
            State::Clearing { then: Next::End { outcome } } => {
                State::Over { outcome: outcome.clone() }
            }
            State::Ready { .. } | State::Running { .. } | State::Over { .. } => {
                return Err(self.out_of_turn("performed a step"));
            }
        };
        self.moved_at_ms = now_ms;
        Ok(())
    }

    /// Tells that the session begins now.
    pub fn began(&mut self, session_id: impl Into<String>, now_ms: i64) -> Result<(), OutOfTurn> {
        let State::Ready { brief } = &self.state else {
            return Err(self.out_of_turn("began a session"));
        };
        let (brief, session_id) = (brief.clone(), session_id.into());
        let (id, status) = (session_id.clone(), SessionStatus::Running);
        self.sessions.push(ChainSession { id, tier: brief.tier, status, extraction: None });
        self.state = State::Running { brief, session_id };
        self.moved_at_ms = now_ms;
        Ok(())
    }

    /// Tells what the session came to, and what is known beside it.
    pub fn finished(
        &mut self,
        finished: &Finished,
        known: &Known<'_>,
        now_ms: i64,
    ) -> Result<(), OutOfTurn> {
        let State::Running { brief, session_id } = &self.state else {
            return Err(self.out_of_turn("finished a session"));
        };
        let (brief, session_id) = (brief.clone(), session_id.clone());
        let mut extracted = Extracted::of(finished, brief.tier, self.policy.legacy);
        if let Some(redactor) = known.redactor {
            extracted.mask(redactor);
        }
        if let Some(cost) = finished.cost {
            self.spent += cost;
        }
        let decision = decide(
            &Situation {
                session_id: &session_id,
                tier: brief.tier,
                ending: finished.ending,
                extracted: &extracted,
                sessions: brief.number,
                spent: self.spent,
                past: known.escalations,
                now_ms,
            },
            &self.policy.escalation,
        );
        let ended =
            Ended { session_id: &session_id, brief: &brief, finished, extracted: &extracted };
        let mut record = Record::of(&ended, &self.policy.memory, known, now_ms);
        self.act_on(record.acted_on(known));
        self.moved_at_ms = now_ms;
        let then = self.follow(&ended, decision, &mut record);
        record.supersede(known.waiting);
        if let Some(end) = &record.session {
            self.settle_session(&end.id, end.status, end.extraction);
        }
        self.state = State::Recording { record: Box::new(record), then };
        Ok(())
    }

    /// Adds services that were acted on.
    fn act_on(&mut self, services: impl IntoIterator<Item = String>) {
        self.acted_on.extend(services);
        self.acted_on.sort_unstable();
        self.acted_on.dedup();
    }

    fn settle_session(&mut self, id: &str, status: SessionStatus, extraction: Extraction) {
        if let Some(session) = self.sessions.iter_mut().find(|it| it.id == id) {
            session.status = status;
            session.extraction = Some(extraction);
        }
    }

    fn out_of_turn(&self, told: &'static str) -> OutOfTurn {
        let is = match &self.state {
            State::Clearing { .. } => "about to delete a handoff",
            State::Ready { .. } => "about to begin a session",
            State::Running { .. } => "in a session",
            State::Recording { .. } => "about to be recorded",
            State::Over { .. } => "over",
        };
        OutOfTurn { is, told }
    }
}
