//! What is written when a session has ended: all of it in one transaction, with the state of its chain.

use serde::{Deserialize, Serialize};

use super::Brief;
use crate::redact::Redactor;
use crate::watch::cooldown::{ActionRecord, CooldownChange, settle_claims};
use crate::watch::escalation::{Escalate, PastEscalation, Waiting};
use crate::watch::event::Event;
use crate::watch::memory::{Memory, MemoryChange, MemoryPolicy, MemorySource, learn};
use crate::watch::notification::Notification;
use crate::watch::services::{ServiceState, fold_checks};
use crate::watch::session::{Extracted, Extraction, Finished, SessionStatus};
use crate::watch::tier::Tier;

/// What is known beside what a session said.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// The memories on record.
    pub memories: &'k [Memory],
    /// How services were.
    pub services: &'k [ServiceState],
    /// The actions of this session that are on record.
    pub actions: &'k [ActionRecord],
    /// The escalations of the last hour, and all of this session.
    pub escalations: &'k [PastEscalation],
    /// The escalations that wait for leave.
    pub waiting: &'k [Waiting],
    /// What masks whatever goes on record, if anything does: names are compared as they are there.
    pub redactor: Option<&'k Redactor>,
}

impl Known<'_> {
    /// Nothing.
    pub const NOTHING: Known<'static> = Known {
        memories: &[],
        services: &[],
        actions: &[],
        escalations: &[],
        waiting: &[],
        redactor: None,
    };
}

/// A session that has ended, and what it came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended<'e> {
    pub(super) session_id: &'e str,
    pub(super) brief: &'e Brief,
    pub(super) finished: &'e Finished,
    pub(super) extracted: &'e Extracted,
}

impl Ended<'_> {
    /// Returns where the session stands: one that came to its end and left nothing has failed.
    pub(super) fn status(&self) -> SessionStatus {
        match (self.finished.ending.status(), self.extracted.by) {
            (SessionStatus::Completed, Extraction::None) => SessionStatus::Failed,
            (status, Extraction::Structured | Extraction::Markers | Extraction::None) => status,
        }
    }
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// Its id.
    pub id: String,
    /// Its tier.
    pub tier: Tier,
    /// Where it stands for good.
    pub status: SessionStatus,
    /// How its yield was found.
    pub extraction: Extraction,
    /// Its summary, if it gave one.
    pub summary: Option<String>,
}

/// An escalation, and who asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The session that asked.
    pub from_session: String,
    /// What the next one is told.
    pub escalate: Escalate,
}

/// What is to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The end of the session, if it is about one.
    pub session: Option<SessionEnd>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// What changes in what is remembered.
    pub memories: Vec<MemoryChange>,
    /// What changes in how services are.
    pub services: Vec<ServiceState>,
    /// What changes in what was done to services.
    pub cooldowns: Vec<CooldownChange>,
    /// The escalation that is acted on.
    pub escalation: Option<PastEscalation>,
    /// The escalation that waits for leave: a chain may begin with it once somebody gives it.
    pub proposal: Option<Proposal>,
    /// The escalations that do not wait any more, because this one does.
    #[serde(default)]
    pub superseded: Vec<String>,
    /// What people are told: queued with the rest, sent later.
    pub notifications: Vec<Notification>,
    /// What the log should say.
    pub notes: Vec<String>,
}

impl Record {
    /// Collects what a session yields.
    pub(super) fn of(
        ended: &Ended<'_>,
        policy: &MemoryPolicy,
        known: &Known<'_>,
        now_ms: i64,
    ) -> Self {
        let Ended { session_id, brief, extracted, .. } = *ended;
        let tier = brief.tier;
        let source = MemorySource::Session { id: session_id.to_owned(), tier };
        let learned = learn(known.memories, &extracted.claims, &source, policy, now_ms);
        let mut events = extracted.events.clone();
        events.extend(learned.events);
        Self {
            session: Some(SessionEnd {
                id: session_id.to_owned(),
                tier,
                status: ended.status(),
                extraction: extracted.by,
                summary: extracted.summary.clone(),
            }),
            events,
            memories: learned.changes,
            services: fold_checks(known.services, &extracted.checks, now_ms),
            cooldowns: settle_claims(known.actions, &extracted.cooldowns, now_ms),
            escalation: None,
            proposal: None,
            superseded: Vec::new(),
            notifications: Vec::new(),
            notes: extracted.notes.clone(),
        }
    }

    /// Withdraws what is `waiting` for leave to what this asks for, too.
    pub(super) fn supersede(&mut self, waiting: &[Waiting]) {
        let Some(Proposal { escalate, .. }) = &self.proposal else { return };
        for older in waiting.iter().filter(|it| it.is_replaced_by(escalate)) {
            self.superseded.push(older.id.clone());
            self.events.push(older.replaced());
        }
    }

    /// Returns the services that the session acted on.
    pub(super) fn acted_on(&self, known: &Known<'_>) -> Vec<String> {
        let inserted = self.cooldowns.iter().filter_map(|change| match change {
            CooldownChange::Insert { service, .. } => Some(service),
            CooldownChange::Close { .. } => None,
        });
        let mut services: Vec<String> =
            known.actions.iter().map(|action| &action.service).chain(inserted).cloned().collect();
        services.sort_unstable();
        services.dedup();
        services
    }
}
