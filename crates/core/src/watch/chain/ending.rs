//! What follows a session.

use super::record::Ended;
use super::{Brief, Chain, ChainOutcome, Decision, Next, OutOfTurn, Proposal, Record, State};
use crate::excerpt;
use crate::watch::escalation::PastEscalation;
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::notification::{Notification, NotificationCategory};
use crate::watch::quote::{one_line, quoted};
use crate::watch::schedule::Trigger;
use crate::watch::session::{ExitClaim, SessionEnding, SessionStatus};
use crate::watch::tier::Tier;

/// How much of a summary, and of a list of services, people are told.
const TOLD_CHARS: usize = 4_000;

/// How much of the names of services is told in a title.
const NAMES_CHARS: usize = 100;

impl Chain {
    /// Adds what a decision leaves to `record`, and says what happens next.
    pub(super) fn follow(
        &mut self,
        ended: &Ended<'_>,
        decision: Decision,
        record: &mut Record,
    ) -> Next {
        let Ended { session_id, brief, finished, .. } = *ended;
        let ending = finished.ending;
        match decision {
            Decision::Escalate(escalate) => {
                record.events.extend(escalate.events.iter().cloned());
                record.escalation = Some(PastEscalation {
                    from_session: session_id.to_owned(),
                    to: escalate.to,
                    affected: escalate.affected.clone(),
                    at_ms: self.moved_at_ms,
                });
                if let Some(session) = &mut record.session {
                    session.status = SessionStatus::Escalated;
                }
                Next::Run {
                    brief: Box::new(Brief {
                        chain_id: self.start.id.clone(),
                        number: brief.number.saturating_add(1),
                        tier: escalate.to,
                        trigger: Trigger::Escalation,
                        parent: Some(session_id.to_owned()),
                        request: self.start.request.clone(),
                        escalation: Some(escalate.context),
                        affected: escalate.affected,
                    }),
                }
            }
            Decision::Blocked(blocked) => {
                record.events.extend(blocked.events);
                record.notifications.extend(blocked.notification);
                let from_session = session_id.to_owned();
                record.proposal =
                    blocked.proposal.map(|escalate| Proposal { from_session, escalate });
                Next::End { outcome: ChainOutcome::Blocked(blocked.by) }
            }
            Decision::Nothing => {
                record.events.extend(complaint(brief.tier, ending));
                record.notifications.extend(self.report(brief, record));
                Next::End { outcome: self.outcome_of(ended.status()) }
            }
        }
    }

    fn outcome_of(&self, status: SessionStatus) -> ChainOutcome {
        match status {
            SessionStatus::Stopped => ChainOutcome::Stopped,
            SessionStatus::Failed | SessionStatus::TimedOut => ChainOutcome::Failed,
            SessionStatus::Running | SessionStatus::Completed | SessionStatus::Escalated => {
                ChainOutcome::Settled { acted_on: self.acted_on.clone() }
            }
        }
    }

    /// Writes what people are told when a tier that may change things is done, unless one of them
    /// stopped it.
    fn report(&self, brief: &Brief, record: &Record) -> Option<Notification> {
        let session = record.session.as_ref().filter(|_| brief.tier > Tier::Observe)?;
        let (category, end) = match session.status {
            SessionStatus::Stopped => return None,
            SessionStatus::Failed | SessionStatus::TimedOut => {
                (NotificationCategory::HumanAttention, "did not finish")
            }
            SessionStatus::Running | SessionStatus::Completed | SessionStatus::Escalated => {
                (NotificationCategory::Remediation, "is done")
            }
        };
        let subject = match brief.affected.as_slice() {
            [] => "What it was asked".to_owned(),
            names => excerpt(&one_line(&names.join(", ")), NAMES_CHARS, "…").into_owned(),
        };
        let mut parts = vec![format!("{} of chain {} {end}.", brief.tier, self.start.id)];
        if !self.acted_on.is_empty() {
            parts.push(format!("Acted on: {}.", one_line(&self.acted_on.join(", "))));
        }
        parts.extend(session.summary.as_deref().map(|it| quoted(&excerpt(it, TOLD_CHARS, "…"))));
        let services: Vec<String> = record
            .services
            .iter()
            .map(|it| format!("- {}: {}", one_line(&it.name), it.status.name()))
            .collect();
        parts.push(excerpt(&services.join("\n"), TOLD_CHARS, "…").into_owned());
        parts.retain(|part| !part.is_empty());
        let title = format!("{subject}: {} {end}", brief.tier);
        let cause = format!("report {title}");
        Some(Notification { category, cause, title, body: parts.join("\n\n") })
    }

    /// Tells that the session could not begin: a hook refused it, or there is no driver.
    pub fn aborted(&mut self, why: &str, now_ms: i64) -> Result<(), OutOfTurn> {
        let State::Ready { brief } = &self.state else {
            return Err(self.out_of_turn("could not begin a session"));
        };
        let message = format!("{} did not begin: {}", brief.tier, one_line(why));
        self.end_with(ChainOutcome::Aborted, Event::of_watch(Level::Critical, message), now_ms);
        Ok(())
    }

    /// Ends a chain between two sessions, because somebody asked for that.
    pub fn stopped(&mut self, now_ms: i64) -> Result<(), OutOfTurn> {
        let State::Ready { brief } = &self.state else {
            return Err(self.out_of_turn("was stopped between two sessions"));
        };
        let message = format!("{} did not begin: the watch was stopped", brief.tier);
        self.end_with(ChainOutcome::Stopped, Event::of_watch(Level::Warning, message), now_ms);
        Ok(())
    }

    /// Ends a chain between two sessions, with a word.
    pub(super) fn end_with(&mut self, outcome: ChainOutcome, event: Event, now_ms: i64) {
        let record = Record { events: vec![event], ..Record::default() };
        self.state = State::Recording { record: Box::new(record), then: Next::End { outcome } };
        self.moved_at_ms = now_ms;
    }
}

/// Returns what is told of a session that did not end as it should.
fn complaint(tier: Tier, ending: SessionEnding) -> Option<Event> {
    let message = match ending {
        SessionEnding::Exited { code: 0, claim: ExitClaim::Fine } => return None,
        SessionEnding::Exited { code: 0, claim: ExitClaim::Error } => {
            format!("{tier} calls its own result an error")
        }
        SessionEnding::Exited { code, .. } => format!("{tier} failed with exit code {code}"),
        SessionEnding::Stopped => {
            return Some(Event::of_watch(Level::Info, format!("an operator stopped {tier}")));
        }
        SessionEnding::TimedOut => format!("{tier} took too long and was ended"),
        SessionEnding::Lost => format!("{tier} is lost: what it did is not known"),
    };
    Some(Event::of_watch(Level::Warning, message))
}
