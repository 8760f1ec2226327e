//! Everyone at work: parts are reviewed side by side, and whatever ends it, what was found is kept.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airtight_core::run;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{interval, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::batch::{Errand, Performer, Settled, Stop};
use crate::error::{Error, Outcome};
use crate::progress::Progress;

/// How often the bar moves.
const TICK: Duration = Duration::from_millis(200);

/// Why no more parts are begun.
#[derive(Debug)]
pub(super) enum Halt {
    /// Something stops everybody.
    Stopped(Stop),
    /// The time is up.
    OutOfTime,
}

impl Halt {
    /// Returns the words for it beside what was not reviewed.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Stopped(stop) => stop.told(),
            Self::OutOfTime => "the time is up".to_owned(),
        }
    }

    /// Returns it as the end of the command; `place` names the ledger.
    pub(super) fn into_error(self, place: &str) -> Error {
        let error = |outcome, message: &str| Error::new(Outcome::Run(outcome), message);
        match self {
            Self::Stopped(Stop::Interrupted | Stop::Lost) => {
                error(run::Outcome::Interrupted, "the review was interrupted")
            }
            Self::Stopped(Stop::Budget) => {
                error(run::Outcome::Budget, "the budget of the review is spent")
                    .hint("raise `--max-cost` or `--max-tokens-total`")
            }
            Self::OutOfTime => error(run::Outcome::Budget, "the time of the review is up")
                .hint("raise `--max-wall-time`"),
            Self::Stopped(
                stop @ (Stop::Refused(_)
                | Stop::Unfit(_)
                | Stop::NotStarted(_)
                | Stop::Broken(_)
                | Stop::Outage { .. }
                | Stop::Store(_)),
            ) => stop.into_error(place),
        }
    }
}

/// What became of all parts, in their order; absent are those that have no result.
pub(super) struct Worked {
    pub(super) settled: Vec<Option<Settled>>,
    pub(super) halt: Option<Halt>,
}

/// Everyone at work.
pub(super) struct Crew {
    pub(super) performer: Arc<Performer>,
    /// The most runs under way.
    pub(super) most: usize,
    pub(super) interrupt: CancellationToken,
    pub(super) deadline: Option<Instant>,
}

/// Runs under way, and which part each is about.
#[derive(Default)]
struct AtWork {
    tasks: JoinSet<Result<Settled, Stop>>,
    parts: HashMap<Id, usize>,
}

impl Crew {
    /// Works until all parts have their result, or nothing can go on.
    pub(super) async fn work(&self, errands: Vec<Errand>, progress: Option<Progress>) -> Worked {
        let mut settled: Vec<Option<Settled>> = errands.iter().map(|_| None).collect();
        let mut waiting: VecDeque<(usize, Errand)> = errands.into_iter().enumerate().collect();
        let mut at_work = AtWork::default();
        let mut halt = None;
        // What ends early is ended as if by an interrupt: it is left to the next command.
        let stop = self.interrupt.child_token();
        let mut tick = interval(TICK);
        loop {
            while halt.is_none() && at_work.tasks.len() < self.most {
                let Some((part, errand)) = waiting.pop_front() else { break };
                self.begin(part, errand, &stop, &mut at_work);
            }
            let reason = tokio::select! {
                biased;
                joined = at_work.tasks.join_next_with_id() => match joined {
                    None => break,
                    Some(joined) => {
                        progress.iter().for_each(Progress::advance);
                        at_work.end(joined, &mut settled).err().map(Halt::Stopped)
                    }
                },
                () = self.interrupt.cancelled(), if halt.is_none() => {
                    Some(Halt::Stopped(Stop::Interrupted))
                }
                () = time_is_up(self.deadline), if halt.is_none() => {
                    stop.cancel();
                    Some(Halt::OutOfTime)
                }
                _ = tick.tick() => {
                    progress.iter().for_each(Progress::tick);
                    None
                }
            };
            if let Some(reason) = reason {
                halt.get_or_insert(reason);
            }
        }
        Worked { settled, halt }
    }

    fn begin(&self, part: usize, errand: Errand, stop: &CancellationToken, at_work: &mut AtWork) {
        let (performer, stop) = (Arc::clone(&self.performer), stop.clone());
        let task = async move { performer.perform(&errand, &stop).await };
        let id = at_work.tasks.spawn(task).id();
        at_work.parts.insert(id, part);
    }
}

impl AtWork {
    fn end(
        &mut self,
        joined: Result<(Id, Result<Settled, Stop>), JoinError>,
        settled: &mut [Option<Settled>],
    ) -> Result<(), Stop> {
        let (id, ended) = match joined {
            // What breaks down over one part is no reason to end the others, nor is a mistake of ours.
            Ok((id, Err(Stop::Broken(error)))) => (id, Ok(Settled::broken(&error))),
            Ok(ended) => ended,
            Err(error) => (error.id(), Ok(Settled::mistaken())),
        };
        let slot = self.parts.remove(&id).and_then(|part| settled.get_mut(part));
        if let Some(slot) = slot {
            *slot = Some(ended?);
        }
        Ok(())
    }
}

async fn time_is_up(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => pending().await,
    }
}
