//! The watch: one leader writes, minutes are stored whole, and actions are on record before they are
//! done.

mod commits;
mod decisions;
mod masking;

use std::time::Duration;

use airtight_core::price::Cost;
use airtight_core::watch::{ActionState, Trust};
use airtight_store::{
    Action, ActionEnd, ActionFilter, ChainState, Check, Delivery, DoneAction, EventFilter, Finish,
    Lead, Ledger, Memory, MemoryFilter, Minutes, NewAction, NewNotification, NewRun, NewSession,
    NewWatchEvent, NotificationState, Order, Page, Reserved, RunId, RunState, Service, SessionEnd,
    SessionFilter, StoreError,
};

use crate::bed::{Bed, begin, met, new_run};

crate::laws! {
    minutes_read_back_as_they_were_written,
    a_leader_that_was_replaced_writes_nothing,
    what_a_session_yields_commits_with_the_end_of_its_run,
    an_action_is_on_record_once_for_what_was_known,
    pages_go_on_where_the_last_one_ended,
    the_chain_that_goes_on_is_found,
}

const HOUR: Duration = Duration::from_hours(1);

async fn lead(ledger: &Ledger) -> Lead {
    ledger.lead(HOUR).await.unwrap().unwrap()
}

fn session() -> NewSession {
    NewSession {
        id: "s1".to_owned(),
        chain: "c1".to_owned(),
        parent: Some("s0".to_owned()),
        tier: 2,
        cause: "escalation".to_owned(),
        driver: "claude".to_owned(),
        model: "sonnet".to_owned(),
        log: Some("run-1.log".to_owned()),
        prompt: Some("Investigate.".to_owned()),
        context: Some("web is down".to_owned()),
    }
}

fn event(message: &str) -> NewWatchEvent {
    NewWatchEvent {
        session: Some("s1".to_owned()),
        chain: Some("c1".to_owned()),
        origin: "structured".to_owned(),
        level: "warning".to_owned(),
        said_level: Some("warn".to_owned()),
        service: Some("web".to_owned()),
        message: message.to_owned(),
    }
}

fn memory() -> Memory {
    Memory {
        id: "m1".to_owned(),
        service: Some("web".to_owned()),
        category: "timing".to_owned(),
        observation: "starts slowly".to_owned(),
        confidence: 700,
        reinforced_at: 10,
        tier: Some(1),
        session: Some("s1".to_owned()),
        created_at: 10,
        number: 0,
        trust: Trust::Pending,
    }
}

fn service() -> Service {
    Service {
        name: "web".to_owned(),
        status: "down".to_owned(),
        detail: Some("502".to_owned()),
        unhealthy_streak: 2,
        changed_at: 5,
        checked_at: 10,
        ..Service::default()
    }
}

fn check() -> Check {
    Check {
        service: "web".to_owned(),
        session: Some("s1".to_owned()),
        status: "down".to_owned(),
        detail: Some("502".to_owned()),
        checked_at: 10,
        ..Check::default()
    }
}

fn restart() -> NewAction {
    NewAction {
        service: "web".to_owned(),
        kind: "restart".to_owned(),
        tier: 3,
        session: Some("s1".to_owned()),
        command: Some("docker restart web".to_owned()),
    }
}

/// What a session yields: something of everything.
fn yielded() -> Minutes {
    Minutes {
        at_ms: 20,
        ended: vec![SessionEnd {
            id: "s1".to_owned(),
            status: "completed".to_owned(),
            extraction: "structured".to_owned(),
            pending: true,
            turns: Some(4),
            cost: Cost::from_usd(0.25),
            summary: Some("web is down".to_owned()),
            response: Some("I found that web is down.".to_owned()),
        }],
        events: vec![event("first"), event("second")],
        memories: vec![memory()],
        services: vec![service()],
        checks: vec![check()],
        notifications: vec![NewNotification {
            category: "attention".to_owned(),
            target: "pager".to_owned(),
            title: "web".to_owned(),
            body: "is *down*".to_owned(),
            chain: Some("c1".to_owned()),
        }],
        marks: vec![("last_run".to_owned(), "20".to_owned())],
        ..Minutes::default()
    }
}

async fn begin_session(ledger: &Ledger, lead: Lead) {
    let begun = Minutes { at_ms: 10, begun: Some(session()), ..Minutes::default() };
    ledger.minute(lead, begun).await.unwrap();
}

async fn messages(ledger: &Ledger) -> Vec<String> {
    let page = Page { order: Order::OldestFirst, ..Page::default() };
    let events = ledger.watch_events(&EventFilter::default(), page).await.unwrap();
    events.into_iter().map(|event| event.message).collect()
}

