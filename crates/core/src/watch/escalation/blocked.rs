//! What an escalation leaves that does not happen.

use super::{Blocked, BlockedBy, Escalate, EscalationPolicy, Situation, affected};
use crate::excerpt;
use crate::watch::event::Event;
use crate::watch::level::Level;
use crate::watch::notification::{Notification, NotificationCategory};
use crate::watch::quote::{one_line, quoted};
use crate::watch::session::{Ask, SessionEnding};
use crate::watch::tier::Tier;

/// How much of a service's name is told in a title.
const NAME_CHARS: usize = 100;

/// How much of a reason, and of the names of services, is told in an event.
const REASON_CHARS: usize = 300;

/// Returns what is left of an escalation that does not happen because of `by`.
pub(super) fn leave(
    situation: &Situation<'_>,
    policy: &EscalationPolicy,
    by: BlockedBy,
    proposal: Option<Escalate>,
) -> Blocked {
    let affected = affected(situation.extracted);
    let to = situation.tier.next();
    let why = explanation(situation, policy, by);
    let target = to.map_or("people".to_owned(), |tier| tier.to_string());
    let services = if affected.is_empty() {
        String::new()
    } else {
        format!(" ({})", excerpt(&one_line(&affected.join(", ")), REASON_CHARS, "…"))
    };
    let headline = format!("escalation to {target} blocked{services}: {why}");
    let message = match reason(situation) {
        Some(reason) => format!("{headline}. Asked for because: {reason}"),
        None => headline.clone(),
    };
    let mut events = remarks(situation);
    let service = affected.first().filter(|_| affected.len() == 1).cloned();
    events.push(Event { service, ..Event::of_watch(level(by), message) });
    let notification = needs_people(by).then(|| Notification {
        category: NotificationCategory::HumanAttention,
        cause: cause(by, &affected),
        title: format!("Needs human attention: {}", subject(&affected, situation.tier)),
        body: body(situation, &headline),
    });
    Blocked { by, to, affected, proposal, events, notification }
}

/// Returns what is odd about a session whose escalation counts.
pub(super) fn remarks(situation: &Situation<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let tier = situation.tier;
    if let Ask::Request(request) = &situation.extracted.ask {
        if request.reason.is_none() {
            let message = format!("{tier} asked for the next tier without a reason");
            events.push(Event::of_watch(Level::Warning, message));
        }
        if !matches!(situation.ending, SessionEnding::Stopped)
            && situation.ending != SessionEnding::FINE
        {
            let message = format!("{tier} failed after it had answered; its answer counts");
            events.push(Event::of_watch(Level::Warning, message));
        }
    }
    if let Ask::Handoff(handoff) = &situation.extracted.ask
        && Some(handoff.recommended_tier) > tier.next()
        && let Some(next) = tier.next()
    {
        let recommended = handoff.recommended_tier;
        let message = format!("{tier} recommended {recommended}; {next} comes first");
        events.push(Event::of_watch(Level::Info, message));
    }
    events
}

fn level(by: BlockedBy) -> Level {
    match by {
        BlockedBy::DryRun | BlockedBy::OperatorStop | BlockedBy::Duplicate => Level::Info,
        BlockedBy::NeedsApproval => Level::Warning,
        BlockedBy::TierThree
        | BlockedBy::MaxTier
        | BlockedBy::FailedSession
        | BlockedBy::InvalidHandoff
        | BlockedBy::Depth
        | BlockedBy::Cost
        | BlockedBy::Rate => Level::Critical,
    }
}

fn needs_people(by: BlockedBy) -> bool {
    match by {
        BlockedBy::DryRun | BlockedBy::OperatorStop | BlockedBy::Duplicate => false,
        BlockedBy::NeedsApproval
        | BlockedBy::TierThree
        | BlockedBy::MaxTier
        | BlockedBy::FailedSession
        | BlockedBy::InvalidHandoff
        | BlockedBy::Depth
        | BlockedBy::Cost
        | BlockedBy::Rate => true,
    }
}

/// What waits for leave is something else each time, and is never held back.
fn cause(by: BlockedBy, affected: &[String]) -> String {
    if by == BlockedBy::NeedsApproval {
        return String::new();
    }
    let affected = one_line(&affected.join(", "));
    format!("blocked {by:?} {}", excerpt(&affected, REASON_CHARS, "…"))
}

fn explanation(situation: &Situation<'_>, policy: &EscalationPolicy, by: BlockedBy) -> String {
    match by {
        BlockedBy::TierThree => "there is nobody above tier 3".to_owned(),
        BlockedBy::MaxTier => format!("the highest tier allowed is {}", policy.max_tier.number()),
        BlockedBy::DryRun => "this is a dry run".to_owned(),
        BlockedBy::FailedSession => {
            format!("{} failed, and a handoff of a failed session does not count", situation.tier)
        }
        BlockedBy::OperatorStop => "an operator stopped the session".to_owned(),
        BlockedBy::InvalidHandoff => match &situation.extracted.ask {
            Ask::Invalid(error) => format!("the handoff does not count: {error}"),
            Ask::Nothing | Ask::Request(_) | Ask::Handoff(_) => {
                "the handoff does not count".to_owned()
            }
        },
        BlockedBy::NeedsApproval => "somebody must give leave".to_owned(),
        BlockedBy::Duplicate => "it was acted on before".to_owned(),
        BlockedBy::Depth => {
            format!("its chain has had {} sessions, the most allowed", situation.sessions)
        }
        BlockedBy::Cost => {
            format!("its chain has cost ${:.2}, the most allowed", situation.spent.usd())
        }
        BlockedBy::Rate => {
            format!("there were {} within an hour, the most allowed", policy.most_per_hour)
        }
    }
}

fn reason(situation: &Situation<'_>) -> Option<String> {
    let reason = match &situation.extracted.ask {
        Ask::Request(request) => request.reason.as_deref(),
        Ask::Handoff(handoff) => handoff.investigation_findings.as_deref(),
        Ask::Nothing | Ask::Invalid(_) => None,
    };
    reason.map(|text| excerpt(&one_line(text), REASON_CHARS, "…").into_owned())
}

fn subject(affected: &[String], tier: Tier) -> String {
    match affected {
        [] => format!("what {tier} found"),
        [one] => excerpt(&one_line(one), NAME_CHARS, "…").into_owned(),
        [one, rest @ ..] => {
            format!("{} and {} more", excerpt(&one_line(one), NAME_CHARS, "…"), rest.len())
        }
    }
}

/// Writes what people must know; what a session said is quoted.
fn body(situation: &Situation<'_>, headline: &str) -> String {
    let mut parts = vec![headline.to_owned()];
    if let Some(reason) = reason(situation) {
        parts.push(format!("## Reason\n\n{}", quoted(&reason)));
    }
    if let Some(summary) = situation.extracted.summary.as_deref() {
        let summary = quoted(&excerpt(summary, 4 * REASON_CHARS, "…"));
        parts.push(format!("## What {} said\n\n{summary}", situation.tier));
    }
    parts.join("\n\n")
}
