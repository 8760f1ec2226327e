//! Whether the next tier takes over, and what it is told.
//!
//! Policy comes first: tier 3 has nobody above it, whatever it asks. Everything that is asked for and not
//! done leaves an event, and a notification where somebody must act.

mod block;
mod blocked;
mod leave;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::notification::Notification;
use super::services::ServiceStatus;
use super::session::{Ask, Extracted, SessionEnding};
use super::tier::Tier;
use crate::price::Cost;

pub use block::{ESCALATION_LIMIT_CHARS, EscalationBlock, escalation_block};
pub use leave::{LEAVE_MS, Waiting};

/// One hour.
const HOUR_MS: i64 = 60 * 60 * 1_000;

/// Whether anything may be changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// It may.
    #[default]
    Live,
    /// Nothing above tier 1 is started.
    DryRun,
}

/// What may be escalated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationPolicy {
    /// The highest tier that is started.
    pub max_tier: Tier,
    /// Whether anything may be changed.
    pub mode: WatchMode,
    /// The tiers that a person must give leave to.
    pub approval: Vec<Tier>,
    /// The most sessions of one chain.
    pub most_sessions: u32,
    /// The most that a chain may have cost when one more session is started.
    pub most_cost: Option<Cost>,
    /// The most escalations to one tier within an hour.
    pub most_per_hour: u32,
}

impl Default for EscalationPolicy {
    fn default() -> Self {
        Self {
            max_tier: Tier::Remediate,
            mode: WatchMode::Live,
            approval: Vec::new(),
            // One for each tier: a chain only goes up.
            most_sessions: 3,
            most_cost: None,
            // What fails three times within an hour is not repaired by a fourth.
            most_per_hour: 3,
        }
    }
}

/// An escalation that was acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastEscalation {
    /// The session that asked.
    pub from_session: String,
    /// Who took over.
    pub to: Tier,
    /// What it was about.
    pub affected: Vec<String>,
    /// When.
    pub at_ms: i64,
}

/// What is to be decided on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'s> {
    /// The session that ended.
    pub session_id: &'s str,
    /// Its tier.
    pub tier: Tier,
    /// How it ended.
    pub ending: SessionEnding,
    /// What it yields.
    pub extracted: &'s Extracted,
    /// How many sessions its chain has had, this one included.
    pub sessions: u32,
    /// What they cost together, as far as it is known.
    pub spent: Cost,
    /// What was escalated before.
    pub past: &'s [PastEscalation],
    /// The time.
    pub now_ms: i64,
}

/// What happens after a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "of", rename_all = "snake_case")]
pub enum Decision {
    /// Nothing: nobody asked.
    Nothing,
    /// The next tier takes over.
    Escalate(Box<Escalate>),
    /// Somebody asked, and nobody takes over.
    Blocked(Box<Blocked>),
}

/// An escalation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Escalate {
    /// Who takes over.
    pub to: Tier,
    /// What it is about.
    pub affected: Vec<String>,
    /// What the next session is told.
    pub context: String,
    /// What it leaves.
    pub events: Vec<Event>,
}

/// An escalation that does not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// Why.
    pub by: BlockedBy,
    /// Who would have taken over, if there is anybody.
    pub to: Option<Tier>,
    /// What it is about.
    pub affected: Vec<String>,
    /// What waits for leave, where that is the reason.
    pub proposal: Option<Escalate>,
    /// What it leaves.
    pub events: Vec<Event>,
    /// Who must be told.
    pub notification: Option<Notification>,
}

/// Why an escalation does not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedBy {
    /// There is nobody above tier 3.
    TierThree,
    /// The policy starts no tier that high.
    MaxTier,
    /// Nothing may be changed.
    DryRun,
    /// The session failed, and only left a handoff.
    FailedSession,
    /// An operator ended the session.
    OperatorStop,
    /// The handoff cannot be acted on.
    InvalidHandoff,
    /// A person must give leave.
    NeedsApproval,
    /// It was acted on before.
    Duplicate,
    /// The chain has had all the sessions it may have.
    Depth,
    /// The chain cost all that it may.
    Cost,
    /// There were too many within an hour.
    Rate,
}

