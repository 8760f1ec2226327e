//! Where every request of all runs waits until it may leave.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use airtight_agent::{Arrival, Landing};
use airtight_core::batch::{Fund, Grant, Pace, Permit, Return, Whose};
use airtight_core::codec::{ProviderFailure, Usage};
use airtight_core::run::Bill;
use tokio::sync::{Notify, OnceCell};
use tokio::time::{sleep, sleep_until};

use super::stop::Stop;
use super::throttle::Throttle;

/// How often is looked whether another process was told to wait: so seldom that it costs requests nothing,
/// and soon enough for the pauses that providers ask for.
const LOOK: Duration = Duration::from_secs(1);

/// Where every request waits until it may leave.
pub(crate) struct Gate {
    started: Instant,
    /// How long the provider may give nothing but trouble before everything ends.
    patience: Duration,
    throttle: Option<Throttle>,
    /// Who waits for a turn of the rate.
    turns: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Whether it was looked for what others were told: nothing leaves before.
    first_look: OnceCell<()>,
    /// Somebody has returned, or the gate was closed.
    changed: Notify,
    /// Why it is closed, once it is.
    closed: OnceLock<Stop>,
}

struct State {
    pace: Pace,
    fund: Fund,
    /// When it was last looked for what others were told.
    looked_at: Duration,
    /// Until when the others know that the provider wants to be left alone.
    told_until: Duration,
    /// How the model failed last.
    failure: Option<ProviderFailure>,
}

impl State {
    /// Returns how long the provider is to be left alone, if the others do not know yet.
    fn news(&mut self, now: Duration) -> Option<Duration> {
        let held = self.pace.held(now);
        let until = now.saturating_add(held);
        let is_news = !held.is_zero() && until > self.told_until;
        self.told_until = self.told_until.max(until);
        is_news.then_some(held)
    }

    /// Returns why nobody waits any longer for a provider that may be asked again after `pause`.
    fn outage(&self, now: Duration, pause: Duration) -> Stop {
        // While the provider holds us it is its pause that is waited for, which another process may have
        // been told of; otherwise it is our own, after what became of the last request.
        let is_ours = self.pace.is_troubled() && self.pace.held(now).is_zero();
        Stop::of_trouble(pause, self.failure.as_ref().filter(|_| is_ours))
    }