async fn minutes_read_back_as_they_were_written(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    begin_session(&ledger, lead).await;
    let (running, _) = ledger.session("s1").await.unwrap();
    assert_eq!((running.status.as_str(), running.ended_at), ("running", None));
    ledger.minute(lead, yielded()).await.unwrap();

    let (session, texts) = ledger.session("s1").await.unwrap();
    assert_eq!((session.chain.as_str(), session.parent.as_deref()), ("c1", Some("s0")));
    assert_eq!((session.tier, session.cause.as_str()), (2, "escalation"));
    assert_eq!((session.driver.as_str(), session.model.as_str()), ("claude", "sonnet"));
    assert_eq!((session.status.as_str(), session.extraction.as_str()), ("completed", "structured"));
    assert_eq!((session.pending, session.turns), (true, Some(4)));
    assert_eq!(session.cost_usd, Cost::from_usd(0.25));
    assert_eq!((session.started_at, session.ended_at), (10, Some(20)));
    assert_eq!(session.summary.as_deref(), Some("web is down"));
    assert_eq!(texts.prompt.as_deref(), Some("Investigate."));
    assert_eq!(texts.context.as_deref(), Some("web is down"));
    assert_eq!(texts.response.as_deref(), Some("I found that web is down."));

    assert_eq!(messages(&ledger).await, ["first", "second"]);
    let events = ledger.watch_events(&EventFilter::default(), Page::default()).await.unwrap();
    assert_eq!(
        (events[0].level.as_str(), events[0].said_level.as_deref()),
        ("warning", Some("warn"))
    );
    assert_eq!((events[0].service.as_deref(), events[0].at), (Some("web"), 20));
    let memories = ledger.memories(&MemoryFilter::default(), Page::default()).await.unwrap();
    assert_eq!(memories, [Memory { number: memories[0].number, ..memory() }]);
    assert_eq!(ledger.services().await.unwrap(), [service()]);
    let checks = ledger.service_checks(Some("web"), Page::default()).await.unwrap();
    assert_eq!(checks, [Check { number: checks[0].number, ..check() }]);
    assert_eq!(ledger.mark("last_run").await.unwrap().as_deref(), Some("20"));
    assert_eq!(ledger.mark("last_digest").await.unwrap(), None);

    let counts = ledger.watch_counts(10).await.unwrap();
    assert_eq!(counts.sessions, [((2, "completed".to_owned()), 1)].into());
    assert_eq!(counts.events, [("warning".to_owned(), 2)].into());
    assert_eq!((counts.actions, counts.pending_memories), (0, 1));
    assert_eq!(counts.cost, Cost::from_usd(0.25));
    assert_eq!(ledger.watch_counts(21).await.unwrap().events, [].into());

    let queued = ledger.notifications(Some(NotificationState::Queued), Page::default()).await;
    let queued = queued.unwrap();
    assert_eq!((queued.len(), queued[0].title.as_str(), queued[0].attempts), (1, "web", 0));
    let delivery = Delivery {
        id: queued[0].id.clone(),
        state: NotificationState::Failed,
        attempts: 1,
        error: Some("refused".to_owned()),
    };
    let delivered = Minutes { at_ms: 30, deliveries: vec![delivery], ..Minutes::default() };
    ledger.minute(lead, delivered).await.unwrap();
    let failed = ledger.notifications(Some(NotificationState::Failed), Page::default()).await;
    let failed = failed.unwrap();
    assert_eq!((failed[0].attempts, failed[0].error.as_deref()), (1, Some("refused")));
    assert_eq!((failed[0].queued_at, failed[0].told_at), (20, Some(30)));
}

async fn a_leader_that_was_replaced_writes_nothing(bed: Bed) {
    let paused = bed.open().await;
    let old = paused.lead(Duration::ZERO).await.unwrap().unwrap();
    begin_session(&paused, old).await;
    let run = NewRun { id: Some(RunId::from("s1".to_owned())), ..new_run() };
    let token = begin(&paused, run).await;
    // A lease of no time is over in the next millisecond.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let other = bed.open().await;
    let new = lead(&other).await;
    assert!(new.fence() > old.fence());
    assert!(paused.lead(HOUR).await.unwrap().is_none());

    assert!(matches!(paused.minute(old, yielded()).await, Err(StoreError::Fenced)));
    let reserved = paused.reserve(old, vec![restart()], 0, 20).await;
    assert!(matches!(reserved, Err(StoreError::Fenced)));
    let late = Finish { minutes: Some((old, yielded())), ..met() };
    assert!(matches!(paused.finish(&token, late).await, Err(StoreError::Fenced)));

    assert_eq!(messages(&other).await, Vec::<String>::new());
    assert_eq!(other.actions(&ActionFilter::default(), Page::default()).await.unwrap(), []);
    assert_eq!(other.session("s1").await.unwrap().0.status, "running");
    assert_eq!(other.run("s1").await.unwrap().summary.state, RunState::Open);
    other.minute(new, yielded()).await.unwrap();
    assert_eq!(messages(&other).await, ["first", "second"]);
    let leader = paused.leader().await.unwrap().unwrap();
    assert_eq!(leader.fence, new.fence());
}

