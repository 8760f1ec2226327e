//! What is to be told: never waits for who reads, and holds no more than it may.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use airtight_watch::{Notice, Teller};

/// The most that waits to be told: a day of a busy watch, and little memory.
const NOTICES_LIMIT: usize = 1_000;

/// What is to be told.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// Rung when there is something to tell, or nothing more will come.
    bell: Condvar,
}

#[derive(Debug, Default)]
struct State {
    notices: VecDeque<Notice>,
    /// What found no place behind the last of them.
    dropped: u64,
    is_ended: bool,
}

impl State {
    /// Puts what was dropped into its place, if there is one.
    fn account(&mut self) {
        if self.dropped > 0 && self.notices.len() < NOTICES_LIMIT {
            let count = std::mem::take(&mut self.dropped);
            self.notices.push_back(Notice::Dropped { count });
        }
    }
}

impl Teller for Queue {
    fn tell(&self, notice: Notice) {
        let mut state = self.state();
        state.account();
        if state.notices.len() < NOTICES_LIMIT {
            state.notices.push_back(notice);
        } else {
            state.dropped = state.dropped.saturating_add(1);
        }
        self.bell.notify_one();
    }
}

impl Queue {
    /// Says that nothing more will come.
    pub(super) fn end(&self) {
        self.state().is_ended = true;
        self.bell.notify_one();
    }

    /// Returns how much is not told yet.
    pub(super) fn left(&self) -> u64 {
        let state = self.state();
        state.dropped.saturating_add(u64::try_from(state.notices.len()).unwrap_or(u64::MAX))
    }

    /// Tells everything by `print`, until the end or until that fails.
    pub(super) fn speak<E>(
        &self,
        mut print: impl FnMut(&Notice) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(notice) = self.next() {
            print(&notice)?;
        }
        Ok(())
    }

    /// Waits for the next one; there is none behind the end.
    fn next(&self) -> Option<Notice> {
        let mut state = self.state();
        loop {
            if let Some(notice) = state.notices.pop_front() {
                return Some(notice);
            }
            state.account();
            if state.notices.is_empty() {
                if state.is_ended {
                    return None;
                }
                state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use super::*;

    fn waiting(until_ms: i64) -> Notice {
        Notice::Waiting { until_ms }
    }

    /// What finds no place is counted, and told where it is missing.
    #[test]
    fn what_nobody_takes_is_counted_and_told() {
        let queue = Arc::new(Queue::default());
        let (taken, takes) = channel();
        let (go, may_go) = channel::<()>();
        let speaking = Arc::clone(&queue);
        let speaker = std::thread::spawn(move || {
            let mut told = Vec::new();
            let ended: Result<(), Infallible> = speaking.speak(|notice| {
                told.push(notice.clone());
                if told.len() == 1 {
                    taken.send(()).unwrap();
                    may_go.recv().unwrap();
                }
                Ok(())
            });
            (ended, told)
        });
        queue.tell(waiting(0));
        takes.recv().unwrap();
        // Now its reader takes nothing.
        let last = i64::try_from(NOTICES_LIMIT).unwrap() + 3;
        (1..=last).for_each(|at| queue.tell(waiting(at)));
        assert_eq!(queue.left(), u64::try_from(last).unwrap());
        queue.end();
        go.send(()).unwrap();
        let (ended, told) = speaker.join().unwrap();
        assert_eq!(ended, Ok(()));
        let expected: Vec<Notice> =
            (0..=last - 3).map(waiting).chain([Notice::Dropped { count: 3 }]).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_told_after_a_gap_stands_behind_it() {
        let queue = Queue::default();
        (0..=NOTICES_LIMIT).for_each(|_| queue.tell(waiting(1)));
        assert_eq!(queue.next(), Some(waiting(1)));
        assert_eq!(queue.next(), Some(waiting(1)));
        queue.tell(waiting(2));
        queue.end();
        let mut told = Vec::new();
        let ended: Result<(), Infallible> = queue.speak(|notice| {
            told.push(notice.clone());
            Ok(())
        });
        assert_eq!(ended, Ok(()));
        let behind = told.split_off(NOTICES_LIMIT - 2);
        assert_eq!(behind, [Notice::Dropped { count: 1 }, waiting(2)]);
    }
}
