//! A worker on duty: claims jobs, does them, says that it lives, and ends when it is told to.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use airtight_store::{Again, Claim, ClaimedJob, Ledger, StoreError, Worker};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::benches::Benches;
use super::put_off::{Obstacle, PutOff, Rest, told};
use crate::batch::{Errand, Payload, Settled, Stop};
use crate::cli::WorkerArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Span, Tone, note};

/// How long to wait before an empty queue is looked at again, at most; chance makes it shorter, so that
/// workers do not come together.
const IDLE: Duration = Duration::from_millis(500);

/// How long a job that cannot be done here waits before it is offered again: perhaps to a newer worker.
const UNFIT_PAUSE: Duration = Duration::from_mins(1);

/// How long to wait at most for jobs that others put off before the queue is looked at again.
const WAIT: Duration = Duration::from_secs(5);

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
            put_off: PutOff::new(),
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
                let news = self.look().await.map_err(Stop::Store)?;
                if news == 0 {
                    let pause = IDLE.mul_f64(f64::midpoint(fastrand::f64(), 1.0));
                    self.clock.next_look = Instant::now() + pause;
                }
                if news == 0 && self.shift.until_empty && self.jobs.is_empty() {
                    self.finish().await.map_err(Stop::Store)?;
                }
            }
        }
        Ok(())
    }

    /// Ends if nothing is left that this worker could do, now or later.
    async fn finish(&mut self) -> Result<(), StoreError> {
        match self.put_off.rest(&self.shift.worker.queue, &self.ledger).await? {
            Rest::Nothing => self.leave(),
            Rest::Ours(left) => {
                self.left = Some(self.put_off.error(&left));
                self.leave();
            }
            // It has just come in.
            Rest::Others { pause } if pause.is_zero() => self.clock.next_look = Instant::now(),
            Rest::Others { pause } => {
                self.clock.next_look = Instant::now() + pause.min(WAIT);
                if !self.is_waiting {
                    self.is_waiting = true;
                    self.shift.warn("jobs are put off: waiting until they are due");
                }
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

    /// Claims as many jobs as there is room for; returns how many of them were news. Those that this worker
    /// put off before are none: a queue of them has no end.
    async fn look(&mut self) -> Result<usize, StoreError> {
        self.shift.worker.limit = self.room();
        let claimed = self.ledger.claim(&self.shift.worker).await?;
        let mut news = 0;
        for job in claimed {
            news += usize::from(!self.put_off.knows(job.claim.job()));
            self.begin(job).await?;
        }
        Ok(news)
    }

    async fn begin(&mut self, job: ClaimedJob) -> Result<(), StoreError> {
        let Payload { kind, prompt, .. } = match Payload::read(&job.payload) {
            Ok(payload) => payload,
            Err(error) => {
                let why = Error::new(Outcome::Contract, error.to_string());
                return self.refuse(&job, None, Obstacle::Job(why)).await;
            }
        };
        let performer = match self.benches.performer(&kind) {
            Ok(performer) => performer,
            Err(obstacle) => return self.refuse(&job, kind.critical, obstacle).await,
        };
        self.put_off.forget(job.claim.job());
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
    /// a person, unless it is this machine that lacks something.
    async fn refuse(
        &mut self,
        job: &ClaimedJob,
        critical: Option<String>,
        obstacle: Obstacle,
    ) -> Result<(), StoreError> {
        let number = job.claim.job();
        let again = match &obstacle {
            Obstacle::Here(_) => Again::Elsewhere(UNFIT_PAUSE),
            Obstacle::Job(_) if job.failures < UNFIT_LIMIT => Again::After(UNFIT_PAUSE),
            Obstacle::Job(_) => Again::WhenAsked,
        };
        let (Obstacle::Here(why) | Obstacle::Job(why)) = obstacle;
        let words = told(&why);
        tracing::warn!(job = number, why = words.as_str(), "a job cannot be done here");
        if matches!(again, Again::WhenAsked) {
            self.put_off.forget(number);
            self.set_aside += 1;
            self.lack(critical);
        } else if self.shift.until_empty {
            // It is said in the end.
            self.put_off.add(number, why);
        } else if let Some(reason) = self.put_off.reason(why) {
            self.shift.warn(&format!("jobs go back to the queue: {reason}"));
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
