//! What a watch keeps no longer, and what stays however old it is.

use std::time::Duration;

use airtight_core::watch::{ActionState, Trust};
use airtight_store::{
    ActionFilter, ChainState, Check, Delivery, DoneAction, EscalationFilter, EscalationState,
    EventFilter, Lead, Ledger, Memory, MemoryFilter, Minutes, NewAction, NewEscalation,
    NewNotification, NewSession, NewWatchEvent, NewWish, NotificationState, Order, Page, Patience,
    Reserved, Service, SessionEnd, SessionFilter, StoreError, Wished,
};

use crate::bed::Bed;

crate::laws! {
    what_was_over_is_pruned_and_what_still_counts_stays,
    numbers_go_on_after_everything_was_pruned,
    a_leader_that_was_replaced_prunes_nothing,
}

/// Before everything that is new, and after everything that is old.
const BEFORE: i64 = 100;
const OLD: i64 = 20;
const NEW: i64 = 1_000;

const ALL: Page = Page { limit: 1_000, after: None, order: Order::OldestFirst };

async fn lead(ledger: &Ledger) -> Lead {
    ledger.lead(Duration::from_hours(1)).await.unwrap().unwrap()
}

fn event(message: &str) -> NewWatchEvent {
    NewWatchEvent {
        origin: "watch".to_owned(),
        level: "info".to_owned(),
        message: message.to_owned(),
        ..NewWatchEvent::default()
    }
}

fn action(service: &str) -> NewAction {
    let kind = "restart".to_owned();
    NewAction { service: service.to_owned(), kind, tier: 3, ..NewAction::default() }
}

/// A chain with one session, both of this name.
fn chain(name: &str, ended_at: Option<i64>) -> ChainState {
    ChainState {
        id: name.to_owned(),
        cause: "scheduled".to_owned(),
        machine: "{}".to_owned(),
        started_at: OLD,
        ended_at,
    }
}

/// What a session of `name` yields at `at_ms`; its chain ends with it, or stays open.
async fn pass(ledger: &Ledger, lead: Lead, (name, at_ms): (&str, i64), ended_at: Option<i64>) {
    let begun = NewSession {
        id: name.to_owned(),
        chain: name.to_owned(),
        tier: 1,
        prompt: Some(name.to_owned()),
        ..NewSession::default()
    };
    let begins = Minutes { at_ms, begun: Some(begun), ..Minutes::default() };
    ledger.minute(lead, begins).await.unwrap();
    let escalation = |state| NewEscalation {
        session: name.to_owned(),
        chain: name.to_owned(),
        tier: 2,
        state,
        ..NewEscalation::default()
    };
    let notification = |title: &str| {
        let title = format!("{name} {title}");
        NewNotification { title, ..NewNotification::default() }
    };
    let check = |service: &str| Check {
        service: format!("{name}-{service}"),
        status: "down".to_owned(),
        checked_at: at_ms,
        ..Check::default()
    };
    let done = DoneAction { action: action(name), state: ActionState::Failure, error: None };
    let status = "completed".to_owned();
    let end = SessionEnd { id: name.to_owned(), status, ..SessionEnd::default() };
    let ends = Minutes {
        at_ms,
        chain: Some(chain(name, ended_at)),
        ended: vec![end],
        events: vec![event(name)],
        escalations: [EscalationState::Acted, EscalationState::Proposed].map(escalation).to_vec(),
        checks: vec![check("web"), check("web"), check("db")],
        done: vec![done],
        notifications: vec![notification("sent"), notification("queued")],
        ..Minutes::default()
    };
    ledger.minute(lead, ends).await.unwrap();
    deliver(ledger, lead, &format!("{name} sent"), at_ms).await;
}

async fn deliver(ledger: &Ledger, lead: Lead, title: &str, at_ms: i64) {
    let queued = ledger.notifications(Some(NotificationState::Queued), ALL).await.unwrap();
    let it = queued.into_iter().find(|it| it.title == title).unwrap();
    let state = NotificationState::Sent;
    let delivery = Delivery { id: it.id, state, attempts: 1, error: None };
    let minutes = Minutes { at_ms, deliveries: vec![delivery], ..Minutes::default() };
    ledger.minute(lead, minutes).await.unwrap();
}

/// Puts a wish, which waits.
async fn wish(ledger: &Ledger) -> String {
    let (cause, patience) = ("api".to_owned(), Patience::Some);
    let wish = ledger.wish(NewWish { cause, tier: 1, request: None, patience }).await.unwrap();
    let Wished::Waiting(wish) = wish else { panic!("it waits") };
    wish.id
}

/// Returns what there is of the tables, each in its order.
async fn left(ledger: &Ledger) -> [Vec<String>; 7] {
    let events = ledger.watch_events(&EventFilter::default(), ALL).await.unwrap();
    let sessions = ledger.sessions(&SessionFilter::default(), ALL).await.unwrap();
    let chains = ledger.chains(ALL).await.unwrap();
    let escalations = ledger.escalations(&EscalationFilter::default(), ALL).await.unwrap();
    let checks = ledger.service_checks(None, ALL).await.unwrap();
    let actions = ledger.actions(&ActionFilter::default(), ALL).await.unwrap();
    let notifications = ledger.notifications(None, ALL).await.unwrap();
    [
        events.into_iter().map(|it| it.message).collect(),
        sessions.into_iter().map(|it| it.id).collect(),
        chains.into_iter().map(|it| it.id).collect(),
        escalations.into_iter().map(|it| format!("{} {}", it.chain, it.state.name())).collect(),
        checks.into_iter().map(|it| it.service).collect(),
        actions.into_iter().map(|it| format!("{} {}", it.service, it.state.name())).collect(),
        notifications.into_iter().map(|it| it.title).collect(),
    ]
}

