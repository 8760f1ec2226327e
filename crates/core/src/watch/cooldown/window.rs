//! Sliding windows: so many actions within so much time.

use serde::{Deserialize, Serialize};

use super::{ActionRecord, CooldownAction, Counter};

/// One hour.
const HOUR_MS: i64 = 60 * 60 * 1_000;

/// At most so many actions within so much time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The most actions.
    pub most: u32,
    /// The time.
    pub within_ms: i64,
}

/// How often a service may be acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CooldownLimits {
    /// Restarts, stops and starts.
    pub restarts: Window,
    /// Redeployments.
    pub redeployments: Window,
}

impl Default for CooldownLimits {
    fn default() -> Self {
        Self {
            restarts: Window { most: 2, within_ms: 4 * HOUR_MS },
            redeployments: Window { most: 1, within_ms: 24 * HOUR_MS },
        }
    }
}

impl CooldownLimits {
    /// Returns the window of a counter.
    pub fn window(&self, counter: Counter) -> Window {
        match counter {
            Counter::Restarts => self.restarts,
            Counter::Redeployments => self.redeployments,
        }
    }
}

/// What one more action would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// One more is allowed.
    Free,
    /// So many have been done, and one more is allowed then; `None` if never.
    Full { done: u32, until_ms: Option<i64> },
}

/// Says whether `action` may be done to a service once more, given its `records` in any order.
///
/// Those before `cleared_at_ms` count no more. One that is later than `now_ms` counts: a clock that
/// went back grants nothing.
pub(super) fn room(
    records: &[&ActionRecord],
    action: CooldownAction,
    window: Window,
    cleared_at_ms: Option<i64>,
    now_ms: i64,
) -> Room {
    let mut counted = counted(records, action.counter());
    if action == CooldownAction::Start && counted.last().is_some_and(|it| it.is_open_stop) {
        return Room::Free;
    }
    let since = now_ms.saturating_sub(window.within_ms.max(0));
    counted.retain(|it| it.at_ms > since && cleared_at_ms.is_none_or(|at| it.at_ms >= at));
    let done = u32::try_from(counted.len()).unwrap_or(u32::MAX);
    if done < window.most {
        return Room::Free;
    }
    // When this one leaves the window, one less than the most is left.
    let most = usize::try_from(window.most).unwrap_or(usize::MAX);
    let leaving = counted.len().checked_sub(most).filter(|_| most > 0);
    let leaving = leaving.and_then(|position| counted.get(position));
    let until_ms = leaving.map(|it| it.at_ms.saturating_add(window.within_ms.max(0)));
    Room::Full { done, until_ms }
}

/// An action that counts.
#[derive(Debug, Clone, Copy)]
struct Counted {
    at_ms: i64,
    /// It stopped the service, which was not started since.
    is_open_stop: bool,
}

/// Returns what counts, from the earliest: a start belongs to the stop before it.
fn counted(records: &[&ActionRecord], counter: Counter) -> Vec<Counted> {
    let mut records: Vec<&ActionRecord> =
        records.iter().copied().filter(|it| it.action.counter() == counter).collect();
    records.sort_by_key(|record| record.at_ms);
    let mut counted: Vec<Counted> = Vec::new();
    for record in records {
        match counted.last_mut() {
            Some(stop) if stop.is_open_stop && record.action == CooldownAction::Start => {
                stop.is_open_stop = false;
            }
            _ => counted.push(Counted {
                at_ms: record.at_ms,
                is_open_stop: record.action == CooldownAction::Stop,
            }),
        }
    }
    counted
}