/// Decides what happens after a session.
pub fn decide(situation: &Situation<'_>, policy: &EscalationPolicy) -> Decision {
    if situation.extracted.ask == Ask::Nothing {
        return Decision::Nothing;
    }
    let to = situation.tier.next();
    if let Some(by) = obstacle(situation, policy, to) {
        return Decision::Blocked(Box::new(blocked::leave(situation, policy, by, None)));
    }
    let Some(to) = to else {
        let by = BlockedBy::TierThree;
        return Decision::Blocked(Box::new(blocked::leave(situation, policy, by, None)));
    };
    let EscalationBlock { text, warning } = escalation_block(situation.tier, situation.extracted);
    let mut events = blocked::remarks(situation);
    events.extend(warning);
    let affected = affected(situation.extracted);
    let escalate = Escalate { to, affected, context: text, events };
    if policy.approval.contains(&to) {
        let by = BlockedBy::NeedsApproval;
        return Decision::Blocked(Box::new(blocked::leave(situation, policy, by, Some(escalate))));
    }
    Decision::Escalate(Box::new(escalate))
}

/// Returns what stands against an escalation, but for leave.
fn obstacle(
    situation: &Situation<'_>,
    policy: &EscalationPolicy,
    to: Option<Tier>,
) -> Option<BlockedBy> {
    if situation.ending == SessionEnding::Stopped {
        return Some(BlockedBy::OperatorStop);
    }
    let Some(to) = to else {
        return Some(BlockedBy::TierThree);
    };
    let is_of_handoff = matches!(situation.extracted.ask, Ask::Handoff(_) | Ask::Invalid(_));
    if is_of_handoff && situation.ending != SessionEnding::FINE {
        return Some(BlockedBy::FailedSession);
    }
    if matches!(situation.extracted.ask, Ask::Invalid(_)) {
        return Some(BlockedBy::InvalidHandoff);
    }
    if to > policy.max_tier {
        return Some(BlockedBy::MaxTier);
    }
    if policy.mode == WatchMode::DryRun {
        return Some(BlockedBy::DryRun);
    }
    if situation.past.iter().any(|past| past.from_session == situation.session_id) {
        return Some(BlockedBy::Duplicate);
    }
    cap(situation, policy, to)
}

/// Returns the limit that one more session of tier `to` would exceed.
fn cap(situation: &Situation<'_>, policy: &EscalationPolicy, to: Tier) -> Option<BlockedBy> {
    if situation.sessions >= policy.most_sessions {
        return Some(BlockedBy::Depth);
    }
    if policy.most_cost.is_some_and(|most| situation.spent >= most) {
        return Some(BlockedBy::Cost);
    }
    // A time beyond now is of a clock that went back: it counts.
    let since = situation.now_ms.saturating_sub(HOUR_MS);
    let recent = situation.past.iter().filter(|past| past.to == to && past.at_ms > since).count();
    let is_full = u32::try_from(recent).map_or(true, |recent| recent >= policy.most_per_hour);
    is_full.then_some(BlockedBy::Rate)
}

/// Returns the services that a session is worried about: those that are not healthy, else the checks
/// that failed.
pub fn affected(extracted: &Extracted) -> Vec<String> {
    let unhealthy = || {
        let checks = extracted.checks.iter();
        checks.filter(|it| it.status != ServiceStatus::Healthy).map(|it| it.name.clone())
    };
    let mut names: Vec<String> = match &extracted.ask {
        Ask::Handoff(handoff) => handoff.services_affected.clone(),
        Ask::Request(request) => {
            let unhealthy: Vec<String> = unhealthy().collect();
            if unhealthy.is_empty() { request.failed_checks.clone() } else { unhealthy }
        }
        Ask::Nothing | Ask::Invalid(_) => unhealthy().collect(),
    };
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}
