//! Time, as the watch sees it: an argument, so that a month can pass in seconds.

use std::time::Duration;

use airtight_store::Ledger;

/// Says what time it is, and waits.
pub trait Clock: Send + Sync {
    /// Returns the time in Unix milliseconds.
    fn now_ms(&self) -> i64;

    /// Waits until it is `at_ms`.
    fn sleep_until(&self, at_ms: i64) -> impl Future<Output = ()> + Send;
}

/// The time of the database, which all who share it agree on. It never goes back, whoever sets the
/// machine's clock.
#[derive(Clone)]
pub struct LedgerClock(pub Ledger);

impl Clock for LedgerClock {
    fn now_ms(&self) -> i64 {
        self.0.now_ms()
    }

    async fn sleep_until(&self, at_ms: i64) {
        let left = u64::try_from(at_ms.saturating_sub(self.now_ms())).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(left)).await;
    }
}