    /// Claims that it is time to look again, and counts from now on.
    fn is_time_to_look(&mut self, now: Duration) -> bool {
        let is_due = now.saturating_sub(self.looked_at) >= LOOK;
        if is_due {
            self.looked_at = now;
        }
        is_due
    }
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
        let (looked_at, told_until) = (Duration::ZERO, Duration::ZERO);
        Self {
            started: Instant::now(),
            patience,
            throttle,
            turns: tokio::sync::Mutex::default(),
            state: Mutex::new(State { pace, fund, looked_at, told_until, failure: None }),
            first_look: OnceCell::new(),
            changed: Notify::new(),
            closed: OnceLock::new(),
        }
    }

    /// Waits until a request of `bytes` may leave.
    pub(crate) async fn enter(self: &Arc<Self>, whose: Whose, bytes: u64) -> Result<Pass, Closed> {
        loop {
            self.heed_others().await;
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Whatever happens between the question and the wait must not be missed.
            changed.as_mut().enable();
            self.require_open()?;
            match self.ask(whose, bytes) {
                Ok(pass) => return self.keep_rate(pass).await,
                Err(Obstacle::Spent) => self.close(Stop::Budget),
                Err(Obstacle::Until(then)) if self.is_hopeless() => {
                    let now = self.now();
                    let outage = self.state().outage(now, then.saturating_sub(now));
                    self.close(outage);
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

    fn require_open(&self) -> Result<(), Closed> {
        if self.closed.get().is_some() { Err(Closed) } else { Ok(()) }
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

    /// Waits with the right in hand for the rate that all processes keep together; a gate that is closed
    /// meanwhile takes it back.
    async fn keep_rate(&self, mut pass: Pass) -> Result<Pass, Closed> {
        let Some(throttle) = self.throttle.as_ref().filter(|it| it.has_rate()) else {
            return Ok(pass);
        };
        // One at a time: a turn that is taken and not used is lost to everybody, so that is at most one.
        let _turn = tokio::select! {
            turn = self.turns.lock() => turn,
            Err(closed) = self.rest(Duration::MAX) => return Err(closed),
        };
        self.rest(throttle.turn().await).await?;
        pass.sent_at = self.now();
        Ok(pass)
    }

    /// Waits for `pause`, or until the gate is closed.
    async fn rest(&self, pause: Duration) -> Result<(), Closed> {
        let over = sleep(pause);
        tokio::pin!(over);
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            self.require_open()?;
            tokio::select! {
                () = &mut over => return self.require_open(),
                () = &mut changed => {}
            }
        }
    }

    /// Looks now and then whether another process was told to leave the provider alone.
    async fn heed_others(&self) {
        let Some(throttle) = &self.throttle else { return };
        self.first_look.get_or_init(|| self.look(throttle)).await;
        let is_time = self.state().is_time_to_look(self.now());
        if is_time {
            self.look(throttle).await;
        }
    }

    async fn look(&self, throttle: &Throttle) {
        let held = throttle.held().await;
        let now = self.now();
        let mut state = self.state();
        state.looked_at = now;
        state.pace.heed(held, now);
        // What they told us is no news to them.
        state.told_until = state.told_until.max(now.saturating_add(held));
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back a right; returns how long the provider wants to be left alone, if others are to be told.
    fn returned(&self, pass: &Pass, came: Return, used: Option<Usage>) -> Option<Duration> {
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
        let is_told_to_wait = matches!(met, Return::PushedBack(_) | Return::Failed(Some(_)));
        let news = if is_told_to_wait { state.news(now) } else { None };
        drop(state);
        self.changed.notify_waiters();
        news
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
                let came = Return::of_failure(failure.kind, failure.retry_after);
                let is_trouble = matches!(came, Return::PushedBack(_) | Return::Failed(_));
                if self.whose == Whose::Model && is_trouble {
                    self.gate.state().failure = Some(failure.clone());
                }
                came
            }
        };
        let used = match arrival.bill {
            Bill::Free => Some(Usage::default()),
            Bill::Exact(usage) => Some(usage),
            Bill::AtLeast(_) => None,
        };
        let news = self.gate.returned(&self, came, used);
        if let (Some(pause), Some(throttle)) = (news, &self.gate.throttle) {
            // Whoever asks for more ends processes here; those that begin later may ask again.
            throttle.hold(pause.min(self.gate.patience)).await;
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

#[cfg(test)]
mod tests {
    use airtight_agent::Course;
    use airtight_core::batch::{Circuit, Limits, Pacing, Prices};
    use airtight_store::{Ledger, Location};
    use tempfile::TempDir;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    async fn ledger(folder: &TempDir) -> Ledger {
        let place = Location::Sqlite(folder.path().join("ledger.db"));
        Ledger::open(&place).await.unwrap()
    }

    /// A gate whose own pauses nobody waits for by accident.
    fn gate(ledger: &Ledger, rate: Option<u32>, patience: Duration) -> Arc<Gate> {
        let circuit = Circuit { first: HOUR * 1000, cap: HOUR * 1000, ..Circuit::default() };
        let fund = Fund::new(Limits::default(), Prices::default(), None);
        let throttle = Throttle::new(ledger.clone(), "provider", rate);
        let pace = Pace::new(Pacing { most: 8, circuit });
        Arc::new(Gate::new(pace, fund, patience, Some(throttle)))
    }

    #[tokio::test]
    async fn nothing_leaves_that_waited_for_the_rate_when_the_gate_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let gate = gate(&ledger(&folder).await, Some(1), HOUR);
        let pass = gate.enter(Whose::Model, 0).await.unwrap();
        let (rested, ()) = tokio::join!(gate.rest(HOUR), async { gate.close(Stop::Interrupted) });
        assert!(rested.is_err());
        assert!(gate.keep_rate(pass).await.is_err());
    }

    #[tokio::test]
    async fn who_is_ended_while_many_wait_leaves_the_rate_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        let gate = gate(&ledger, Some(1), HOUR);
        drop(gate.enter(Whose::Model, 0).await.unwrap());
        let waiting = futures_util::future::join_all((0..5).map(|_| gate.enter(Whose::Model, 0)));
        let end = async {
            sleep(Duration::from_millis(200)).await;
            gate.close(Stop::Interrupted);
        };
        let (left, ()) = tokio::join!(waiting, end);
        assert!(left.iter().all(Result::is_err));
        let next = Throttle::new(ledger, "provider", Some(1)).turn().await;
        assert!(next < Duration::from_mins(3), "{next:?}");
    }

    /// Has a request through `gate` fail by this status.
    async fn fail(gate: &Arc<Gate>, status: u16, retry_after: Option<Duration>) {
        let failure = ProviderFailure::from_response(status, b"not now", retry_after);
        let arrival = Arrival {
            parent_call_id: None,
            bill: Bill::Free,
            told_cost: None,
            end: Landing::Failed(&failure),
            course: Course::Over,
        };
        gate.enter(Whose::Model, 0).await.unwrap().used(arrival).await;
    }

    #[tokio::test]
    async fn what_one_process_is_told_holds_the_others() {
        // What the provider asks for, and what is chosen here if it asks for nothing.
        for (status, retry_after) in [(429, Some(HOUR)), (429, None), (503, Some(HOUR))] {
            let folder = tempfile::tempdir().unwrap();
            let (ours, theirs) = (ledger(&folder).await, ledger(&folder).await);
            let told = gate(&ours, None, HOUR);
            fail(&told, status, retry_after).await;
            let held = told.state().pace.held(told.now());
            assert!(!held.is_zero(), "{status} {retry_after:?}");
            let other = gate(&theirs, None, Duration::from_millis(1));
            assert!(other.enter(Whose::Model, 0).await.is_err());
            let why = other.closed();
            assert!(matches!(why, Some(Stop::Outage { .. })), "{status} {retry_after:?}");
        }
    }

    #[tokio::test]
    async fn a_failure_that_asks_for_nothing_holds_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (ledger(&folder).await, ledger(&folder).await);
        fail(&gate(&ours, None, HOUR), 503, None).await;
        let other = gate(&theirs, None, Duration::from_millis(1));
        assert!(other.enter(Whose::Model, 0).await.is_ok());
    }

    #[tokio::test]
    async fn who_keeps_no_rate_does_not_wait_for_those_who_do() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder).await;
        let slow = Throttle::new(ledger.clone(), "provider", Some(1));
        let turns = [slow.turn().await, slow.turn().await];
        assert!(turns[0].is_zero() && !turns[1].is_zero(), "{turns:?}");
        let free = gate(&ledger, None, HOUR);
        assert!(free.enter(Whose::Model, 0).await.is_ok());
        assert_eq!(free.state().pace.held(free.now()), Duration::ZERO);
    }
}
