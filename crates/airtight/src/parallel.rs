//! Work on all cores with results in order and bounded memory.

use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

/// As much as the main thread has, so that what works there works here.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// How many jobs each worker may be ahead of the one that is awaited.
const JOBS_PER_WORKER: usize = 4;

/// How long to wait before saying so again.
const PATIENCE: Duration = Duration::from_millis(100);

/// What happens while jobs are done.
#[derive(Debug)]
pub(crate) enum Event<R> {
    /// The next job in order is done.
    Done(R),
    /// Nothing is ready yet: a moment to flush or to show progress.
    Waiting,
}

/// A job and where its result is awaited.
type Errand<J, R> = (J, SyncSender<R>);

/// Works off `jobs` on all cores and delivers each result in the order of the jobs.
///
/// Jobs are taken as there is room for them, so an endless iterator needs bounded memory. The
/// first error that `deliver` returns ends it.
pub(crate) fn in_order<J, R, E>(
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J) -> R + Sync,
    mut deliver: impl FnMut(Event<R>) -> Result<(), E>,
) -> Result<(), E>
where
    J: Send,
    R: Send,
    E: From<io::Error>,
{
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let (hand_out, errands) = sync_channel::<Errand<J, R>>(workers * JOBS_PER_WORKER);
    let (promise, promised) = sync_channel::<Receiver<R>>(workers * JOBS_PER_WORKER);
    let errands = Mutex::new(errands);
    thread::scope(|scope| {
        // Dropped on return: that is what ends the threads.
        let promised = promised;
        let mut started = spawn(scope, || run_errands(&errands, &work)).map(|_| 1)?;
        while started < workers && spawn(scope, || run_errands(&errands, &work)).is_ok() {
            started += 1;
        }
        spawn(scope, move || hand_out_all(jobs, &promise, &hand_out))?;
        while let Some(awaited) = wait(&promised, &mut deliver)? {
            let Some(result) = wait(&awaited, &mut deliver)? else { break };
            deliver(Event::Done(result))?;
        }
        Ok(())
    })
}

fn spawn<'scope, F: FnOnce() + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    task: F,
) -> io::Result<ScopedJoinHandle<'scope, ()>> {
    Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, task)
}

/// Promises each result in order, then has it made; ends when nobody awaits promises any more.
fn hand_out_all<J, R>(
    jobs: impl Iterator<Item = J>,
    promise: &SyncSender<Receiver<R>>,
    hand_out: &SyncSender<Errand<J, R>>,
) {
    for job in jobs {
        let (result, awaited) = sync_channel(1);
        if promise.send(awaited).is_err() || hand_out.send((job, result)).is_err() {
            return;
        }
    }
}

fn run_errands<J, R>(errands: &Mutex<Receiver<Errand<J, R>>>, work: &impl Fn(J) -> R) {
    loop {
        let next = errands.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((job, result)) = next else { return };
        // Nobody waits for it any more once delivery has failed.
        drop(result.send(work(job)));
    }
}

/// Returns what comes next, or nothing if nothing ever will.
fn wait<T, R, E>(
    channel: &Receiver<T>,
    deliver: &mut impl FnMut(Event<R>) -> Result<(), E>,
) -> Result<Option<T>, E> {
    if let Ok(ready) = channel.try_recv() {
        return Ok(Some(ready));
    }
    loop {
        deliver(Event::Waiting)?;
        match channel.recv_timeout(PATIENCE) {
            Ok(ready) => return Ok(Some(ready)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let mut seen = Vec::new();
        let work = |job: u32| {
            // Early jobs take longest.
            let rounds = (200 - job) * 500;
            (0..rounds).fold(job, |sum, round| std::hint::black_box(sum ^ round ^ round))
        };
        in_order(0..200, work, |event| {
            if let Event::Done(result) = event {
                seen.push(result);
            }
            Ok::<(), io::Error>(())
        })
        .unwrap();
        assert_eq!(seen, (0..200).collect::<Vec<u32>>());
    }

    #[test]
    fn a_failed_delivery_ends_an_endless_source() {
        let result = in_order(
            0u64..,
            |job| job,
            |event| match event {
                Event::Done(1000) => Err(io::Error::other("enough")),
                Event::Done(_) | Event::Waiting => Ok(()),
            },
        );
        assert_eq!(result.unwrap_err().to_string(), "enough");
    }
}
