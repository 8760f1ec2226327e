//! What all processes with the same ledger keep to together: a rate, and the pauses that a provider asks
//! for.
//!
//! A ledger that fails here will say so where it matters: nobody waits for it, and nothing ends by it.

use std::time::Duration;

use airtight_store::{Bucket, Ledger};

/// What all processes that ask one provider with one key keep to together.
#[derive(Clone)]
pub(crate) struct Throttle {
    ledger: Ledger,
    /// Until when the provider wants to be left alone, as one of them was told.
    hold: Bucket,
    /// How many requests a minute may leave, if that is bounded.
    rate: Option<Bucket>,
}

impl Throttle {
    /// Makes the limits of one provider and key, which `name` tells apart.
    pub(crate) fn new(ledger: Ledger, name: &str, per_minute: Option<u32>) -> Self {
        // A second's worth at once, so that requests need not wait for each other.
        let rate = per_minute.map(|per_minute| Bucket {
            name: name.to_owned(),
            per_minute,
            burst: per_minute.div_ceil(60),
        });
        // A bucket of its own: who keeps no rate does not wait for those who do. It is filled at once, so
        // that it holds everybody back exactly as long as was said.
        let hold = Bucket { name: format!("{name} held"), per_minute: u32::MAX, burst: 1 };
        Self { ledger, hold, rate }
    }

    /// Claims that requests wait for their turn.
    pub(super) fn has_rate(&self) -> bool {
        self.rate.is_some()
    }

    /// Takes a turn, and returns how long to wait for it.
    pub(super) async fn turn(&self) -> Duration {
        match &self.rate {
            Some(rate) => self.ledger.take(rate, 1).await.unwrap_or_default(),
            None => Duration::ZERO,
        }
    }

    /// Returns how long the provider wants to be left alone: a read.
    pub(super) async fn held(&self) -> Duration {
        self.ledger.held(&self.hold).await.unwrap_or_default()
    }

    /// Tells the others that the provider wants to be left alone for `pause`.
    pub(super) async fn hold(&self, pause: Duration) {
        for bucket in std::iter::once(&self.hold).chain(&self.rate) {
            // They are told, if that is possible; here everybody knows already.
            drop(self.ledger.hold(bucket, pause).await);
        }
    }
}
