//! What follows when whoever watched a chain is gone.
//!
//! The rule it protects: nothing that had begun is begun again, and nothing begins that would not begin
//! today, by what is known and by the policy in force.

use super::{
    Brief, Chain, ChainOutcome, ChainPolicy, ChainSession, Decision, Next, Proposal, Record,
    STALE_MS, SessionEnd, Situation, State, decide,
};
use crate::watch::cooldown::ActionRecord;
use crate::watch::escalation::{Blocked, Escalate};
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::notification::{Notification, NotificationCategory};
use crate::watch::response::EscalationRequest;
use crate::watch::session::{Ask, Extracted, Extraction, SessionEnding};
use crate::watch::tier::Tier;

/// Why an escalation is asked for that was left between two sessions: its own words are in its report.
const ASKED_BEFORE: &str = "the session before it asked, and the watch was gone before it began";

impl Chain {
    /// Goes on with a chain that was stored by a watch that is gone, by the `policy` of today.
    ///
    /// A session that had begun is lost; one that had not begins, unless what is known is old or policy
    /// says no by now. What a lost session had reserved or done to services is in `actions`: it is looked
    /// at again.
    pub fn recovered(&mut self, policy: ChainPolicy, actions: &[ActionRecord], now_ms: i64) {
        self.policy = policy;
        match &self.state {
            State::Running { brief, session_id } => {
                let (brief, session_id) = (brief.clone(), session_id.clone());
                let is_own = |it: &&ActionRecord| it.session_id.as_deref() == Some(&session_id);
                self.act_on(actions.iter().filter(is_own).map(|it| it.service.clone()));
                self.lose(&brief, &session_id, now_ms);
            }
            State::Clearing { then: Next::Run { brief } } | State::Ready { brief } => {
                let brief = brief.clone();
                self.reconsider(&brief, now_ms);
            }
            State::Clearing { then: Next::End { .. } }
            | State::Recording { .. }
            | State::Over { .. } => {}
        }
    }

    /// Decides anew about a session that has not begun.
    fn reconsider(&mut self, brief: &Brief, now_ms: i64) {
        if now_ms.saturating_sub(self.moved_at_ms) > STALE_MS {
            let message = format!(
                "{} did not begin: its chain was left for over an hour, and what it knows is old",
                brief.tier
            );
            let event = Event::of_watch(Level::Warning, message);
            return self.end_with(ChainOutcome::Stale, event, now_ms);
        }
        let Some(before) = self.sessions.last() else {
            if let Some(by) = self.refusal() {
                self.refuse(by);
            }
            return;
        };
        let Decision::Blocked(blocked) = self.decide_again(before, brief, now_ms) else { return };
        let Blocked { by, proposal, events, notification, .. } = *blocked;
        let proposal = proposal.map(|escalate| Proposal {
            from_session: before.id.clone(),
            escalate: Escalate {
                context: brief.escalation.clone().unwrap_or_default(),
                ..escalate
            },
        });
        let notifications = notification.into_iter().collect();
        let record = Record { events, proposal, notifications, ..Record::default() };
        let then = Next::End { outcome: ChainOutcome::Blocked(by) };
        self.state = State::Recording { record: Box::new(record), then };
        self.moved_at_ms = now_ms;
    }

    /// Decides whether the session `before` would be followed by another today.
    fn decide_again(&self, before: &ChainSession, brief: &Brief, now_ms: i64) -> Decision {
        let request = EscalationRequest {
            reason: Some(ASKED_BEFORE.to_owned()),
            context: None,
            failed_checks: brief.affected.clone(),
        };
        let extracted = Extracted {
            by: Extraction::Structured,
            summary: brief.escalation.clone(),
            ask: Ask::Request(request),
            ..Extracted::nothing()
        };
        let situation = Situation {
            session_id: &before.id,
            tier: before.tier,
            ending: SessionEnding::FINE,
            extracted: &extracted,
            sessions: brief.number.saturating_sub(1),
            spent: self.spent,
            // It is on record as acted on, and must not count against itself.
            past: &[],
            now_ms,
        };
        decide(&situation, &self.policy.escalation)
    }

    fn lose(&mut self, brief: &Brief, session_id: &str, now_ms: i64) {
        let tier = brief.tier;
        let message =
            format!("the watch was gone while {tier} was at work; what it did is not known");
        let level = if tier == Tier::Observe { Level::Warning } else { Level::Critical };
        let notification = (tier > Tier::Observe).then(|| Notification {
            category: NotificationCategory::HumanAttention,
            cause: format!("lost {tier}"),
            title: format!("Needs human attention: {tier} was interrupted"),
            body: format!("{message}. Its session is {session_id}."),
        });
        let session = SessionEnd {
            id: session_id.to_owned(),
            tier,
            status: SessionEnding::Lost.status(),
            extraction: Extraction::None,
            summary: None,
        };
        self.settle_session(session_id, session.status, session.extraction);
        let record = Record {
            session: Some(session),
            events: vec![Event::of_watch(level, message)],
            notifications: notification.into_iter().collect(),
            ..Record::default()
        };
        let then = Next::End { outcome: ChainOutcome::Lost };
        self.state = State::Recording { record: Box::new(record), then };
        self.moved_at_ms = now_ms;
    }
}
