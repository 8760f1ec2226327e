//! The journal of one run of many: each of its requests passes the gate, then goes on record.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airtight_agent::{Arrival, Departure, EXTRACTOR, Entry, Event, Journal, Landing, Observer};
use airtight_core::batch::Whose;
use airtight_core::codec::ProviderFailure;
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
                self.state().pass = Some(pass);
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
        if let Some(pass) = pass {
            pass.used(arrival).await;
        }
        if let Some(recorder) = self.recorder.as_ref().filter(|_| number != UNRECORDED) {
            recorder.close(number, arrival).await;
        }
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

/// Sees what happens in the run of a ticket.
pub(super) struct Witness(pub(super) Arc<Ticket>);

impl Observer for Witness {
    fn event(&mut self, event: &Event) {
        if let Some(recorder) = &self.0.recorder {
            recorder.event(event);
        }
    }

    fn journal(&self) -> Option<Arc<dyn Journal>> {
        let journal: Arc<dyn Journal> = Arc::clone(&self.0) as Arc<dyn Journal>;
        Some(journal)
    }
}
