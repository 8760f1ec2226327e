//! Chance that is the same in every run.

use std::sync::atomic::{AtomicU64, Ordering};

/// A sequence of numbers.
#[derive(Debug)]
pub(crate) struct Chance(AtomicU64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds begin far from each other.
        Self(AtomicU64::new(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// Returns a number below `limit`.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        let step = |it: u64| {
            it.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
        };
        let next = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| Some(step(it)));
        (next.unwrap() >> 33) % limit
    }

    /// Claims something that is so once in `times`.
    pub(crate) fn is_one_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }
}