async fn what_was_over_is_pruned_and_what_still_counts_stays(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let known = Minutes {
        at_ms: OLD,
        memories: vec![Memory {
            number: 0,
            id: "m1".to_owned(),
            service: None,
            category: "timing".to_owned(),
            observation: "starts slowly".to_owned(),
            confidence: 700,
            reinforced_at: OLD,
            trust: Trust::Trusted,
            tier: None,
            session: None,
            created_at: OLD,
        }],
        services: vec![Service { name: "web".to_owned(), ..Service::default() }],
        ..Minutes::default()
    };
    ledger.minute(lead, known).await.unwrap();
    let (granted, waiting) = (wish(&ledger).await, wish(&ledger).await);
    pass(&ledger, lead, ("old", OLD), Some(OLD)).await;
    let granting = Minutes {
        at_ms: OLD,
        chain: Some(chain("old", Some(OLD))),
        granted: Some(granted),
        ..Minutes::default()
    };
    ledger.minute(lead, granting).await.unwrap();
    let last = ledger.actions(&ActionFilter::default(), ALL).await.unwrap()[0].number;
    let reserved = ledger.reserve(lead, vec![action("reserved")], last, OLD).await.unwrap();
    assert!(matches!(reserved, Reserved::Done(_)));
    pass(&ledger, lead, ("open", OLD), None).await;
    assert!(ledger.stop_chain().await.unwrap());
    pass(&ledger, lead, ("new", NEW), Some(NEW)).await;
    let later = wish(&ledger).await;
    bed.meddle("UPDATE wishes SET asked_at = 20").await;

    assert!(ledger.prune_watch(lead, BEFORE).await.unwrap() > 0);
    let [events, sessions, chains, escalations, checks, actions, notifications] =
        left(&ledger).await;
    assert_eq!(events, ["new"]);
    assert_eq!(sessions, ["open", "new"], "the chain of one goes on");
    assert_eq!(chains, ["open", "new"]);
    assert_eq!(escalations, ["old proposed", "open proposed", "new acted", "new proposed"]);
    // The last check of each service stays, however old it is.
    let checked = ["old-web", "old-db", "open-web", "open-db", "new-web", "new-web", "new-db"];
    assert_eq!(checks, checked);
    assert_eq!(actions, ["reserved reserved", "new failure"]);
    assert_eq!(notifications, ["old queued", "open queued", "new sent", "new queued"]);
    let wishes = ledger.waiting_wishes(ALL).await.unwrap();
    assert_eq!(wishes.into_iter().map(|it| it.id).collect::<Vec<_>>(), [waiting, later]);
    assert_eq!(bed.meddle("SELECT id FROM wishes").await.len(), 2, "what was granted is gone");
    assert_eq!(bed.meddle("SELECT session FROM session_texts").await.len(), 2);
    assert!(ledger.is_stop_asked("open").await.unwrap());
    let memories = ledger.memories(&MemoryFilter::default(), ALL).await.unwrap();
    assert_eq!((memories.len(), ledger.services().await.unwrap().len()), (1, 1));
    assert_eq!(ledger.prune_watch(lead, BEFORE).await.unwrap(), 0);
}

/// Whoever reads on from a number misses nothing that comes later.
async fn numbers_go_on_after_everything_was_pruned(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let many = Minutes {
        at_ms: OLD,
        events: (0..1_201).map(|number| event(&number.to_string())).collect(),
        ..Minutes::default()
    };
    ledger.minute(lead, many).await.unwrap();
    assert_eq!(ledger.prune_watch(lead, i64::MAX).await.unwrap(), 1_200);
    let last = ledger.watch_events(&EventFilter::default(), ALL).await.unwrap().remove(0);
    assert_eq!(last.message, "1200");
    let more = Minutes { at_ms: OLD, events: vec![event("more")], ..Minutes::default() };
    ledger.minute(lead, more).await.unwrap();
    let page = Page { after: Some(last.number), ..ALL };
    let later = ledger.watch_events(&EventFilter::default(), page).await.unwrap();
    assert_eq!(later.into_iter().map(|it| it.message).collect::<Vec<_>>(), ["more"]);
}

async fn a_leader_that_was_replaced_prunes_nothing(bed: Bed) {
    let paused = bed.open().await;
    let old = paused.lead(Duration::ZERO).await.unwrap().unwrap();
    pass(&paused, old, ("old", OLD), Some(OLD)).await;
    let before = left(&paused).await;
    // A lease of no time is over in the next millisecond.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let other = bed.open().await;
    let new = lead(&other).await;
    assert!(new.fence() > old.fence());
    assert!(matches!(paused.prune_watch(old, i64::MAX).await, Err(StoreError::Fenced)));
    assert_eq!(left(&other).await, before);
}
