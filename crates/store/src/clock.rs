//! The database's clock, read once; after that, time as the machine counts it. So whoever sets the
//! machine's clock expires no lease, and all processes of a server share its clock.

use std::time::{Duration, Instant};

/// A clock that never goes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    base_ms: i64,
    since: Instant,
}

impl Clock {
    /// Makes a clock that shows `now_ms` now.
    pub(crate) fn showing(now_ms: i64) -> Self {
        Self { base_ms: now_ms, since: Instant::now() }
    }

    /// Returns the time in Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.base_ms.saturating_add(millis(self.since.elapsed()))
    }
}

/// Returns the whole milliseconds of `time`.
pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
