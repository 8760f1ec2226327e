//! The one place that asks what time it is.

use std::time::{Duration, SystemTime};

/// Returns the time on the wall.
#[expect(clippy::disallowed_methods, reason = "time is an argument everywhere else")]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the milliseconds since 1970; 0 for a clock set before that.
pub(crate) fn unix_ms() -> u64 {
    let since = now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
