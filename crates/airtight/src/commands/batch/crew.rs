//! Everyone at work: inputs come in, runs are performed side by side, results go out.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use airtight_core::run::RunError;
use airtight_store::Repeat;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Interval, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::inputs::{Input, Inputs};
use super::results::{Named, Results};
use super::tally::Tally;
use super::turns::Turns;
use crate::batch::{Errand, Performer, Settled, Stop};
use crate::error::{Error, Outcome};

/// How many inputs are read ahead.
const READ_AHEAD: usize = 32;

/// How often results are handed to those who follow them.
const FLUSH: Duration = Duration::from_secs(1);

/// How long inputs are counted that are not begun any more: enough for what people look at.
const COUNTING: Duration = Duration::from_secs(1);

/// What is done about an input that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadInputs {
    /// It is listed among the failures.
    Listed,
    /// Everything ends.
    Refused,
}

/// Everyone at work.
pub(super) struct Crew<'p> {
    pub(super) performer: Arc<Performer>,
    pub(super) desk: Desk,
    pub(super) batch: String,
    pub(super) repeat: Repeat,
    pub(super) bad_inputs: BadInputs,
    /// The most runs under way.
    pub(super) most: usize,
    pub(super) results: Results<'p>,
    pub(super) tally: Tally,
    pub(super) interrupt: CancellationToken,
    at_work: AtWork,
    turns: Turns<Work>,
}

/// Runs under way, and whose they are.
#[derive(Default)]
struct AtWork {
    tasks: JoinSet<Result<Settled, Stop>>,
    held: HashMap<Id, Held>,
}

/// An input that can be begun.
struct Work {
    named: Named,
    size: u64,
    errand: Errand,
}

/// An input whose run is under way.
struct Held {
    named: Named,
    size: u64,
    key: String,
}

/// Why no more inputs are begun.
enum Halt {
    Stopped(Stop),
    Failed(Error),
}

impl<'p> Crew<'p> {
    pub(super) fn new(
        performer: Performer,
        desk: Desk,
        batch: String,
        results: Results<'p>,
        tally: Tally,
    ) -> Self {
        Self {
            performer: Arc::new(performer),
            desk,
            batch,
            repeat: Repeat::Never,
            bad_inputs: BadInputs::Listed,
            most: 1,
            results,
            tally,
            interrupt: CancellationToken::new(),
            at_work: AtWork::default(),
            turns: Turns::default(),
        }
    }

    /// Works until all inputs have their result, or nothing can go on. What was begun comes to its
    /// end, or is postponed, either way.
    pub(super) async fn work(&mut self, inputs: Inputs, limit: u64) -> Result<(), Error> {
        // Of a pipe, only what is there is counted: more may come for hours.
        let counting = inputs.total_bytes.map_or(Duration::ZERO, |_| COUNTING);
        let mut inputs = read(inputs, limit);
        let mut halt = None;
        let mut next_position = 1;
        let mut flush = interval(FLUSH);
        let mut is_over = false;
        loop {
            let is_busy = !self.at_work.tasks.is_empty();
            // Who waits for a turn is kept in memory, too.
            let has_room = self.at_work.tasks.len() + self.turns.waiting() < self.most;
            let is_open = !is_over && halt.is_none();
            let wants_more = is_open && has_room && self.results.has_room_for(next_position);
            let event = tokio::select! {
                biased;
                Some(joined) = self.at_work.tasks.join_next_with_id() => Event::Ended(joined),
                () = self.interrupt.cancelled(), if is_open => Event::Halted(Stop::Interrupted),
                input = inputs.recv(), if wants_more => Event::Read(input),
                () = tick(&mut flush), if is_open || is_busy => Event::Flushed,
                else => break,
            };
            let done = match event {
                Event::Ended(joined) => self.end(joined).await,
                Event::Halted(stop) => Err(Halt::Stopped(stop)),
                Event::Flushed => self.results.flush().map_err(Halt::Failed),
                Event::Read(None) => {
                    is_over = true;
                    Ok(())
                }
                Event::Read(Some(input)) => {
                    next_position = input.position + 1;
                    self.begin(input).await
                }
            };
            if let Err(reason) = done {
                self.put_back();
                halt.get_or_insert(reason);
            }
        }
        if !is_over {
            self.tally.leave_unread(count(inputs, counting).await);
        }
        match halt {
            None => Ok(()),
            Some(Halt::Failed(error)) => Err(error),
            Some(Halt::Stopped(stop)) => Err(stop.into_error(&self.results.place)),
        }
    }

