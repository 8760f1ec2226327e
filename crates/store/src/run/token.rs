//! The right to write to a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use super::RunId;
use crate::retention::Level;

/// The right to write to a run. Whoever takes the run over gets another token, and this one is
/// refused from then on.
#[derive(Debug, Clone)]
pub struct RunToken {
    pub(crate) seq: i64,
    pub(crate) id: RunId,
    pub(crate) token: String,
    pub(crate) level: Level,
    /// Whether another had begun it.
    pub(crate) taken_over: bool,
    /// How many attempts are open.
    pub(crate) open: Arc<AtomicI64>,
    /// The numbers of the last attempt and the last event: numbers are given out before anything is
    /// written, so that a write that is sent twice is stored once.
    pub(crate) attempt: Arc<AtomicI64>,
    pub(crate) event: Arc<AtomicI64>,
    /// Whether there is a draft to forget.
    pub(crate) drafted: Arc<AtomicBool>,
}

impl RunToken {
    /// Returns the name of the run.
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Returns the number of the run in its ledger.
    pub fn number(&self) -> i64 {
        self.seq
    }

    /// Claims that another process had begun the run and is gone. What it sent may have been
    /// answered and paid.
    pub fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// Returns the number of the last attempt that was opened, 0 if none was.
    pub fn attempt(&self) -> i64 {
        self.attempt.load(Ordering::Relaxed)
    }

    /// Takes the number of the next attempt.
    pub(crate) fn next_attempt(&self) -> i64 {
        self.attempt.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes the numbers of `count` events and returns the first.
    pub(crate) fn next_events(&self, count: usize) -> i64 {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.event.fetch_add(count, Ordering::Relaxed) + 1
    }
}

/// Makes a token. It keeps honest processes apart; it is no secret.
pub(crate) fn fresh() -> String {
    format!("{:032x}", fastrand::u128(..))
}
