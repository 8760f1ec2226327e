//! Notices a model that makes the same call turn after turn.

use std::collections::HashMap;

use crate::Advice;
use crate::message::ToolCall;

use super::{Outcome, RunError};

/// In how many turns in a row the same call is a loop.
const LOOP: usize = 3;

/// The calls of the last turn, by name and arguments, and in how many turns in a row each was made.
#[derive(Debug, Default)]
pub(super) struct Repetition {
    last: HashMap<(String, String), usize>,
}

impl Repetition {
    /// Takes the calls of a turn; fails if one was made in the two turns before as well.
    pub(super) fn note(&mut self, calls: &[ToolCall]) -> Result<(), RunError> {
        let before = std::mem::take(&mut self.last);
        for call in calls {
            let key = (call.name.clone(), call.arguments.clone());
            let times = before.get(&key).map_or(1, |times| times + 1);
            self.last.insert(key, times);
        }
        let Some(call) = calls.iter().find(|call| self.times(call) >= LOOP) else {
            return Ok(());
        };
        let message = format!(
            "the model called `{}` in {LOOP} turns in a row with the same arguments",
            call.name
        );
        Err(RunError::new(Outcome::Loop, message).advise(Advice::SayWhenToStop))
    }

    fn times(&self, call: &ToolCall) -> usize {
        let key = (call.name.clone(), call.arguments.clone());
        self.last.get(&key).copied().unwrap_or_default()
    }
}
