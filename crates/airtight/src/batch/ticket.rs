//! The journal of one run of many: each of its requests passes the gate, then goes on record.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airtight_agent::{Arrival, Departure, EXTRACTOR, Entry, Journal, Landing};
use airtight_core::batch::Whose;
use airtight_core::codec::{FailureKind, ProviderFailure};
use airtight_core::run::{Outcome, RunError};
use airtight_core::transcript::Record;
use tokio_util::sync::CancellationToken;

use super::gate::{Gate, Pass};
use super::stop::Stop;
use crate::ledger::Recorder;

/// The number of a request of which there is no record.
const UNRECORDED: i64 = -1;

/// The journal of one run.
pub(super) struct Ticket {
    gate: Arc<Gate>,
    /// Who puts the run on record, if anybody.
    recorder: Option<Arc<Recorder>>,
    /// How large a request of it is, roughly.
    bytes: u64,
    /// Ends the run once the gate is closed.
    interrupt: CancellationToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The right to the request that is under way.
    pass: Option<Pass>,
    /// How the last request failed, if it did, and whose it was.
    failure: Option<(ProviderFailure, Whose)>,
    /// Whether the agent CLI that was asked last was started.
    is_started: bool,
    /// Why this run, and perhaps no other, cannot go on.
    stop: Option<Stop>,
}

impl Ticket {
    pub(super) fn new(
        gate: Arc<Gate>,
        recorder: Option<Arc<Recorder>>,
        bytes: u64,
        interrupt: CancellationToken,
    ) -> Self {
        Self { gate, recorder, bytes, interrupt, state: Mutex::default() }
    }

    /// Returns who puts the run on record, if anybody.
    pub(super) fn recorder(&self) -> Option<&Arc<Recorder>> {
        self.recorder.as_ref()
    }

    /// Returns what ends the run.
    pub(super) fn interrupt(&self) -> CancellationToken {
        self.interrupt.clone()
    }

    /// Returns how the last request failed, if it did.
    pub(super) fn failure(&self) -> Option<(ProviderFailure, Whose)> {
        self.state().failure.clone()
    }

    /// Returns why this run, and perhaps no other, cannot go on.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.state().stop.clone()
    }

    /// Learns what an agent CLI came to. One that was started has ended: it has an exit code.
    pub(super) fn recorded(&self, record: &Record) {
        self.state().is_started = record.exit_code.is_some();
    }

    /// Claims that the agent CLI that was asked last was started.
    pub(super) fn is_started(&self) -> bool {
        self.state().is_started
    }

    async fn depart(&self, departure: Departure<'_>) -> Option<i64> {
        let Ok(pass) = self.gate.enter(whose(departure.parent_call_id), self.bytes).await else {
            return self.stay().await;
        };
        let number = match &self.recorder {
            Some(recorder) => recorder.depart(departure).await,
            None => Ok(UNRECORDED),
        };
        match number {
            Ok(number) => {
                let mut state = self.state();
                state.pass = Some(pass);
                state.is_started = false;
                Some(number)
            }
            // Nobody could tell that it may have been paid.
            Err(error) => {
                let stop = Stop::of_store(error);
                if matches!(stop, Stop::Store(_)) {
                    self.gate.close(stop.clone());
                }
                self.state().stop = Some(stop);
                self.stay().await
            }
        }
    }

    /// Keeps a request from leaving: the driver sees at once that the run ends, and drops this.
    async fn stay(&self) -> Option<i64> {
        self.interrupt.cancel();
        pending().await
    }

    async fn arrive(&self, number: i64, arrival: Arrival<'_>) {
        let pass = {
            let mut state = self.state();
            state.failure = match arrival.end {
                Landing::Failed(failure) => Some((failure.clone(), whose(arrival.parent_call_id))),
                Landing::Whole | Landing::Stopped => None,
            };
            state.pass.take()
        };
        if let Some(stop) = self.not_started() {
            // Before the next may leave: it would not be started either.
            self.gate.close(stop);
        }
        if let Some(pass) = pass {
            pass.used(arrival).await;
        }
        if let Some(recorder) = self.recorder.as_ref().filter(|_| number != UNRECORDED) {
            recorder.close(number, arrival).await;
        }
    }

    /// Returns what it means to everybody if the agent CLI of the last request was never started.
    fn not_started(&self) -> Option<Stop> {
        let state = self.state();
        let (failure, _) = state.failure.as_ref().filter(|_| !state.is_started)?;
        let error = || RunError::new(Outcome::Harness, &failure.message);
        (failure.kind == FailureKind::Program).then(|| Stop::NotStarted(error()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whose request it is that a run, or somebody on its behalf, makes.
fn whose(parent_call_id: Option<&str>) -> Whose {
    if parent_call_id == Some(EXTRACTOR) { Whose::Extractor } else { Whose::Model }
}

impl Journal for Ticket {
    fn open<'a>(&'a self, departure: Departure<'a>) -> Entry<'a, Option<i64>> {
        Box::pin(self.depart(departure))
    }

    fn close<'a>(&'a self, number: i64, arrival: Arrival<'a>) -> Entry<'a, ()> {
        Box::pin(self.arrive(number, arrival))
    }
}
