//! What was done to services: on record first, within the limits, never twice, and looked at again.

use std::collections::BTreeMap;

use airtight_core::watch::ActionState;

use crate::record::Ledgered;
use crate::world::{HOUR_MS, Line, SERVICES, World};

const VERIFY_MS: i64 = 10 * 60_000;

pub(crate) fn assert_all(record: &Ledgered, world: &World) {
    assert_done_once(record, world);
    for name in SERVICES {
        assert_limit(record, name, "restart", (2, 4 * HOUR_MS));
        assert_limit(record, name, "redeployment", (1, 24 * HOUR_MS));
    }
    assert_verified(record, world);
}

/// P1: everything that was done is on record, once, and nothing is open.
fn assert_done_once(record: &Ledgered, world: &World) {
    let mut done: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for line in &world.lines {
        if let Line::Did { session, service, action } = line {
            let key = (session.as_str(), service.as_str(), action.as_str());
            *done.entry(key).or_default() += 1;
        }
    }
    assert!(done.len() > 20, "{} actions", done.len());
    assert!(done.values().all(|times| *times == 1), "something was done twice");
    let mut states: BTreeMap<&'static str, usize> = BTreeMap::new();
    for action in &record.actions {
        *states.entry(action.state.name()).or_default() += 1;
        let key = (action.session.as_deref().unwrap(), action.service.as_str(), &*action.kind);
        let is_done = done.remove(&key).is_some();
        match action.state {
            ActionState::Success | ActionState::Failure => assert!(is_done, "{action:?}"),
            // Whoever did it is gone: it may have been done or not.
            ActionState::Unknown => {}
            ActionState::Reserved => panic!("it stays open: {action:?}"),
        }
    }
    assert_eq!(done.len(), 0, "done past the record: {done:?}");
    assert_eq!(states.len(), 3, "worked, failed, and nobody knows: {states:?}");
}

/// CO-90, CO-91: so many within a window, unless two healthy checks in a row cleared what was before.
fn assert_limit(record: &Ledgered, name: &str, kind: &str, (most, window_ms): (usize, i64)) {
    let mut streak = 0;
    let mut cleared = Vec::new();
    for check in record.checks.iter().filter(|it| it.service == name) {
        streak = if check.status == "healthy" { streak + 1 } else { 0 };
        if streak == 2 {
            cleared.push(check.checked_at);
            streak = 0;
        }
    }
    let of_it = record.actions.iter().filter(|it| it.service == name && it.kind == kind);
    let at: Vec<i64> = of_it.map(|it| it.reserved_at).collect();
    for some in at.windows(most + 1) {
        let (first, last) = (some[0], some[most]);
        let is_cleared = cleared.iter().any(|at| (first..=last).contains(at));
        assert!(last - first >= window_ms || is_cleared, "{kind} of {name}: {some:?}");
    }
}

/// Ten minutes after a chain that did something it is looked at again, also where it was cut off.
fn assert_verified(record: &Ledgered, world: &World) {
    let chain_of: BTreeMap<&str, &str> =
        record.sessions.iter().map(|it| (it.id.as_str(), it.chain.as_str())).collect();
    let mut acted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for action in &record.actions {
        let chain = chain_of[action.session.as_deref().unwrap()];
        acted.entry(chain).or_default().push(&action.service);
    }
    let asked: Vec<(i64, &str)> = record
        .sessions
        .iter()
        .filter_map(|it| Some((it.started_at, record.prompts.get(&it.id)?.as_str())))
        .collect();
    let mut after_a_kill = 0;
    for chain in record.chains.iter().filter(|it| acted.contains_key(it.id.as_str())) {
        let due = chain.ended_at.unwrap() + VERIFY_MS;
        if due + HOUR_MS > world.now() {
            continue;
        }
        let services = &acted[chain.id.as_str()];
        let is_asked = |(at, prompt): &(i64, &str)| {
            *at >= due
                && *at < due + HOUR_MS
                && prompt.contains("Verify that these services work")
                && services.iter().all(|name| prompt.contains(name))
        };
        assert!(asked.iter().any(is_asked), "{services:?} of {} is not verified", chain.id);
        let is_lost = |it: &&airtight_store::Session| it.chain == chain.id && it.status == "failed";
        after_a_kill += usize::from(record.sessions.iter().any(|it| is_lost(&it)));
    }
    assert!(after_a_kill > 0, "a chain that was cut off had done something");
}
