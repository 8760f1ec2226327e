//! The loop: who leads runs a chain when one is due.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::watch::{
    Chain, ChainOutcome, ChainStart, NextKind, Schedule, Step, Tier, Trigger,
};
use airtight_store::{ChainState, Ledger, Minutes, StoreError};
use tokio_util::sync::CancellationToken;

use crate::bell::Bell;
use crate::book;
use crate::clock::Clock;
use crate::dispatch::{Dispatch, Post};
use crate::error::WatchError;
use crate::estate::Estate;
use crate::handoff;
use crate::lead::Leadership;
use crate::notice::{Notice, Teller};
use crate::staff::Staff;

/// When the last scheduled chain ended, and what is to be looked at again.
pub(crate) const SCHEDULE: &str = "schedule";

/// Watches an estate.
pub struct Watcher<S, C> {
    ledger: Ledger,
    estate: Arc<Estate>,
    staff: S,
    clock: Arc<C>,
    teller: Arc<dyn Teller>,
    /// Ends the watch cleanly.
    stop: CancellationToken,
}

/// A process that leads, at work.
pub(crate) struct Office<'w, S, C> {
    pub(crate) ledger: Ledger,
    pub(crate) estate: Arc<Estate>,
    pub(crate) staff: &'w S,
    pub(crate) clock: Arc<C>,
    pub(crate) teller: Arc<dyn Teller>,
    pub(crate) stop: CancellationToken,
    pub(crate) leadership: Leadership,
    pub(crate) dispatch: Dispatch,
    pub(crate) bell: Arc<Bell>,
}

/// What a chain settles by beginning: both are on record together, or neither is.
pub(crate) enum Settled {
    /// Nothing: it was time, or it was asked for here.
    Nothing,
    /// An escalation that somebody gave leave to.
    Leave(String),
    /// A wish that somebody put on record.
    Wish(String),
}

/// What somebody asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Why.
    pub trigger: Trigger,
    /// The tier that begins.
    pub tier: Tier,
    /// What, in their words.
    pub request: Option<String>,
}

