//! The lead of one process, renewed as long as it lives.

use std::time::Duration;

use airtight_store::{Lead, Ledger};
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
        let Some(lead) = ledger.lead(ttl).await? else { return Ok(None) };
        let lost = CancellationToken::new();
        let renewing = tokio::spawn(renew(ledger.clone(), ttl, lead, lost.clone()));
        Ok(Some(Self { lead, lost, renewing }))
    }
}

/// Renews the lead three times within its time, until it is lost.
async fn renew(ledger: Ledger, ttl: Duration, lead: Lead, lost: CancellationToken) {
    // However this ends, whoever acts on the lead is told.
    let _told = lost.drop_guard();
    let ttl_ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
    let mut renewed_ms = ledger.now_ms();
    while ledger.now_ms().saturating_sub(renewed_ms) < ttl_ms {
        tokio::time::sleep(ttl / 3).await;
        match ledger.lead(ttl).await {
            Ok(Some(still)) if still == lead => renewed_ms = ledger.now_ms(),
            // Taken by another, or given up and taken again: what was begun is not ours any more.
            Ok(Some(_) | None) => break,
            Err(error) => tracing::warn!(%error, "the lead is not renewed yet"),
        }
    }
}
