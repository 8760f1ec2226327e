//! A worker on duty: claims jobs, does them, says that it lives, and ends when it is told to.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use airtight_store::{Again, Claim, ClaimedJob, Ledger, StoreError, Worker};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::benches::Benches;
use super::put_off::{NO_ACCESS, PutOff, Rest, told};
use crate::batch::{Errand, Payload, Settled, Stop};
use crate::cli::WorkerArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Span, Tone, note};

/// How long to wait before an empty queue is looked at again, at most; chance makes it shorter, so that
/// workers do not come together.
const IDLE: Duration = Duration::from_millis(500);

/// How long a job that cannot be done here waits before it is offered again: perhaps to a newer worker.
const UNFIT_PAUSE: Duration = Duration::from_mins(1);

/// Longer than any worker takes to end.
const FAR: Duration = Duration::from_hours(24);

/// How often a job may be returned as unfit before it is set aside.
const UNFIT_LIMIT: i64 = 20;

/// How a worker works.
pub(super) struct Shift {
    worker: Worker,
    grace: Duration,
    until_empty: bool,
    is_quiet: bool,
}

impl Shift {
    pub(super) fn of(args: &WorkerArgs) -> Self {
        let worker =
            Worker { queue: args.queue.clone(), limit: 0, lease: args.lease, claims: args.claims };
        let (until_empty, is_quiet) = (args.until_empty, args.quiet);
        Self { worker, grace: args.grace, until_empty, is_quiet }
    }

    fn warn(&self, words: &str) {
        if !self.is_quiet {
            note(&[Span::new(Tone::Warning, "warning:"), Span::plain(format!(" {words}"))]);
        }
    }
}

/// A worker on duty.
pub(super) struct Duty {
    ledger: Ledger,
    benches: Benches,
    shift: Shift,
    /// Takes no more jobs.
    told_to_end: CancellationToken,
    jobs: JoinSet<Result<Settled, Stop>>,
    held: HashMap<Id, Held>,
    clock: Clock,
    put_off: PutOff,
    /// Whether it was said that jobs are waited for.
    is_waiting: bool,
    /// Why jobs are left that this worker cannot do, once there is nothing else to do.
    pub(super) left: Option<Error>,
    pub(super) done: u64,
    pub(super) failed: u64,
    /// Jobs that nobody can do as they are.
    pub(super) set_aside: u64,
    /// How many of both have a contract that nothing may go on without, by its name.
    pub(super) critical: BTreeMap<String, u64>,
}

/// When something is due.
#[derive(Clone, Copy)]
struct Clock {
    next_look: Instant,
    next_beat: Instant,
    /// When jobs under way are given up; set once no more are taken.
    end_at: Option<Instant>,
}

/// A job under way.
struct Held {
    claim: Claim,
    /// Ends its run.
    interrupt: CancellationToken,
    /// Its contract, if nothing may go on without its answer.
    critical: Option<String>,
}

/// What happens next.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
enum Event {
    Ended(Result<(Id, Result<Settled, Stop>), JoinError>),
    Beat,
    Look,
    Told,
    GraceOver,
}

impl Duty {
    pub(super) fn new(
        ledger: Ledger,
        benches: Benches,
        shift: Shift,
        told_to_end: CancellationToken,
    ) -> Self {
        let now = Instant::now();
        let clock = Clock { next_look: now, next_beat: now + shift.worker.lease / 3, end_at: None };
        let (jobs, held) = (JoinSet::new(), HashMap::new());
        Self {
            ledger,
            benches,
            shift,
            told_to_end,
            jobs,
            held,
            clock,
            put_off: PutOff::default(),
            is_waiting: false,
            left: None,
            done: 0,
            failed: 0,
            set_aside: 0,
            critical: BTreeMap::new(),
        }
    }

    /// Works until it is told to end, or cannot go on. Every job comes to its end, or goes back.
    pub(super) async fn work(&mut self) -> Result<(), Stop> {
        let mut stop: Option<Stop> = None;
        loop {
            if self.clock.end_at.is_some() && self.jobs.is_empty() {
                return stop.map_or(Ok(()), Err);
            }
            let event = self.next().await;
            if let Err(reason) = self.heed(event).await {
                self.leave();
                stop.get_or_insert(reason);
            }
        }
    }

    async fn next(&mut self) -> Event {
        let Clock { next_look, next_beat, end_at } = self.clock;
        let is_open = end_at.is_none();
        let has_room = self.room() > 0;
        tokio::select! {
            biased;
            () = self.told_to_end.cancelled(), if is_open => Event::Told,
            () = sleep_until(next_beat) => Event::Beat,
            Some(joined) = self.jobs.join_next_with_id() => Event::Ended(joined),
            () = reached(end_at) => Event::GraceOver,
            () = sleep_until(next_look), if is_open && has_room => Event::Look,
        }
    }

    async fn heed(&mut self, event: Event) -> Result<(), Stop> {
        match event {
            Event::Told => self.leave(),
            Event::GraceOver => {
                self.held.values().for_each(|held| held.interrupt.cancel());
                // Once is enough: each of them returns its job as soon as it can.
                self.clock.end_at = Some(Instant::now() + FAR);
            }
            Event::Beat => {
                self.clock.next_beat = Instant::now() + self.shift.worker.lease / 3;
                self.beat().await?;
            }
            Event::Ended(joined) => {
                self.clock.next_look = Instant::now();
                self.end(joined)?;
            }
            Event::Look => {
                let found = self.look().await.map_err(Stop::Store)?;
                if found == 0 && self.shift.until_empty && self.jobs.is_empty() {
                    self.finish().await.map_err(Stop::Store)?;
                }
                if found == 0 {
                    let pause = IDLE.mul_f64(f64::midpoint(fastrand::f64(), 1.0));
                    self.clock.next_look = Instant::now() + pause;
                }
            }
        }
        Ok(())
    }