impl<S: Staff, C: Clock + 'static> Watcher<S, C> {
    /// Makes a watch that `stop` ends cleanly.
    pub fn new(
        (ledger, estate): (Ledger, Estate),
        staff: S,
        clock: C,
        teller: Arc<dyn Teller>,
        stop: CancellationToken,
    ) -> Self {
        let (estate, clock) = (Arc::new(estate), Arc::new(clock));
        Self { ledger, estate, staff, clock, teller, stop }
    }

    /// Runs one chain, and returns how it ended; refused if another process leads.
    pub async fn once(&self, wish: Wish) -> Result<ChainOutcome, WatchError> {
        let Some(leadership) = Leadership::take(&self.ledger, self.estate.lease).await? else {
            return Err(WatchError::Busy { leader: self.leader().await? });
        };
        let office = self.office(leadership).await?;
        let done = office.once(wish).await;
        let left = office.leave().await;
        let done = done?;
        left?;
        Ok(done)
    }

    /// Watches until it is stopped. While another process leads, this one waits to take its place; while
    /// the ledger fails in a way that passes, it waits for that.
    pub async fn run(&self) -> Result<(), WatchError> {
        let mut standing = Standing::First;
        while !self.stop.is_cancelled() {
            match self.term(&mut standing).await {
                // Whoever took over has everything; this one waits again.
                Ok(()) | Err(WatchError::Replaced) => {}
                Err(error) if error.is_passing() => {
                    tracing::warn!(%error, "the watch waits for its ledger");
                    self.pause(self.estate.look_every).await;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Leads for as long as it can, or waits for a moment.
    async fn term(&self, standing: &mut Standing) -> Result<(), WatchError> {
        let Some(leadership) = Leadership::take(&self.ledger, self.estate.lease).await? else {
            if *standing != Standing::Waiting {
                self.teller.tell(Notice::Standby { leader: self.leader().await? });
            }
            *standing = Standing::Waiting;
            self.pause(self.estate.look_every).await;
            return Ok(());
        };
        let office = self.office(leadership).await?;
        match office.work(std::mem::replace(standing, Standing::Waiting)).await {
            Ok(()) => office.leave().await,
            // It is another's by now, or there is nobody to give it up to.
            Err(error) if matches!(error, WatchError::Replaced) || error.is_passing() => Err(error),
            Err(error) => {
                if let Err(error) = office.leave().await {
                    tracing::warn!(%error, "the lead is not given up");
                }
                Err(error)
            }
        }
    }

    async fn office(&self, leadership: Leadership) -> Result<Office<'_, S, C>, WatchError> {
        let (ledger, estate) = (self.ledger.clone(), Arc::clone(&self.estate));
        let lead = leadership.lead;
        self.teller.tell(Notice::Leading { fence: lead.fence() });
        let bell = Arc::new(Bell::new(&ledger, estate.targets.clone()).await?);
        let clock = Arc::clone(&self.clock);
        let dispatch = Dispatch::start(&Post {
            ledger: ledger.clone(),
            lead,
            estate: Arc::clone(&estate),
            teller: Arc::clone(&self.teller),
            now: Arc::new(move || clock.now_ms()),
        });
        Ok(Office {
            ledger,
            estate,
            staff: &self.staff,
            clock: Arc::clone(&self.clock),
            teller: Arc::clone(&self.teller),
            stop: self.stop.clone(),
            leadership,
            dispatch,
            bell,
        })
    }

    async fn leader(&self) -> Result<String, WatchError> {
        let leader = self.ledger.leader().await?;
        Ok(leader.map_or("nobody any more".to_owned(), |leader| leader.owner))
    }

    async fn pause(&self, pause: Duration) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// How a process came to lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It was started and leads: it looks at once.
    First,
    /// It took over from another, or leads again: it keeps to the schedule that it finds.
    Waiting,
}

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Delivers what is queued, and gives the lead up.
    async fn leave(self) -> Result<(), WatchError> {
        let Self { ledger, leadership, dispatch, .. } = self;
        dispatch.end().await;
        // No renewal may follow.
        drop(leadership);
        Ok(ledger.resign().await?)
    }

    async fn once(&self, wish: Wish) -> Result<ChainOutcome, WatchError> {
        let mut schedule = self.schedule().await?;
        self.recover(&mut schedule).await?;
        while let Some((start, settled)) = self.approved().await? {
            self.begin(start, &mut schedule, settled).await?;
        }
        let Wish { trigger, tier, request } = wish;
        let start = ChainStart { id: book::fresh(), trigger, tier, request, approved: None };
        self.begin(start, &mut schedule, Settled::Nothing).await
    }

    /// Leads until it is stopped or replaced.
    async fn work(&self, standing: Standing) -> Result<(), WatchError> {
        let mut schedule = self.schedule().await?;
        self.recover(&mut schedule).await?;
        if standing == Standing::First {
            // Whatever others did before: who is started looks at once.
            schedule.last_end_ms = None;
        }
        let mut told = None;
        while !self.stop.is_cancelled() {
            if self.leadership.lost.is_cancelled() {
                return Err(WatchError::Replaced);
            }
            if let Some((start, settled)) = self.asked().await? {
                self.begin(start, &mut schedule, settled).await?;
                continue;
            }
            let now_ms = self.now_ms();
            let next = schedule.next(now_ms);
            if next.at_ms > now_ms {
                self.tick(now_ms).await?;
                if told != Some(next.at_ms) {
                    self.teller.tell(Notice::Waiting { until_ms: next.at_ms });
                    told = Some(next.at_ms);
                }
                self.wait(next.at_ms.min(now_ms.saturating_add(self.look_ms()))).await;
                continue;
            }
            self.begin(due(&next.what, &mut schedule), &mut schedule, Settled::Nothing).await?;
        }
        Ok(())
    }

    fn look_ms(&self) -> i64 {
        i64::try_from(self.estate.look_every.as_millis()).unwrap_or(i64::MAX).max(1)
    }

    async fn wait(&self, at_ms: i64) {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => {}
            () = self.leadership.lost.cancelled() => {}
            () = self.clock.sleep_until(at_ms) => {}
        }
    }

    /// Returns when chains are due.
    async fn schedule(&self) -> Result<Schedule, WatchError> {
        let interval_ms = i64::try_from(self.estate.interval.as_millis()).unwrap_or(i64::MAX);
        let fresh = Schedule::new(interval_ms);
        let Some(stored) = self.ledger.mark(SCHEDULE).await? else { return Ok(fresh) };
        let Ok(stored) = serde_json::from_str::<Schedule>(&stored) else {
            tracing::warn!("the schedule on record cannot be read, and begins anew");
            return Ok(fresh);
        };
        Ok(Schedule { interval_ms, ..stored })
    }

    /// Begins a chain and performs it to its end.
    async fn begin(
        &self,
        start: ChainStart,
        schedule: &mut Schedule,
        settled: Settled,
    ) -> Result<ChainOutcome, WatchError> {
        let at_ms = self.now_ms();
        let chain = Chain::begin(start, self.estate.policy.clone(), at_ms);
        let state = Some(ChainState { started_at: at_ms, ..self.chain_state(&chain, None)? });
        let mut minutes = Minutes { at_ms, chain: state, ..Minutes::default() };
        let is_wish = matches!(settled, Settled::Wish(_));
        match settled {
            Settled::Nothing => {}
            Settled::Leave(escalation) => minutes.acted.push(escalation),
            Settled::Wish(wish) => minutes.granted = Some(wish),
        }
        let began = self.ledger.minute(self.leadership.lead, minutes).await;
        if is_wish && matches!(began, Err(StoreError::NotFound { .. })) {
            // Whoever put it took it back in between.
            return Ok(ChainOutcome::Stopped);
        }
        began?;
        let (id, trigger) = (chain.id().to_owned(), chain.trigger().name());
        self.teller.tell(Notice::ChainBegan { chain: id, trigger });
        self.perform(chain, schedule).await
    }

    /// Performs a chain to its end.
    pub(crate) async fn perform(
        &self,
        mut chain: Chain,
        schedule: &mut Schedule,
    ) -> Result<ChainOutcome, WatchError> {
        loop {
            match chain.step() {
                Step::DeleteHandoff => {
                    handoff::delete(self.estate.handoff.as_deref());
                    chain.performed(self.now_ms())?;
                }
                Step::RunTier(brief) => self.session(&mut chain, &brief).await?,
                Step::Record(record) => {
                    let at_ms = self.now_ms();
                    chain.performed(at_ms)?;
                    let mut minutes = book::minutes(chain.id(), &record, at_ms);
                    let mut ringing = self.bell.ringing().await;
                    let notifications = record.notifications.clone();
                    ringing.ring(&mut minutes, notifications, Some(chain.id()));
                    minutes.chain = Some(self.chain_state(&chain, None)?);
                    self.ledger.minute(self.leadership.lead, minutes).await?;
                    ringing.rung();
                    self.tell(&record);
                    self.dispatch.wake();
                }
                Step::Done(outcome) => {
                    self.conclude(&chain, &outcome, schedule).await?;
                    return Ok(outcome);
                }
            }
        }
    }
}

/// Returns the chain that is due.
fn due(what: &NextKind, schedule: &mut Schedule) -> ChainStart {
    let (trigger, request) = match what {
        NextKind::Scheduled => (Trigger::Scheduled, None),
        NextKind::Verification(verification) => {
            schedule.verified(verification);
            (Trigger::Verification, Some(verification.request()))
        }
    };
    ChainStart { id: book::fresh(), trigger, tier: Tier::Observe, request, approved: None }
}
