//! Ids of calls: no two calls of a run and its subagents have the same.
//!
//! Some providers give no ids, and what codecs make up begins anew with every answer; some servers
//! repeat their own. A transcript, and formats that pair results by id alone, need one for each call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::codec::{Delta, Reply};
use crate::message::Block;

/// How much of a repeated id is kept: with a number behind it, it must stay within the 64 characters
/// that providers take.
const STEM_CHARS: usize = 48;

/// The ids that calls have, of a run and its subagents together.
#[derive(Debug, Clone, Default)]
pub(super) struct CallIds(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    ids: BTreeSet<String>,
    /// The last number that was put behind each repeated id.
    numbers: BTreeMap<String, u64>,
}

impl CallIds {
    /// Takes `id` if nobody has it, else one like it.
    pub(super) fn take(&self, id: &str) -> String {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Taken { ids, numbers } = &mut *taken;
        let mut free = id.to_owned();
        while free.is_empty() || !ids.insert(free.clone()) {
            let stem: String =
                if id.is_empty() { "call" } else { id }.chars().take(STEM_CHARS).collect();
            let number = numbers.entry(stem.clone()).or_insert(1);
            *number += 1;
            free = format!("{stem}_{number}");
        }
        free
    }
}

/// The ids of the calls of one answer, as they were said and as they are.
#[derive(Debug, Default)]
pub(super) struct Naming {
    pub(super) ids: CallIds,
    given: BTreeMap<String, String>,
}

impl Naming {
    pub(super) fn new(ids: CallIds) -> Self {
        Self { ids, given: BTreeMap::new() }
    }

    /// Gives a call that begins its id; one that repeats within an answer stays a repetition.
    pub(super) fn name_delta(&mut self, delta: &mut Delta) {
        if let Delta::CallStarted { id, .. } = delta {
            self.name(id);
        }
    }

    /// Gives the calls of an answer their ids, the same as their deltas got.
    pub(super) fn name_calls(&mut self, reply: &mut Reply) {
        for block in &mut reply.blocks {
            if let Block::Call(call) = block {
                self.name(&mut call.id);
            }
        }
    }

    /// Says that the answer is over; what is said next is another.
    pub(super) fn close(&mut self) {
        self.given.clear();
    }

    fn name(&mut self, id: &mut String) {
        // A call without any id repeats none.
        if id.is_empty() {
            return;
        }
        let given = self.given.entry(id.clone()).or_insert_with(|| self.ids.take(id));
        id.clone_from(given);
    }
}
