//! The loop: who leads runs a chain when one is due.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::watch::{
    Approved, Chain, ChainOutcome, ChainStart, Escalate, NextKind, Schedule, Step, Tier, Trigger,
    WatchMode,
};
use airtight_store::{
    ChainState, EscalationFilter, EscalationState, Ledger, Minutes, Order, PAGE_LIMIT, Page,
};
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
        office.leave().await?;
        done
    }

    /// Watches until it is stopped. While another process leads, this one waits to take its place.
    pub async fn run(&self) -> Result<(), WatchError> {
        let mut standing = Standing::First;
        while !self.stop.is_cancelled() {
            let Some(leadership) = Leadership::take(&self.ledger, self.estate.lease).await? else {
                if standing != Standing::Waiting {
                    self.teller.tell(Notice::Standby { leader: self.leader().await? });
                }
                standing = Standing::Waiting;
                self.pause(self.estate.look_every).await;
                continue;
            };
            let office = self.office(leadership).await?;
            let worked = office.work(standing).await;
            standing = Standing::Waiting;
            match worked {
                Ok(()) => office.leave().await?,
                // Whoever took over has everything; this one waits again.
                Err(WatchError::Replaced) => {}
                Err(error) => {
                    office.leave().await?;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn office(&self, leadership: Leadership) -> Result<Office<'_, S, C>, WatchError> {
        let (ledger, estate) = (self.ledger.clone(), Arc::clone(&self.estate));
        let lead = leadership.lead;
        self.teller.tell(Notice::Leading { fence: lead.fence() });
        let bell = Arc::new(Bell::new(&ledger, &estate).await?);
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
    /// It took over from another: it keeps to the schedule that it finds.
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
        let mut schedule = self.schedule(Standing::Waiting).await?;
        self.recover(&mut schedule).await?;
        while let Some((start, acted)) = self.approved().await? {
            self.begin(start, &mut schedule, vec![acted]).await?;
        }
        let Wish { trigger, tier, request } = wish;
        let start = ChainStart { id: book::fresh(), trigger, tier, request, approved: None };
        self.begin(start, &mut schedule, Vec::new()).await
    }

    /// Leads until it is stopped or replaced.
    async fn work(&self, standing: Standing) -> Result<(), WatchError> {
        let mut schedule = self.schedule(standing).await?;
        self.recover(&mut schedule).await?;
        let mut told = None;
        while !self.stop.is_cancelled() {
            if self.leadership.lost.is_cancelled() {
                return Err(WatchError::Replaced);
            }
            if let Some((start, acted)) = self.approved().await? {
                self.begin(start, &mut schedule, vec![acted]).await?;
                continue;
            }
            let now_ms = self.now_ms();
            self.release(now_ms).await?;
            let next = schedule.next(now_ms);
            if next.at_ms > now_ms {
                if told != Some(next.at_ms) {
                    self.teller.tell(Notice::Waiting { until_ms: next.at_ms });
                    told = Some(next.at_ms);
                }
                self.wait(next.at_ms.min(now_ms.saturating_add(self.look_ms()))).await;
                continue;
            }
            self.begin(due(&next.what, &mut schedule), &mut schedule, Vec::new()).await?;
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

    /// Returns when chains are due. Who is started and leads looks at once.
    async fn schedule(&self, standing: Standing) -> Result<Schedule, WatchError> {
        let interval_ms = i64::try_from(self.estate.interval.as_millis()).unwrap_or(i64::MAX);
        let fresh = Schedule::new(interval_ms);
        let Some(stored) = self.ledger.mark(SCHEDULE).await? else { return Ok(fresh) };
        let Ok(stored) = serde_json::from_str::<Schedule>(&stored) else {
            tracing::warn!("the schedule on record cannot be read, and begins anew");
            return Ok(fresh);
        };
        let last_end_ms = match standing {
            Standing::First => None,
            Standing::Waiting => stored.last_end_ms,
        };
        Ok(Schedule { interval_ms, last_end_ms, verifications: stored.verifications })
    }

    /// Returns the chain of an escalation that somebody gave leave to, if it may be acted on here: one
    /// that is not waits for a watch that may.
    async fn approved(&self) -> Result<Option<(ChainStart, String)>, WatchError> {
        let policy = &self.estate.policy.escalation;
        if policy.mode == WatchMode::DryRun || self.stop.is_cancelled() {
            return Ok(None);
        }
        let tier_of = |it: &airtight_store::Escalation| {
            Tier::try_from(it.tier).ok().filter(|tier| *tier <= policy.max_tier)
        };
        let filter =
            EscalationFilter { state: Some(EscalationState::Approved), ..Default::default() };
        let oldest = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };
        let found = self.ledger.escalations(&filter, oldest).await?;
        let mut found = found.into_iter().filter_map(|it| Some((tier_of(&it)?, it)));
        let Some((tier, approved)) = found.next() else { return Ok(None) };
        let escalate = Escalate {
            to: tier,
            affected: approved.affected,
            context: approved.context.unwrap_or_default(),
            events: Vec::new(),
        };
        let start = ChainStart {
            id: book::fresh(),
            trigger: Trigger::Manual,
            tier,
            request: None,
            approved: Some(Approved { from_session: approved.session, escalate }),
        };
        Ok(Some((start, approved.id)))
    }

    /// Begins a chain and performs it to its end. `acted` are the escalations that it acts on.
    async fn begin(
        &self,
        start: ChainStart,
        schedule: &mut Schedule,
        acted: Vec<String>,
    ) -> Result<ChainOutcome, WatchError> {
        let at_ms = self.now_ms();
        self.teller
            .tell(Notice::ChainBegan { chain: start.id.clone(), trigger: start.trigger.name() });
        let chain = Chain::begin(start, self.estate.policy.clone(), at_ms);
        let state = Some(ChainState { started_at: at_ms, ..self.chain_state(&chain, None)? });
        let minutes = Minutes { at_ms, chain: state, acted, ..Minutes::default() };
        self.ledger.minute(self.leadership.lead, minutes).await?;
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
                Step::Decay => chain.performed(self.now_ms())?,
                Step::DeleteHandoff => {
                    handoff::delete(self.estate.handoff.as_deref());
                    chain.performed(self.now_ms())?;
                }
                Step::RunTier(brief) => self.session(&mut chain, &brief).await?,
                Step::Record(record) => {
                    let at_ms = self.now_ms();
                    chain.performed(at_ms)?;
                    let mut minutes = book::minutes(chain.id(), &record, at_ms);
                    self.bell.ring(&mut minutes, record.notifications.clone(), chain.id());
                    minutes.chain = Some(self.chain_state(&chain, None)?);
                    self.ledger.minute(self.leadership.lead, minutes).await?;
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
