//! Where the structured answer is: in the line that says that the program is done, or, if that line
//! was lost, in the call that delivered it.

use serde_json::value::RawValue;

use crate::message::ToolStatus;

use super::event::Place;
use super::record::{Payload, PayloadSource};

/// Which of several calls that were accepted counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Winner {
    /// The first: qwen skips the others.
    First,
    /// The last: claude runs them all.
    Last,
}

/// How many calls may wait for their results; models make one or two.
const WAITING_LIMIT: usize = 16;

/// Whether the program said that it is done.
#[derive(Debug, Default)]
enum Stage {
    /// Not yet.
    #[default]
    Open,
    /// It did, with this payload, if any.
    Concluded(Option<Payload>),
}

/// What is known of the structured answer.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    stage: Stage,
    /// The accepted call.
    accepted: Option<Payload>,
    /// Calls without a result so far, with their ids.
    waiting: Vec<(String, Payload)>,
}

impl Delivery {
    /// Notes what a result holds, also if that is nothing.
    pub(super) fn conclude(&mut self, payload: Option<Payload>) {
        self.stage = Stage::Concluded(payload);
    }

    /// Notes a call.
    pub(super) fn call(&mut self, id: &str, payload: Payload) {
        if self.waiting.len() == WAITING_LIMIT {
            self.waiting.remove(0);
        }
        self.waiting.push((id.to_owned(), payload));
    }

    /// Notes that the call was answered, by acceptance or by rejection.
    pub(super) fn settle(&mut self, id: &str, status: ToolStatus, winner: Winner) {
        let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) else { return };
        let (_, payload) = self.waiting.remove(at);
        let keeps = self.accepted.is_some() && winner == Winner::First;
        if status == ToolStatus::Done && !keeps {
            self.accepted = Some(payload);
        }
    }

    /// Forgets calls that have no result, because the request is sent again.
    pub(super) fn take_back(&mut self) {
        self.waiting.clear();
    }

    /// Returns the structured answer.
    ///
    /// A result without one means that there is none, whatever was called: rejected calls are no
    /// answers.
    pub(super) fn into_payload(mut self) -> Option<Payload> {
        match self.stage {
            Stage::Concluded(payload) => payload,
            Stage::Open => self.accepted.or_else(|| self.waiting.pop().map(|(_, payload)| payload)),
        }
    }
}

impl Payload {
    /// Makes the payload of a call.
    pub(super) fn of_call(at: Place, value: Box<RawValue>) -> Self {
        Self { source: PayloadSource::ToolCall, at, value }
    }

    /// Makes the payload of a result.
    pub(super) fn of_result(at: Place, value: Box<RawValue>) -> Self {
        Self { source: PayloadSource::Result, at, value }
    }
}