/// CO-14: nothing is told before it is on record, and all of it is.
async fn what_a_session_yields_commits_with_the_end_of_its_run(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    begin_session(&ledger, lead).await;
    let token = begin(&ledger, new_run()).await;
    let spoilt =
        Minutes { services: vec![Service { name: "x".repeat(500), ..service() }], ..yielded() };
    let refused = ledger.finish(&token, Finish { minutes: Some((lead, spoilt)), ..met() }).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    assert_eq!(ledger.run(token.id().as_str()).await.unwrap().summary.state, RunState::Open);
    assert_eq!(messages(&ledger).await, Vec::<String>::new());

    let before = ledger.commits();
    let finish = Finish { minutes: Some((lead, yielded())), ..met() };
    ledger.finish(&token, finish.clone()).await.unwrap();
    assert_eq!(ledger.commits() - before, 1);
    assert_eq!(ledger.run(token.id().as_str()).await.unwrap().summary.state, RunState::Done);
    assert_eq!(ledger.session("s1").await.unwrap().0.status, "completed");
    ledger.finish(&token, finish).await.unwrap();
    assert_eq!(messages(&ledger).await, ["first", "second"], "an end counts once");
}

async fn actions(ledger: &Ledger) -> Vec<Action> {
    let page = Page { order: Order::OldestFirst, ..Page::default() };
    let of_web = ActionFilter { service: Some("web".to_owned()), ..ActionFilter::default() };
    ledger.actions(&of_web, page).await.unwrap()
}

async fn an_action_is_on_record_once_for_what_was_known(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let tries = (0..8).map(|_| ledger.reserve(lead, vec![restart()], 0, 20));
    let all = futures_util::future::try_join_all(tries).await.unwrap();
    let done = all.iter().filter(|it| matches!(it, Reserved::Done(_))).count();
    assert_eq!((done, all.len()), (1, 8), "they all knew of no action");

    let first = actions(&ledger).await.remove(0);
    assert_eq!(
        (first.state, first.reserved_at, first.closed_at),
        (ActionState::Reserved, 20, None)
    );
    assert_eq!(first.command.as_deref(), Some("docker restart web"));
    let other = NewAction { service: "db".to_owned(), ..restart() };
    let both = vec![restart(), other];
    let Reserved::Done(ids) = ledger.reserve(lead, both, first.number, 30).await.unwrap() else {
        panic!("nothing was done meanwhile");
    };
    assert_eq!(ids.len(), 2);
    let error = Some("exit 1".to_owned());
    let end = ActionEnd { id: first.id, state: ActionState::Failure, error };
    let unseen = DoneAction { action: restart(), state: ActionState::Success, error: None };
    let done = vec![unseen];
    let closed = Minutes { at_ms: 40, actions: vec![end], done, ..Minutes::default() };
    ledger.minute(lead, closed).await.unwrap();
    let all = actions(&ledger).await;
    assert_eq!((all[0].state, all[0].closed_at), (ActionState::Failure, Some(40)));
    assert_eq!(all[0].error.as_deref(), Some("exit 1"));
    assert_eq!(all[1].state, ActionState::Reserved);
    assert_eq!((all[2].state, all[2].reserved_at), (ActionState::Success, 40));
}

async fn pages_go_on_where_the_last_one_ended(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    let events = (0..5).map(|n| event(&n.to_string())).collect();
    ledger.minute(lead, Minutes { at_ms: 1, events, ..Minutes::default() }).await.unwrap();
    let mut page = Page { limit: 2, ..Page::default() };
    let mut seen = Vec::new();
    loop {
        let events = ledger.watch_events(&EventFilter::default(), page).await.unwrap();
        let Some(last) = events.last() else { break };
        page.after = Some(last.number);
        seen.extend(events.into_iter().map(|event| event.message));
    }
    assert_eq!(seen, ["4", "3", "2", "1", "0"]);
    let critical = EventFilter { level: Some("critical".to_owned()), ..EventFilter::default() };
    assert_eq!(ledger.watch_events(&critical, Page::default()).await.unwrap(), []);
    let sessions = ledger.sessions(&SessionFilter::default(), Page::default()).await.unwrap();
    assert_eq!(sessions, []);
}

async fn the_chain_that_goes_on_is_found(bed: Bed) {
    let ledger = bed.open().await;
    let lead = lead(&ledger).await;
    assert_eq!(ledger.open_chain().await.unwrap(), None);
    let chain = |machine: &str, ended_at| ChainState {
        id: "c1".to_owned(),
        cause: "scheduled".to_owned(),
        machine: machine.to_owned(),
        started_at: 5,
        ended_at,
    };
    for (machine, ended_at) in [("one", None), ("two", None), ("three", Some(9))] {
        let minutes = Minutes { chain: Some(chain(machine, ended_at)), ..Minutes::default() };
        ledger.minute(lead, minutes).await.unwrap();
        let open = ledger.open_chain().await.unwrap().map(|chain| chain.machine);
        assert_eq!(open.as_deref(), ended_at.is_none().then_some(machine));
    }
    let chains = ledger.chains(Page::default()).await.unwrap();
    assert_eq!((chains.len(), chains[0].ended_at), (1, Some(9)));
}
