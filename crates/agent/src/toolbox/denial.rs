//! What the model wanted and did not get, for the report.

use std::sync::{Mutex, PoisonError};

use airtight_core::message::ToolCall;
use airtight_core::run::{Denial, DeniedBy};

/// How many denials are kept: a model that is denied more often is not worth listening to.
const LIMIT: usize = 1000;

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Denials(Mutex<Vec<Denial>>);

impl Denials {
    pub(super) fn add(&self, call: &ToolCall, by: DeniedBy) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() < LIMIT {
            list.push(Denial {
                tool: call.name.clone(),
                call_id: call.id.clone(),
                arguments: call.arguments.clone(),
                by,
            });
        }
    }

    pub(super) fn list(&self) -> Vec<Denial> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
