//! The loop: who leads runs a chain when one is due.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use airtight_core::watch::{
    ActionState, Approved, Chain, ChainOutcome, ChainStart, Escalate, Event, Level, NextKind,
    Schedule, Step, Tier, Trigger, Verification, WatchMode, is_digest_due, settle_claims,
};
use airtight_store::{
    ActionFilter, ChainState, EscalationFilter, EscalationState, Ledger, Minutes, Order,
    PAGE_LIMIT, Page,
};
use tokio_util::sync::CancellationToken;

use crate::book;
use crate::clock::Clock;
use crate::digest;
use crate::dispatch::Dispatch;
use crate::error::WatchError;
use crate::estate::Estate;
use crate::lead::Leadership;
use crate::notice::{Notice, Teller};
use crate::staff::Staff;

/// When the last scheduled chain ended, and what is to be looked at again.
const SCHEDULE: &str = "schedule";

/// When the last chain ended.
const LAST_RUN: &str = "last_run";

/// When the last digest was queued.
const LAST_DIGEST: &str = "last_digest";

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
        let office = self.office(leadership);
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
            let office = self.office(leadership);
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

    fn office(&self, leadership: Leadership) -> Office<'_, S, C> {
        let (ledger, estate) = (self.ledger.clone(), Arc::clone(&self.estate));
        let lead = leadership.lead;
        self.teller.tell(Notice::Leading { fence: lead.fence() });
        let dispatch = Dispatch::start(&ledger, lead, &estate, &self.teller);
        Office {
            ledger,
            estate,
            staff: &self.staff,
            clock: Arc::clone(&self.clock),
            teller: Arc::clone(&self.teller),
            stop: self.stop.clone(),
            leadership,
            dispatch,
        }
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
    async fn perform(
        &self,
        mut chain: Chain,
        schedule: &mut Schedule,
    ) -> Result<ChainOutcome, WatchError> {
        loop {
            match chain.step() {
                Step::Decay => chain.performed(self.now_ms())?,
                Step::DeleteHandoff => {
                    delete(self.estate.handoff.as_deref());
                    chain.performed(self.now_ms())?;
                }
                Step::RunTier(brief) => self.session(&mut chain, &brief).await?,
                Step::Record(record) => {
                    let at_ms = self.now_ms();
                    chain.performed(at_ms)?;
                    let mut minutes = book::minutes(&self.estate, chain.id(), &record, at_ms);
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

    /// Puts the end of a chain on record, with what follows from it.
    async fn conclude(
        &self,
        chain: &Chain,
        outcome: &ChainOutcome,
        schedule: &mut Schedule,
    ) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        schedule.chain_ended(chain.trigger(), at_ms);
        // What was done to a service is looked at again, however the chain ended.
        if let Some(after) = self.estate.verify_after
            && !chain.acted_on().is_empty()
        {
            schedule.repaired(Verification {
                services: chain.acted_on().to_vec(),
                repaired_at_ms: at_ms,
                after_ms: i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            });
        }
        let schedule = serde_json::to_string(schedule).map_err(WatchError::Unwritable)?;
        let mut marks =
            vec![(LAST_RUN.to_owned(), at_ms.to_string()), (SCHEDULE.to_owned(), schedule)];
        let last = self.ledger.mark(LAST_DIGEST).await?.and_then(|mark| mark.parse().ok());
        let mut notifications = Vec::new();
        if is_digest_due(last, at_ms) {
            let digest = digest::of(&self.ledger, at_ms).await?.notification(at_ms);
            notifications = book::queued(&self.estate, &digest, chain.id());
            marks.push((LAST_DIGEST.to_owned(), at_ms.to_string()));
        }
        let state = Some(self.chain_state(chain, Some(at_ms))?);
        let minutes = Minutes { at_ms, chain: state, marks, notifications, ..Minutes::default() };
        self.ledger.minute(self.leadership.lead, minutes).await?;
        self.dispatch.wake();
        self.teller.tell(Notice::ChainEnded {
            chain: chain.id().to_owned(),
            outcome: outcome_word(outcome).to_owned(),
        });
        Ok(())
    }

    /// Goes on with what a leader before left. Nothing that had begun is done again.
    async fn recover(&self, schedule: &mut Schedule) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        let open = ActionFilter { state: Some(ActionState::Reserved), ..ActionFilter::default() };
        let records = book::actions_of(&self.ledger, open).await?;
        let mut minutes = Minutes { at_ms, ..Minutes::default() };
        for change in settle_claims(&records, &[], at_ms) {
            book::act(&mut minutes, &change, None, 0);
        }
        if !minutes.actions.is_empty() {
            self.ledger.minute(self.leadership.lead, minutes).await?;
        }
        let Some(left) = self.ledger.open_chain().await? else { return Ok(()) };
        self.teller.tell(Notice::Recovered { chain: left.id.clone() });
        match serde_json::from_str::<Chain>(&left.machine) {
            Ok(mut chain) => {
                chain.recovered(at_ms);
                self.perform(chain, schedule).await.map(drop)
            }
            Err(error) => self.give_up(left, &error.to_string()).await,
        }
    }

    /// Ends a chain that cannot be read: of another version, or damaged.
    async fn give_up(&self, left: airtight_store::Chain, why: &str) -> Result<(), WatchError> {
        let at_ms = self.now_ms();
        let message = format!("a chain that was left cannot be gone on with: {why}");
        let event = Event::of_watch(Level::Critical, message);
        let events = vec![book::event(&event, None, &left.id, "watch")];
        let chain = Some(ChainState {
            id: left.id,
            cause: left.cause,
            machine: left.machine,
            started_at: left.started_at,
            ended_at: Some(at_ms),
        });
        let minutes = Minutes { at_ms, chain, events, ..Minutes::default() };
        Ok(self.ledger.minute(self.leadership.lead, minutes).await?)
    }

    /// Returns where a chain stands, as the ledger keeps it; when it began is kept from the first time.
    pub(crate) fn chain_state(
        &self,
        chain: &Chain,
        ended_at: Option<i64>,
    ) -> Result<ChainState, WatchError> {
        Ok(ChainState {
            id: chain.id().to_owned(),
            cause: chain.trigger().name().to_owned(),
            machine: serde_json::to_string(chain).map_err(WatchError::Unwritable)?,
            started_at: self.now_ms(),
            ended_at,
        })
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

/// Deletes a handoff; what cannot be deleted is found to be stale by its time.
fn delete(handoff: Option<&Path>) {
    let Some(path) = handoff else { return };
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, path = %path.display(), "a handoff is not deleted"),
    }
}

fn outcome_word(outcome: &ChainOutcome) -> &'static str {
    match outcome {
        ChainOutcome::Settled { .. } => "settled",
        ChainOutcome::Blocked(_) => "blocked",
        ChainOutcome::Aborted => "aborted",
        ChainOutcome::Lost => "lost",
        ChainOutcome::Stale => "stale",
        ChainOutcome::Stopped => "stopped",
        ChainOutcome::Failed => "failed",
    }
}
