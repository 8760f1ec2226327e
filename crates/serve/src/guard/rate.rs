//! How often something may happen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often something may happen: so many times a second, and as many at once.
#[derive(Debug)]
pub(super) struct Rate {
    /// How long each time takes up.
    each: Duration,
    /// When everything is free again (GCRA).
    free_at: Mutex<Option<Instant>>,
}

/// How much may be taken at once: the share of one second.
const BURST: Duration = Duration::from_secs(1);

impl Rate {
    pub(super) fn new(per_second: u32) -> Self {
        Self { each: BURST / per_second.max(1), free_at: Mutex::default() }
    }

    /// Takes one, if it may happen now.
    pub(super) fn take(&self) -> Result<(), ()> {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> Result<(), ()> {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let next = free_at.map_or(now, |free_at| free_at.max(now)) + self.each;
        if next > now + BURST {
            return Err(());
        }
        *free_at = Some(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_a_second_allows_may_come_at_once_and_then_one_by_one() {
        let rate = Rate::new(4);
        let start = Instant::now();
        let mut take = |ms| rate.take_at(start + Duration::from_millis(ms)).is_ok();
        assert_eq!([0, 0, 0, 0, 0].map(&mut take), [true, true, true, true, false]);
        assert_eq!([249, 250, 251, 500].map(&mut take), [false, true, false, true]);
    }
}
