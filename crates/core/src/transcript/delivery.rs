//! Where the structured answer is: in the line that says that the program is done, or, if that line
//! was lost, in the call that was accepted.

use serde_json::value::RawValue;

use crate::message::ToolStatus;

use super::event::Place;
use super::record::{Payload, PayloadSource};
use super::tally::is_usable;

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

/// How much they may hold together: as much as one line, and the last one in any case.
const WAITING_LIMIT_BYTES: usize = 64 * 1024 * 1024;

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
    /// The last call that was rejected.
    rejected: Option<Payload>,
    /// Calls without a result so far, with their ids.
    waiting: Vec<(String, Payload)>,
}

impl Delivery {
    /// Notes what a result holds, also if that is nothing; a later result without a payload, which
    /// background work leads to, takes none back.
    pub(super) fn conclude(&mut self, payload: Option<Payload>) {
        let before = match std::mem::take(&mut self.stage) {
            Stage::Concluded(before) => before,
            Stage::Open => None,
        };
        self.stage = Stage::Concluded(payload.or(before));
    }

    /// Claims that a result holds the payload.
    pub(super) fn is_delivered(&self) -> bool {
        matches!(self.stage, Stage::Concluded(Some(_)))
    }

    /// Claims that there is an answer that the program took.
    pub(super) fn is_accepted(&self) -> bool {
        self.accepted.is_some() || self.is_delivered()
    }

    /// Notes a call, unless no result could be told to be its own.
    pub(super) fn call(&mut self, id: &str, payload: Payload) {
        if !is_usable(id) {
            return;
        }
        self.waiting.push((id.to_owned(), payload));
        while self.waiting.len() > 1 && self.is_crowded() {
            self.waiting.remove(0);
        }
    }

    fn is_crowded(&self) -> bool {
        let bytes: usize = self.waiting.iter().map(|(_, payload)| payload.value.get().len()).sum();
        self.waiting.len() > WAITING_LIMIT || bytes > WAITING_LIMIT_BYTES
    }

    /// Notes that the call was answered, by acceptance or by rejection.
    pub(super) fn settle(&mut self, id: &str, status: ToolStatus, winner: Winner) {
        let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) else { return };
        let (_, payload) = self.waiting.remove(at);
        let keeps = self.accepted.is_some() && winner == Winner::First;
        match status {
            ToolStatus::Done if keeps => {}
            ToolStatus::Done => self.accepted = Some(payload),
            ToolStatus::Failed | ToolStatus::Skipped => self.rejected = Some(payload),
        }
    }

    /// Takes the last call that was rejected.
    pub(super) fn take_rejected(&mut self) -> Option<Payload> {
        self.rejected.take()
    }

    /// Forgets calls that have no result, because the request is sent again.
    pub(super) fn take_back(&mut self) {
        self.waiting.clear();
    }

    /// Returns the structured answer.
    ///
    /// A result without one means that there is none, whatever was called: calls that were rejected,
    /// or not answered, are no answers.
    pub(super) fn into_payload(self) -> Option<Payload> {
        match self.stage {
            Stage::Concluded(payload) => payload,
            Stage::Open => self.accepted,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a call whose payload has so many bytes.
    fn call(delivery: &mut Delivery, id: &str, bytes: usize) {
        let value = RawValue::from_string("1".repeat(bytes)).unwrap();
        let at = Place { line: 1, offset: 0, length: 0 };
        delivery.call(id, Payload::of_call(at, value));
    }

    #[test]
    fn payloads_that_wait_are_bounded_in_bytes_and_the_last_one_stays() {
        let mut delivery = Delivery::default();
        call(&mut delivery, "1", 2);
        call(&mut delivery, "2", WAITING_LIMIT_BYTES - 1);
        assert_eq!(delivery.waiting.len(), 1);
        call(&mut delivery, "3", WAITING_LIMIT_BYTES + 1);
        delivery.settle("2", ToolStatus::Done, Winner::Last);
        assert!(delivery.accepted.is_none());
        delivery.settle("3", ToolStatus::Done, Winner::Last);
        assert!(delivery.into_payload().is_some());
    }

    #[test]
    fn a_call_without_a_usable_id_is_never_accepted() {
        for id in ["", "x".repeat(257).as_str()] {
            let mut delivery = Delivery::default();
            call(&mut delivery, id, 1);
            delivery.settle(id, ToolStatus::Done, Winner::Last);
            assert!(delivery.into_payload().is_none());
        }
    }
}
