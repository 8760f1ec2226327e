//! What is written when a session has ended: all of it in one transaction, with the state of its chain.

use serde::{Deserialize, Serialize};

use super::Brief;
use crate::watch::cooldown::{ActionRecord, CooldownChange, settle_claims};
use crate::watch::escalation::{Escalate, PastEscalation};
use crate::watch::event::Event;
use crate::watch::memory::{Memory, MemoryChange, MemoryPolicy, MemorySource, learn};
use crate::watch::notification::Notification;
use crate::watch::services::{ServiceChange, ServiceState, fold_checks};
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
}

impl Known<'_> {
    /// Nothing.
    pub const NOTHING: Known<'static> =
        Known { memories: &[], services: &[], actions: &[], escalations: &[] };
}

/// A session that has ended, and what it came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended<'e> {
    pub(super) session_id: &'e str,
    pub(super) brief: &'e Brief,
    pub(super) finished: &'e Finished,
    pub(super) extracted: &'e Extracted,
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
    /// Its exit code, if it has one.
    pub exit_code: Option<i32>,
    /// How its yield was found.
    pub extraction: Extraction,
    /// Its summary, if it gave one.
    pub summary: Option<String>,
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
    pub services: Vec<ServiceChange>,
    /// What changes in what was done to services.
    pub cooldowns: Vec<CooldownChange>,
    /// The escalation that is acted on.
    pub escalation: Option<PastEscalation>,
    /// The escalation that waits for leave: a chain may begin with it once somebody gives it.
    pub proposal: Option<Escalate>,
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
        let Ended { session_id, brief, finished, extracted } = *ended;
        let tier = brief.tier;
        let source = MemorySource::Session { id: session_id.to_owned(), tier };
        let learned = learn(known.memories, &extracted.claims, &source, policy, now_ms);
        let mut events = extracted.events.clone();
        events.extend(learned.events);
        Self {
            session: Some(SessionEnd {
                id: session_id.to_owned(),
                tier,
                status: finished.ending.status(),
                exit_code: finished.ending.exit_code(),
                extraction: extracted.by,
                summary: extracted.summary.clone(),
            }),
            events,
            memories: learned.changes,
            services: fold_checks(known.services, &extracted.checks, now_ms),
            cooldowns: settle_claims(known.actions, &finished.markers.cooldowns, now_ms),
            escalation: None,
            proposal: None,
            notifications: Vec::new(),
            notes: extracted.notes.clone(),
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
