//! The database's clock, read once; after that, time as the machine counts it. So whoever sets the
//! machine's clock expires no lease, and all processes of a server share its clock.
//!
//! The time that a machine sleeps counts: whoever is started after it woke reads the database's clock,
//! and must not be hours ahead of those who slept.

use std::time::{Duration, Instant};

/// A clock that never goes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    base_ms: i64,
    since: Moment,
}

impl Clock {
    /// Makes a clock that shows `now_ms` now.
    pub(crate) fn showing(now_ms: i64) -> Self {
        Self { base_ms: now_ms, since: Moment::now() }
    }

    /// Returns the time in Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.base_ms.saturating_add(millis(self.since.elapsed()))
    }
}

/// A moment by two counters of the machine that nobody can set.
#[derive(Debug, Clone, Copy)]
struct Moment {
    awake: Instant,
    /// Since the machine was started, asleep or not; absent where it is not known.
    up: Option<Duration>,
}

impl Moment {
    fn now() -> Self {
        Self { awake: Instant::now(), up: uptime() }
    }

    /// Returns the time since then: never less than the machine was awake.
    fn elapsed(&self) -> Duration {
        let up = self.up.zip(uptime()).and_then(|(then, now)| now.checked_sub(then));
        self.awake.elapsed().max(up.unwrap_or_default())
    }
}

/// Returns how long the machine has been up, with the time that it slept.
#[cfg(target_os = "linux")]
fn uptime() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}

/// Elsewhere the counter of `Instant` has to do.
#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<Duration> {
    None
}

/// Returns the whole milliseconds of `time`.
pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P7: a machine that slept for eight hours does not lag behind those that are started after it woke.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_that_a_machine_sleeps_counts() {
        let slept = Duration::from_hours(8);
        let now = Moment::now();
        // As it would have been counted before the sleep: awake until now, and eight hours of uptime less.
        let before = Moment { up: now.up.map(|up| up.saturating_sub(slept)), ..now };
        let expected = now.up.unwrap().min(slept);
        assert!(before.elapsed() >= expected);
        let clock = Clock { base_ms: 1_000, since: before };
        assert!(clock.now_ms() >= 1_000 + millis(expected));
    }

    #[test]
    fn it_never_goes_back() {
        let now = Moment::now();
        let ahead = now.up.map(|up| up + Duration::from_hours(1));
        let clock = Clock { base_ms: 5, since: Moment { up: ahead, ..now } };
        assert!(clock.now_ms() >= 5, "a counter that went back takes nothing");
    }
}
