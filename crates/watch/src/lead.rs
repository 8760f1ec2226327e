//! The lead of one process, renewed as long as it lives.

use std::time::Duration;

use airtight_store::{Lead, Ledger, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::WatchError;

/// The lead, renewed in the background until this is dropped.
#[derive(Debug)]
pub(crate) struct Leadership {
    pub(crate) lead: Lead,
    /// Cancelled when the lead is lost.
    pub(crate) lost: CancellationToken,
    renewing: JoinHandle<()>,
}

impl Drop for Leadership {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl Leadership {
    /// Takes the lead; nothing if another process has it.
    pub(crate) async fn take(ledger: &Ledger, ttl: Duration) -> Result<Option<Self>, WatchError> {
        let asked_ms = ledger.now_ms();
        let Some(lead) = ledger.lead(ttl).await? else { return Ok(None) };
        let lost = CancellationToken::new();
        let (told, ledger) = (lost.clone(), ledger.clone());
        let renewing = tokio::spawn(async move {
            // However this ends, whoever acts on the lead is told.
            let _told = told.drop_guard();
            let now_ms = || ledger.now_ms();
            let ask = || async { ledger.lead(ttl).await };
            renew(lead, Lease { ttl, asked_ms }, now_ms, ask).await;
        });
        Ok(Some(Self { lead, lost, renewing }))
    }
}

/// For how long a lead lasts.
struct Lease {
    ttl: Duration,
    /// When it was asked for last, which is before it begins.
    asked_ms: i64,
}

impl Lease {
    /// Returns how much is left of it; nothing if it is over.
    fn left(&self, now_ms: i64) -> Option<Duration> {
        let ttl_ms = i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX);
        let left_ms = self.asked_ms.saturating_add(ttl_ms).saturating_sub(now_ms);
        u64::try_from(left_ms).ok().filter(|left| *left > 0).map(Duration::from_millis)
    }
}

/// Renews the lead three times within its time, until it is lost. Whoever does not answer within the lease
/// has not renewed it.
async fn renew<A>(lead: Lead, mut lease: Lease, now_ms: impl Fn() -> i64, ask: impl Fn() -> A)
where
    A: Future<Output = Result<Option<Lead>, StoreError>>,
{
    while let Some(left) = lease.left(now_ms()) {
        tokio::time::sleep((lease.ttl / 3).min(left)).await;
        let asked_ms = now_ms();
        let Some(left) = lease.left(asked_ms) else { return };
        match tokio::time::timeout(left, ask()).await {
            Ok(Ok(Some(still))) if still == lead => lease.asked_ms = asked_ms,
            // Taken by another, or given up and taken again: what was begun is not ours any more.
            Ok(Ok(Some(_) | None)) => return,
            Ok(Err(error)) => tracing::warn!(%error, "the lead is not renewed yet"),
            Err(_) => tracing::warn!("the lead was not renewed in time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use airtight_store::Location;

    use super::*;

    /// A ledger that does not answer must not let a lead last beyond its lease, which begins when it is
    /// asked for.
    #[tokio::test]
    async fn a_renewal_that_hangs_ends_with_the_lease() {
        let folder = tempfile::tempdir().unwrap();
        let place = Location::Sqlite(folder.path().join("ledger.db"));
        let ledger = Ledger::open(&place).await.unwrap();
        let lead = ledger.lead(Duration::from_mins(1)).await.unwrap().unwrap();
        let asked = AtomicU32::new(0);
        let ask = || async {
            if asked.fetch_add(1, Ordering::SeqCst) == 0 {
                return Ok(Some(lead));
            }
            std::future::pending().await
        };
        let lease = Lease { ttl: Duration::from_millis(300), asked_ms: ledger.now_ms() };
        // Ends at all: the test has a limit.
        renew(lead, lease, || ledger.now_ms(), ask).await;
        assert_eq!(asked.load(Ordering::SeqCst), 2, "one renewal, and one that nobody answered");
        ledger.close().await;
    }

    #[test]
    fn a_lease_is_over_when_its_time_is() {
        let lease = Lease { ttl: Duration::from_millis(10), asked_ms: 5 };
        let left = [5, 14, 15, 99].map(|now_ms| lease.left(now_ms));
        let ms = |left| Some(Duration::from_millis(left));
        assert_eq!(left, [ms(10), ms(1), None, None]);
    }
}
