//! What a chain begins with, and whether it may.

use serde::{Deserialize, Serialize};

use super::{Chain, ChainOutcome, Next, Proposal, Record, State};
use crate::watch::escalation::{BlockedBy, EscalationPolicy, WatchMode};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::memory::MemoryPolicy;
use crate::watch::schedule::Trigger;
use crate::watch::session::Legacy;
use crate::watch::tier::Tier;

/// What a chain is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainStart {
    /// Its id.
    pub id: String,
    /// Why it began.
    pub trigger: Trigger,
    /// The tier that it begins with.
    pub tier: Tier,
    /// What somebody asked for, in their words; every session is told.
    pub request: Option<String>,
    /// What the first session is told of an earlier one: an escalation that somebody gave leave to.
    pub approved: Option<Proposal>,
}

/// What is allowed to a chain: as it was at its start, or when somebody went on with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainPolicy {
    /// What may be escalated.
    pub escalation: EscalationPolicy,
    /// Whose memories are told at once.
    pub memory: MemoryPolicy,
    /// Whether markers and handoffs are read.
    pub legacy: Legacy,
}

/// A session that is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// Its chain.
    pub chain_id: String,
    /// Its place in the chain, from 1.
    pub number: u32,
    /// Its tier.
    pub tier: Tier,
    /// Why it begins.
    pub trigger: Trigger,
    /// The session before it.
    pub parent: Option<String>,
    /// What somebody asked for.
    pub request: Option<String>,
    /// What the session before it reported, ready to be told.
    pub escalation: Option<String>,
    /// The services that it is about.
    pub affected: Vec<String>,
}

impl ChainStart {
    /// Returns the brief of the first session.
    pub(super) fn brief(&self) -> Brief {
        let approved = self.approved.as_ref();
        Brief {
            chain_id: self.id.clone(),
            number: 1,
            tier: self.tier,
            trigger: self.trigger,
            parent: approved.map(|it| it.from_session.clone()),
            request: self.request.clone(),
            escalation: approved.map(|it| it.escalate.context.clone()),
            affected: approved.map(|it| it.escalate.affected.clone()).unwrap_or_default(),
        }
    }
}

impl Chain {
    /// Returns why the chain must not begin with its tier.
    pub(super) fn refusal(&self) -> Option<BlockedBy> {
        let policy = &self.policy.escalation;
        let tier = self.start.tier;
        if tier > policy.max_tier {
            return Some(BlockedBy::MaxTier);
        }
        (policy.mode == WatchMode::DryRun && tier > Tier::Observe).then_some(BlockedBy::DryRun)
    }

    /// Ends a chain before it has begun.
    pub(super) fn refuse(&mut self, by: BlockedBy) {
        let tier = self.start.tier;
        let (level, why) = if by == BlockedBy::DryRun {
            (Level::Info, "this is a dry run".to_owned())
        } else {
            let highest = self.policy.escalation.max_tier.number();
            (Level::Warning, format!("the highest tier allowed is {highest}"))
        };
        let message = format!("a chain that begins with {tier} does not begin: {why}");
        let record = Record { events: vec![Event::of_watch(level, message)], ..Record::default() };
        let then = Next::End { outcome: ChainOutcome::Blocked(by) };
        self.state = State::Recording { record: Box::new(record), then };
    }
}