    /// Ends if nothing is left that this worker could do, now or later.
    async fn finish(&mut self) -> Result<(), StoreError> {
        match self.put_off.rest(&self.shift.worker.queue, &self.ledger).await? {
            Rest::Nothing => self.leave(),
            Rest::Ours { jobs, pause } => {
                self.left = Some(std::mem::take(&mut self.put_off).into_error(jobs, pause));
                self.leave();
            }
            Rest::Others if self.is_waiting => {}
            Rest::Others => {
                self.is_waiting = true;
                self.shift.warn("jobs are put off: waiting until they are due");
            }
        }
        Ok(())
    }

    /// Takes no more jobs.
    fn leave(&mut self) {
        let end_at = Instant::now() + self.shift.grace;
        self.clock.end_at.get_or_insert(end_at);
    }

    /// Returns how many more jobs can be done at once.
    fn room(&self) -> u32 {
        self.benches.most().saturating_sub(u32::try_from(self.jobs.len()).unwrap_or(u32::MAX))
    }

    /// Claims as many jobs as there is room for; returns how many there were.
    async fn look(&mut self) -> Result<usize, StoreError> {
        self.shift.worker.limit = self.room();
        let claimed = self.ledger.claim(&self.shift.worker).await?;
        let count = claimed.len();
        for job in claimed {
            self.begin(job).await?;
        }
        Ok(count)
    }

    async fn begin(&mut self, job: ClaimedJob) -> Result<(), StoreError> {
        let Payload { kind, prompt, .. } = match Payload::read(&job.payload) {
            Ok(payload) => payload,
            Err(error) => {
                let why = Error::new(Outcome::Contract, error.to_string());
                return self.refuse(&job, None, why).await;
            }
        };
        let performer = match self.benches.performer(&kind) {
            Ok(performer) => performer,
            Err(error) => return self.refuse(&job, kind.critical, error).await,
        };
        let errand = Errand {
            key: job.key.unwrap_or_else(|| format!("job {}", job.claim.job())),
            prompt,
            batch: job.batch,
            position: job.position,
            claim: Some(job.claim.clone()),
            ..Errand::default()
        };
        let interrupt = CancellationToken::new();
        let critical = kind.critical;
        let held = Held { claim: job.claim, interrupt: interrupt.clone(), critical };
        let task = async move { performer.perform(&errand, &interrupt).await };
        let id = self.jobs.spawn(task).id();
        self.held.insert(id, held);
        Ok(())
    }

    /// Returns a job that cannot be done here, for a worker that can; a job that nobody wants waits for
    /// a person, unless it is only a key that is missing here.
    async fn refuse(
        &mut self,
        job: &ClaimedJob,
        critical: Option<String>,
        why: Error,
    ) -> Result<(), StoreError> {
        let (number, words) = (job.claim.job(), told(&why));
        tracing::warn!(job = number, why = words.as_str(), "a job cannot be done here");
        let is_offered = job.failures < UNFIT_LIMIT || why.kind == NO_ACCESS;
        let again = if is_offered { Again::After(UNFIT_PAUSE) } else { Again::WhenAsked };
        if is_offered {
            let news = self.put_off.add(number, why);
            // Who ends with the queue says so in the end.
            if let Some(reason) = news.filter(|_| !self.shift.until_empty) {
                self.shift.warn(&format!("jobs go back to the queue: {reason}"));
            }
        } else {
            self.put_off.forget(number);
            self.set_aside += 1;
            self.lack(critical);
        }
        match self.ledger.release(&job.claim, again, &words).await {
            Ok(()) | Err(StoreError::Fenced) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Says that this worker lives, and gives up the jobs that it has lost all the same.
    async fn beat(&mut self) -> Result<(), Stop> {
        let claims: Vec<Claim> = self.held.values().map(|held| held.claim.clone()).collect();
        if claims.is_empty() {
            return Ok(());
        }
        match self.ledger.heartbeat(&claims, self.shift.worker.lease).await {
            Ok(lost) => {
                let is_lost = |held: &&Held| lost.contains(&held.claim);
                self.held.values().filter(is_lost).for_each(|held| held.interrupt.cancel());
                Ok(())
            }
            Err(error) => Err(Stop::Store(error)),
        }
    }

    /// Counts a job without an answer, if nothing may go on without it.
    fn lack(&mut self, critical: Option<String>) {
        if let Some(name) = critical {
            *self.critical.entry(name).or_default() += 1;
        }
    }

    fn end(&mut self, joined: Result<(Id, Result<Settled, Stop>), JoinError>) -> Result<(), Stop> {
        let (id, ended) = match joined {
            Ok(ended) => ended,
            // A mistake of ours: the lease runs out, and too many of them quarantine the job.
            Err(error) => (error.id(), Err(Stop::Lost)),
        };
        let critical = self.held.remove(&id).and_then(|held| held.critical);
        match ended {
            Ok(settled) if settled.is_met() => self.done += 1,
            Ok(_) => {
                self.failed += 1;
                self.lack(critical);
            }
            Err(Stop::Lost | Stop::Interrupted | Stop::Broken(_)) => {}
            Err(Stop::Unfit(error)) => {
                tracing::warn!(why = error.message, "a job is set aside");
                self.set_aside += 1;
                self.lack(critical);
            }
            Err(stop) => return Err(self.benches.closed().unwrap_or(stop)),
        }
        Ok(())
    }
}

async fn reached(end_at: Option<Instant>) {
    match end_at {
        Some(end_at) => sleep_until(end_at).await,
        None => std::future::pending().await,
    }
}
