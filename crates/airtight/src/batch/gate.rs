//! Where every request of all runs waits until it may leave.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use airtight_agent::{Arrival, Landing};
use airtight_core::batch::{Fund, Grant, Pace, Permit, Return, Whose};
use airtight_core::codec::Usage;
use airtight_core::run::Bill;
use airtight_store::{Bucket, Ledger};
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};

use super::stop::Stop;

/// A rate that all processes with the same ledger keep together.
#[derive(Clone)]
pub(crate) struct Throttle {
    pub(crate) ledger: Ledger,
    pub(crate) bucket: Bucket,
}

/// Where every request waits until it may leave.
pub(crate) struct Gate {
    started: Instant,
    /// How long the provider may give nothing but trouble before everything ends.
    patience: Duration,
    throttle: Option<Throttle>,
    state: Mutex<State>,
    /// Somebody has returned, or the gate was closed.
    changed: Notify,
    /// Why it is closed, once it is.
    closed: OnceLock<Stop>,
}

struct State {
    pace: Pace,
    fund: Fund,
}

/// The right to send one request; dropped unused, the place is free again.
pub(crate) struct Pass {
    gate: Arc<Gate>,
    whose: Whose,
    sent_at: Duration,
    grant: u64,
    is_used: bool,
}

/// The gate is closed.
#[derive(Debug)]
pub(crate) struct Closed;

/// What stands in the way of a request.
enum Obstacle {
    Until(Duration),
    UntilReturn,
    Spent,
}

impl Gate {
    /// Opens a gate.
    pub(crate) fn new(
        pace: Pace,
        fund: Fund,
        patience: Duration,
        throttle: Option<Throttle>,
    ) -> Self {
        Self {
            started: Instant::now(),
            patience,
            throttle,
            state: Mutex::new(State { pace, fund }),
            changed: Notify::new(),
            closed: OnceLock::new(),
        }
    }

    /// Waits until a request of `bytes` may leave.
    pub(crate) async fn enter(self: &Arc<Self>, whose: Whose, bytes: u64) -> Result<Pass, Closed> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Whatever happens between the question and the wait must not be missed.
            changed.as_mut().enable();
            if self.closed.get().is_some() {
                return Err(Closed);
            }
            match self.ask(whose, bytes) {
                Ok(pass) => {
                    self.keep_rate().await;
                    return Ok(pass);
                }
                Err(Obstacle::Spent) => self.close(Stop::Budget),
                Err(Obstacle::Until(then)) if self.is_hopeless() => {
                    self.close(Stop::Outage { pause: then.saturating_sub(self.now()) });
                }
                Err(Obstacle::Until(then)) => {
                    let then = self.started + then;
                    tokio::select! {
                        () = sleep_until(then.into()) => {}
                        () = &mut changed => {}
                    }
                }
                Err(Obstacle::UntilReturn) => changed.await,
            }
        }
    }

    /// Closes the gate: nothing leaves any more. The first reason stands.
    pub(crate) fn close(&self, why: Stop) {
        // A later reason is of no interest.
        drop(self.closed.set(why));
        self.changed.notify_waiters();
    }

    /// Returns why the gate is closed, once it is.
    pub(crate) fn closed(&self) -> Option<&Stop> {
        self.closed.get()
    }

    /// Claims that a failure now is not the fault of the run that met it.
    pub(crate) fn is_troubled(&self) -> bool {
        self.state().pace.is_troubled()
    }

    fn ask(self: &Arc<Self>, whose: Whose, bytes: u64) -> Result<Pass, Obstacle> {
        let now = self.now();
        let mut state = self.state();
        let grant = match state.fund.ask(whose, bytes) {
            Grant::Given(grant) => grant,
            Grant::OnReturn => return Err(Obstacle::UntilReturn),
            Grant::Spent => return Err(Obstacle::Spent),
        };
        let obstacle = match state.pace.ask(now) {
            Permit::Now => {
                let gate = Arc::clone(self);
                return Ok(Pass { gate, whose, sent_at: now, grant, is_used: false });
            }
            Permit::At(then) => Obstacle::Until(then),
            Permit::OnReturn => Obstacle::UntilReturn,
        };
        state.fund.release(grant);
        Err(obstacle)
    }

    fn is_hopeless(&self) -> bool {
        self.state().pace.trouble(self.now()) > self.patience
    }

    /// Waits for the rate that all processes keep together. A ledger that fails here will say so
    /// where it matters.
    async fn keep_rate(&self) {
        let Some(throttle) = &self.throttle else { return };
        if let Ok(pause) = throttle.ledger.take(&throttle.bucket, 1).await {
            sleep(pause).await;
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn returned(&self, pass: &Pass, came: Return, used: Option<Usage>) {
        let now = self.now();
        let mut state = self.state();
        // What an extractor meets says nothing about the model.
        let met = match pass.whose {
            Whose::Model => came,
            Whose::Extractor => Return::Abandoned,
        };
        state.pace.returned(met, pass.sent_at, now, fastrand::f64());
        match came {
            Return::Abandoned => state.fund.release(pass.grant),
            Return::Answered | Return::PushedBack(_) | Return::Failed(_) => {
                state.fund.settle(pass.grant, pass.whose, used);
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }
}

impl Pass {
    /// Tells what came of the request.
    pub(crate) async fn used(mut self, arrival: Arrival<'_>) {
        self.is_used = true;
        let came = match arrival.end {
            Landing::Whole | Landing::Stopped => Return::Answered,
            Landing::Failed(failure) => {
                // Before the next may leave.
                if let Some(stop) = Stop::of_failure(failure, self.whose) {
                    self.gate.close(stop);
                }
                Return::of_failure(failure.kind, failure.retry_after)
            }
        };
        let used = match arrival.bill {
            Bill::Free => Some(Usage::default()),
            Bill::Exact(usage) => Some(usage),
            Bill::AtLeast(_) => None,
        };
        self.gate.returned(&self, came, used);
        if let (Return::PushedBack(Some(pause)), Some(throttle)) = (came, &self.gate.throttle) {
            // Whoever asks for more ends processes here; those that begin later may ask again.
            let pause = pause.min(self.gate.patience);
            // Others are told, if that is possible; here everybody knows already.
            drop(throttle.ledger.hold(&throttle.bucket, pause).await);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.is_used {
            self.gate.returned(self, Return::Abandoned, None);
        }
    }
}
