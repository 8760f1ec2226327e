//! Where everything of a run is seen: events are stamped here, those of subagents too.

use std::sync::{Mutex, MutexGuard, PoisonError};

use airtight_core::run::EventKind;

use super::{Event, Observer};
use crate::clock;

/// Takes what happens, from whoever performs.
pub(crate) trait Stage: Sync {
    /// Stamps and shows an event.
    fn emit(&self, parent_call_id: Option<&str>, kind: EventKind);

    /// Returns the number of the next background task.
    fn number_task(&self) -> u64;
}

/// A stage with somebody who looks.
pub(super) struct Live<'o>(Mutex<Seat<'o>>);

struct Seat<'o> {
    next: u64,
    tasks: u64,
    observer: &'o mut dyn Observer,
}

impl<'o> Live<'o> {
    pub(super) fn new(observer: &'o mut dyn Observer) -> Self {
        Self(Mutex::new(Seat { next: 0, tasks: 0, observer }))
    }
}

impl<'o> Live<'o> {
    fn seat(&self) -> MutexGuard<'_, Seat<'o>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stage for Live<'_> {
    fn emit(&self, parent_call_id: Option<&str>, kind: EventKind) {
        let mut seat = self.seat();
        let seq = seat.next;
        seat.next = seq.saturating_add(1);
        let parent_call_id = parent_call_id.map(str::to_owned);
        seat.observer.event(&Event { seq, at_ms: clock::unix_ms(), parent_call_id, kind });
    }

    fn number_task(&self) -> u64 {
        let mut seat = self.seat();
        seat.tasks += 1;
        seat.tasks
    }
}
