//! What is kept no longer: once a day, with the digest, whoever leads drops it.
//!
//! The rule it protects: nothing is dropped in silence, nothing that still counts is dropped, and what cannot
//! be dropped never ends a watch. The runs of sessions are not the watch's: they are kept as their policy says.

use airtight_core::calendar::rfc3339;
use airtight_core::watch::{Event, Level};
use airtight_store::{Minutes, NewWatchEvent};
use tokio::task::spawn_blocking;

use crate::book;
use crate::clock::Clock;
use crate::error::WatchError;
use crate::log;
use crate::notice::Notice;
use crate::staff::Staff;
use crate::watcher::Office;

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Drops what is kept no longer at `at_ms`; what cannot be dropped is left for the next day.
    pub(crate) async fn drop_old(&self, at_ms: i64) -> Result<(), WatchError> {
        let Some(before_ms) = self.kept_since(at_ms) else { return Ok(()) };
        match self.drop_before(before_ms, at_ms).await {
            Ok(()) => Ok(()),
            Err(WatchError::Replaced) => Err(WatchError::Replaced),
            Err(error) => {
                tracing::warn!(%error, "what is kept no longer is still there");
                Ok(())
            }
        }
    }

    /// Returns since when what is over is kept, if not for ever; never for less than an action counts.
    fn kept_since(&self, at_ms: i64) -> Option<i64> {
        let keep_ms = i64::try_from(self.estate.keep?.as_millis()).unwrap_or(i64::MAX);
        let limits = &self.estate.limits;
        let counts_ms = limits.restarts.within_ms.max(limits.redeployments.within_ms);
        Some(at_ms.saturating_sub(keep_ms.max(counts_ms)))
    }

    async fn drop_before(&self, before_ms: i64, at_ms: i64) -> Result<(), WatchError> {
        let lead = self.leadership.lead;
        let rows = self.ledger.prune_watch(lead, before_ms).await?;
        let folder = self.estate.logs.clone();
        let deleted = spawn_blocking(move || log::delete_older(&folder, before_ms)).await;
        let deleted = deleted.unwrap_or_else(|error| Err(error.into()));
        let logs = deleted.as_ref().copied().unwrap_or(0);
        let mut events = Vec::new();
        if rows > 0 || logs > 0 {
            let message = format!(
                "what was over before {} is dropped (rows: {rows}, logs: {logs})",
                rfc3339(before_ms)
            );
            events.push(Event::of_watch(Level::Info, message));
        }
        if let Err(error) = &deleted {
            let folder = self.estate.logs.display();
            let message = format!("old logs cannot be deleted from {folder}: {error}");
            events.push(Event::of_watch(Level::Warning, message));
        }
        if events.is_empty() {
            return Ok(());
        }
        let events: Vec<NewWatchEvent> = events.iter().map(book::event_of_watch).collect();
        let minutes = Minutes { at_ms, events: events.clone(), ..Minutes::default() };
        self.ledger.minute(lead, minutes).await?;
        for event in &events {
            self.teller.tell(Notice::of_stored(event));
        }
        Ok(())
    }
}
