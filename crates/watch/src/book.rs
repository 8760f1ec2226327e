//! Between what core decides and what the ledger keeps: nothing here decides anything.

use airtight_core::watch::{
    ActionRecord, CooldownAction, CooldownChange, CooldownLimits, Event, EventOrigin, Extraction,
    Memory, MemoryChange, MemorySource, NewMemory, Notification, PastEscalation, Proposal, Record,
    ServiceState, ServiceStatus, Tier, Waiting,
};
use airtight_store::{
    ActionEnd, ActionFilter, Check, DoneAction, EscalationFilter, EscalationState, Ledger,
    MemoryFilter, MemoryUpdate, Minutes, NewAction, NewEscalation, NewNotification, NewWatchEvent,
    Order, PAGE_LIMIT, Page, Service, SessionEnd, StoreError,
};

use crate::notify::Target;

/// As many rows as one page has: far more than there are memories or actions of a day.
const ALL: Page = Page { limit: PAGE_LIMIT, after: None, order: Order::NewestFirst };

/// The last row.
const LAST: Page = Page { limit: 1, ..ALL };

const HOUR_MS: i64 = 3_600_000;

/// Makes a name for a row.
pub(crate) fn fresh() -> String {
    format!("{:032x}", fastrand::u128(..))
}

/// Returns how services are.
pub(crate) async fn services(ledger: &Ledger) -> Result<Vec<ServiceState>, StoreError> {
    let services = ledger.services().await?;
    // A status of a newer version is none that anybody here could act on.
    Ok(services.into_iter().filter_map(service_state).collect())
}

fn service_state(service: Service) -> Option<ServiceState> {
    let count = |streak: i64| u32::try_from(streak).unwrap_or(u32::MAX);
    Some(ServiceState {
        status: ServiceStatus::named(&service.status)?,
        name: service.name,
        detail: service.detail,
        healthy_streak: count(service.healthy_streak),
        unhealthy_streak: count(service.unhealthy_streak),
        changed_at_ms: service.changed_at,
        checked_at_ms: service.checked_at,
        cleared_at_ms: service.cleared_at,
    })
}

/// Returns the actions that may count at `now_ms`, and the number of the last one there is.
pub(crate) async fn actions(
    ledger: &Ledger,
    limits: &CooldownLimits,
    now_ms: i64,
) -> Result<(Vec<ActionRecord>, i64), StoreError> {
    // The last one first: what is done in between is then noticed.
    let last = ledger.actions(&ActionFilter::default(), LAST).await?;
    let last = last.first().map_or(0, |action| action.number);
    let longest = limits.restarts.within_ms.max(limits.redeployments.within_ms);
    let since =
        ActionFilter { since: Some(now_ms.saturating_sub(longest)), ..ActionFilter::default() };
    let actions = ledger.actions(&since, ALL).await?;
    Ok((actions.into_iter().filter_map(action_record).collect(), last))
}

/// Returns the actions that `filter` means.
pub(crate) async fn actions_of(
    ledger: &Ledger,
    filter: ActionFilter,
) -> Result<Vec<ActionRecord>, StoreError> {
    let mut actions = ledger.actions(&filter, ALL).await?;
    actions.reverse();
    Ok(actions.into_iter().filter_map(action_record).collect())
}

fn action_record(action: airtight_store::Action) -> Option<ActionRecord> {
    Some(ActionRecord {
        action: CooldownAction::named(&action.kind)?,
        id: action.id,
        service: action.service,
        at_ms: action.reserved_at,
        state: action.state,
        session_id: action.session,
    })
}

/// Returns what is remembered.
pub(crate) async fn memories(ledger: &Ledger) -> Result<Vec<Memory>, StoreError> {
    let memories = ledger.memories(&MemoryFilter::default(), ALL).await?;
    Ok(memories.into_iter().filter_map(airtight_store::Memory::known).collect())
}

/// Returns the escalations of the last hour.
pub(crate) async fn escalations(
    ledger: &Ledger,
    now_ms: i64,
) -> Result<Vec<PastEscalation>, StoreError> {
    let filter = EscalationFilter {
        state: Some(EscalationState::Acted),
        since: Some(now_ms.saturating_sub(HOUR_MS)),
    };
    let past = |it: airtight_store::Escalation| {
        Some(PastEscalation {
            from_session: it.session,
            to: Tier::try_from(it.tier).ok()?,
            affected: it.affected,
            at_ms: it.at,
        })
    };
    Ok(ledger.escalations(&filter, ALL).await?.into_iter().filter_map(past).collect())
}

/// Returns the escalations that wait for leave, or have it.
pub(crate) async fn waiting(
    ledger: &Ledger,
    state: EscalationState,
) -> Result<Vec<airtight_store::Escalation>, StoreError> {
    let filter = EscalationFilter { state: Some(state), ..EscalationFilter::default() };
    let oldest = Page { order: Order::OldestFirst, ..ALL };
    ledger.escalations(&filter, oldest).await
}

/// Returns an escalation as core sees it; nothing if it is to a tier that nobody knows.
pub(crate) fn waiting_of(escalation: &airtight_store::Escalation) -> Option<Waiting> {
    Some(Waiting {
        id: escalation.id.clone(),
        to: Tier::try_from(escalation.tier).ok()?,
        affected: escalation.affected.clone(),
        asked_at_ms: escalation.at,
    })
}

/// Returns a notification for every target.
pub(crate) fn queued(
    targets: &[Target],
    notification: &Notification,
    chain: Option<&str>,
) -> Vec<NewNotification> {
    let to = |target: &Target| NewNotification {
        category: notification.category.name().to_owned(),
        target: target.name.clone(),
        title: notification.title.clone(),
        body: notification.body.clone(),
        chain: chain.map(str::to_owned),
    };
    targets.iter().map(to).collect()
}

