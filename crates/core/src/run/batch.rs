//! The tool calls of one turn, and what each of them is told.
//!
//! Every call that goes back to the provider has a result, in the order of the calls. Models repeat
//! ids within a turn: a repeated call is dropped, unless it is of the terminal tool, which then gets
//! an id of its own. Events keep the repeated id.

use std::collections::BTreeSet;

use crate::codec::Reply;
use crate::message::{Block, ToolCall, ToolResult, ToolStatus};

use super::call_ids::CallIds;

/// The calls of one turn.
#[derive(Debug)]
pub(super) struct Batch {
    /// The whole turn as it goes back to the provider.
    blocks: Vec<Block>,
    slots: Vec<Slot>,
}

/// One call.
#[derive(Debug)]
pub(super) struct Slot {
    /// The call, with an id that no other call of the turn has.
    pub(super) call: ToolCall,
    /// Which call of the reply it is.
    pub(super) position: usize,
    said_id: String,
    told: Option<Told>,
}

/// What a call was told.
#[derive(Debug)]
struct Told {
    content: String,
    status: ToolStatus,
    origin: Origin,
}

/// Whether something was done for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Executed,
    Skipped,
}

impl Batch {
    /// Reads the calls of `reply`; those of `terminal` are kept even if their id repeats.
    pub(super) fn of(reply: Reply, terminal: Option<&str>, ids: &CallIds) -> Self {
        let mut used = BTreeSet::new();
        let mut positions = 0..;
        let mut batch = Self { blocks: Vec::new(), slots: Vec::new() };
        for block in reply.blocks {
            let Block::Call(mut call) = block else {
                batch.blocks.push(block);
                continue;
            };
            let position = positions.next().unwrap_or_default();
            let said_id = call.id.clone();
            if used.contains(&call.id) || call.id.is_empty() {
                if !call.id.is_empty() && terminal != Some(call.name.as_str()) {
                    continue;
                }
                call.id = ids.take(&call.id);
            }
            used.insert(call.id.clone());
            batch.blocks.push(Block::Call(call.clone()));
            batch.slots.push(Slot { call, position, said_id, told: None });
        }
        batch
    }

    /// Returns the calls that were told nothing yet, in order.
    pub(super) fn open(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.told.is_none())
    }

    /// Returns all calls, in order.
    pub(super) fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut()
    }

    /// Skips every open call but the first `kept`.
    pub(super) fn skip_open_after(&mut self, kept: usize, why: &str) {
        self.slots
            .iter_mut()
            .filter(|slot| slot.told.is_none())
            .skip(kept)
            .for_each(|slot| slot.skip(why));
    }

    /// Tells each open call its result, by position; a call without one is told so.
    pub(super) fn settle(&mut self, results: Vec<ToolResult>, missing: &str) {
        let mut results = results.into_iter();
        for slot in self.slots.iter_mut().filter(|slot| slot.told.is_none()) {
            match results.next() {
                Some(ToolResult { content, status, .. }) => slot.execute(content, status),
                None => slot.execute(missing.to_owned(), ToolStatus::Failed),
            }
        }
    }

    /// Returns the results for events: what was done first, then what was skipped.
    pub(super) fn heard(&self) -> Vec<ToolResult> {
        let of = |origin: Origin| {
            self.slots
                .iter()
                .filter(move |slot| slot.told.as_ref().is_some_and(|told| told.origin == origin))
                .filter_map(|slot| slot.result(&slot.said_id))
        };
        of(Origin::Executed).chain(of(Origin::Skipped)).collect()
    }

    /// Returns the turn and its results, as the provider gets them.
    pub(super) fn into_turn(self) -> (Vec<Block>, Vec<ToolResult>) {
        let results = self.slots.iter().filter_map(|slot| slot.result(&slot.call.id)).collect();
        (self.blocks, results)
    }
}

impl Slot {
    /// Tells the call what came of it.
    pub(super) fn execute(&mut self, content: String, status: ToolStatus) {
        self.told = Some(Told { content, status, origin: Origin::Executed });
    }

    /// Tells the call that nothing was done.
    pub(super) fn skip(&mut self, why: &str) {
        let content = why.to_owned();
        self.told = Some(Told { content, status: ToolStatus::Skipped, origin: Origin::Skipped });
    }

    fn result(&self, call_id: &str) -> Option<ToolResult> {
        let Told { content, status, .. } = self.told.as_ref()?;
        Some(ToolResult {
            call_id: call_id.to_owned(),
            name: self.call.name.clone(),
            content: content.clone(),
            status: *status,
        })
    }
}