    async fn begin(&mut self, input: Input) -> Result<(), Halt> {
        let prepared = self.desk.prepare(&input);
        let Input { position, place, size, .. } = input;
        match prepared {
            Ok(mut prepared) => {
                let named = Named { position, place, key: prepared.named.take() };
                let errand = prepared.errand(&self.batch, position, self.repeat);
                let key = errand.key.clone();
                if let Some(work) = self.turns.take(&key, Work { named, size, errand }) {
                    self.start(work);
                }
                Ok(())
            }
            Err(why) if self.bad_inputs == BadInputs::Refused => {
                self.tally.postpone(size);
                let message = format!("input {position} (`{place}`) cannot be used: {why}");
                Err(Halt::Failed(Error::new(Outcome::Input, message).hint(format!(
                    "mend or remove input {position} first, or leave `--strict-inputs` out to list \
                     such inputs among the failures"
                ))))
            }
            Err(why) => {
                let named = Named { position, place, key: None };
                self.settle(named, size, Settled::unusable(why)).await
            }
        }
    }

    fn start(&mut self, work: Work) {
        let Work { named, size, errand } = work;
        let key = errand.key.clone();
        let performer = Arc::clone(&self.performer);
        let interrupt = self.interrupt.clone();
        let task = async move { performer.perform(&errand, &interrupt).await };
        let id = self.at_work.tasks.spawn(task).id();
        self.at_work.held.insert(id, Held { named, size, key });
    }

    /// Leaves those who wait for a turn to the next command.
    fn put_back(&mut self) {
        for work in self.turns.dismiss() {
            self.tally.postpone(work.size);
        }
    }

    async fn end(
        &mut self,
        joined: Result<(Id, Result<Settled, Stop>), JoinError>,
    ) -> Result<(), Halt> {
        let (id, ended) = match joined {
            Ok(ended) => ended,
            // A mistake of ours in one run is no reason to end the others.
            Err(error) => (error.id(), Ok(Settled::mistaken())),
        };
        let Some(Held { named, size, key }) = self.at_work.held.remove(&id) else { return Ok(()) };
        match ended {
            Ok(settled) => self.settle(named, size, settled).await?,
            Err(Stop::Broken(error)) => self.leave(&named, size, &error).await?,
            Err(stop) => {
                self.tally.postpone(size);
                return Err(Halt::Stopped(stop));
            }
        }
        if let Some(next) = self.turns.pass(&key) {
            self.start(next);
        }
        Ok(())
    }

    /// Leaves one input to the next command.
    async fn leave(&mut self, named: &Named, size: u64, why: &RunError) -> Result<(), Halt> {
        let redactor = &self.performer.shared.redactor;
        let why = why.told(|text| redactor.mask(text).into_owned());
        let Named { position, place, .. } = named;
        self.tally.leave(format!("input {position} (`{place}`): {why}"), size);
        self.results.leave(*position).await.map_err(Halt::Failed)
    }

    async fn settle(&mut self, named: Named, size: u64, settled: Settled) -> Result<(), Halt> {
        self.tally.count(&settled, size);
        self.results.add(named, settled).await.map_err(Halt::Failed)
    }
}

/// What happens next.
enum Event {
    Ended(Result<(Id, Result<Settled, Stop>), JoinError>),
    Halted(Stop),
    Read(Option<Input>),
    Flushed,
}

async fn tick(interval: &mut Interval) {
    interval.tick().await;
}

/// Counts the inputs that are still to come, unless that takes longer than `limit`.
async fn count(mut inputs: mpsc::Receiver<Input>, limit: Duration) -> Option<u64> {
    let mut counted = 0;
    let all = async {
        while inputs.recv().await.is_some() {
            counted += 1;
        }
    };
    timeout(limit, all).await.ok()?;
    Some(counted)
}

/// Reads inputs on a thread of their own: files and pipes make their readers wait.
fn read(inputs: Inputs, limit: u64) -> mpsc::Receiver<Input> {
    let (sender, receiver) = mpsc::channel(READ_AHEAD);
    thread::spawn(move || {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for input in inputs.take(limit) {
            if sender.blocking_send(input).is_err() {
                return;
            }
        }
    });
    receiver
}