/// Returns an event as the ledger keeps it; `origin` is how it was found, or `watch`.
pub(crate) fn event(
    event: &Event,
    session: Option<&str>,
    chain: &str,
    origin: &str,
) -> NewWatchEvent {
    NewWatchEvent {
        session: session.map(str::to_owned),
        chain: Some(chain.to_owned()),
        origin: origin.to_owned(),
        level: event.level.name().to_owned(),
        said_level: event.edit.as_ref().map(|edit| edit.said.clone()),
        service: event.service.clone(),
        message: event.message.clone(),
    }
}

/// Returns an event of the watch that belongs to no chain.
pub(crate) fn event_of_watch(it: &Event) -> NewWatchEvent {
    NewWatchEvent { chain: None, ..event(it, None, "", it.origin.name()) }
}

/// Returns everything in a record, but what people are told and what only the watch knows.
pub(crate) fn minutes(chain: &str, record: &Record, at_ms: i64) -> Minutes {
    let session = record.session.as_ref();
    let id = session.map(|session| session.id.as_str());
    let tier = session.map(|session| i64::from(session.tier.number()));
    let extraction = session.map_or(Extraction::None, |session| session.extraction);
    let origin = |event: &Event| match event.origin {
        EventOrigin::Session => extraction.name(),
        EventOrigin::Watch => EventOrigin::Watch.name(),
    };
    let events = record.events.iter().map(|it| event(it, id, chain, origin(it))).collect();
    let mut minutes = Minutes {
        at_ms,
        ended: session.map(session_end).into_iter().collect(),
        events,
        services: record.services.iter().map(service).collect(),
        checks: record.services.iter().map(|state| check(state, id)).collect(),
        escalations: escalations_of(record, chain),
        declined: record.superseded.clone(),
        ..Minutes::default()
    };
    for change in &record.memories {
        remember(&mut minutes, change, at_ms);
    }
    for change in &record.cooldowns {
        act(&mut minutes, change, id, tier.unwrap_or(0));
    }
    minutes
}

fn session_end(end: &airtight_core::watch::SessionEnd) -> SessionEnd {
    SessionEnd {
        id: end.id.clone(),
        status: end.status.name().to_owned(),
        extraction: end.extraction.name().to_owned(),
        summary: end.summary.clone(),
        ..SessionEnd::default()
    }
}

fn service(state: &ServiceState) -> Service {
    Service {
        name: state.name.clone(),
        status: state.status.name().to_owned(),
        detail: state.detail.clone(),
        healthy_streak: i64::from(state.healthy_streak),
        unhealthy_streak: i64::from(state.unhealthy_streak),
        changed_at: state.changed_at_ms,
        checked_at: state.checked_at_ms,
        cleared_at: state.cleared_at_ms,
    }
}

fn check(state: &ServiceState, session: Option<&str>) -> Check {
    Check {
        number: 0,
        service: state.name.clone(),
        session: session.map(str::to_owned),
        status: state.status.name().to_owned(),
        detail: state.detail.clone(),
        checked_at: state.checked_at_ms,
    }
}

fn escalations_of(record: &Record, chain: &str) -> Vec<NewEscalation> {
    let of = |session: &str, tier: Tier, affected: &[String]| NewEscalation {
        session: session.to_owned(),
        chain: chain.to_owned(),
        tier: i64::from(tier.number()),
        affected: affected.to_vec(),
        context: None,
        state: EscalationState::Acted,
    };
    let acted = record.escalation.iter().map(|it| of(&it.from_session, it.to, &it.affected));
    let proposed =
        record.proposal.iter().map(|Proposal { from_session, escalate }| NewEscalation {
            context: Some(escalate.context.clone()),
            state: EscalationState::Proposed,
            ..of(from_session, escalate.to, &escalate.affected)
        });
    acted.chain(proposed).collect()
}

/// Adds what changes in what is remembered.
fn remember(minutes: &mut Minutes, change: &MemoryChange, at_ms: i64) {
    match change {
        MemoryChange::Insert(new) => minutes.memories.push(new_memory(new, at_ms)),
        MemoryChange::Confirm { .. } | MemoryChange::Weaken { .. } | MemoryChange::Trust { .. } => {
            minutes.updates.extend(MemoryUpdate::of(change));
        }
    }
}

fn new_memory(new: &NewMemory, at_ms: i64) -> airtight_store::Memory {
    let (session, tier) = match &new.source {
        MemorySource::Operator => (None, None),
        MemorySource::Session { id, tier } => (Some(id.clone()), Some(i64::from(tier.number()))),
    };
    airtight_store::Memory {
        number: 0,
        id: fresh(),
        service: new.key.service.clone(),
        category: new.key.category.name().to_owned(),
        observation: new.observation.clone(),
        confidence: i64::from(new.confidence.thousandths()),
        reinforced_at: new.confirmed_at_ms,
        trust: new.trust,
        tier,
        session,
        created_at: at_ms,
    }
}

/// Adds what changes in what was done to services.
pub(crate) fn act(
    minutes: &mut Minutes,
    change: &CooldownChange,
    session: Option<&str>,
    tier: i64,
) {
    match change {
        CooldownChange::Close { id, state, error } => {
            let (id, error) = (id.clone(), error.clone());
            minutes.actions.push(ActionEnd { id, state: *state, error });
        }
        CooldownChange::Insert { service, action, state, error, .. } => {
            let action = NewAction {
                service: service.clone(),
                kind: action.name().to_owned(),
                tier,
                session: session.map(str::to_owned),
                command: None,
            };
            minutes.done.push(DoneAction { action, state: *state, error: error.clone() });
        }
    }
}
