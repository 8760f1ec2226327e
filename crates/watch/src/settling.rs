//! The end of a session on its way to the ledger.
//!
//! The rule it protects: what a session yields is worth waiting for. While the ledger fails in a way that
//! passes and the lead holds, it is tried again.

use airtight_core::redact::Redactor;
use airtight_core::watch::{ActionRecord, Known, Memory, PastEscalation, ServiceState, Waiting};
use airtight_store::{ActionFilter, EscalationState, Minutes};

use crate::book;
use crate::clock::Clock;
use crate::error::WatchError;
use crate::staff::{Account, Staff};
use crate::watcher::Office;

/// What is known beside what a session said.
pub(crate) struct Beside {
    memories: Vec<Memory>,
    services: Vec<ServiceState>,
    actions: Vec<ActionRecord>,
    escalations: Vec<PastEscalation>,
    waiting: Vec<Waiting>,
}

impl Beside {
    pub(crate) fn known<'k>(&'k self, redactor: &'k Redactor) -> Known<'k> {
        Known {
            memories: &self.memories,
            services: &self.services,
            actions: &self.actions,
            escalations: &self.escalations,
            waiting: &self.waiting,
            redactor: Some(redactor),
        }
    }
}

impl<S: Staff, C: Clock + 'static> Office<'_, S, C> {
    /// Returns what is known beside what the session `id` said.
    pub(crate) async fn beside(&self, id: &str, at_ms: i64) -> Result<Beside, WatchError> {
        loop {
            match self.look_beside(id, at_ms).await {
                Ok(beside) => return Ok(beside),
                Err(error) => self.outlast(error).await?,
            }
        }
    }

    async fn look_beside(&self, id: &str, at_ms: i64) -> Result<Beside, WatchError> {
        let own = ActionFilter { session: Some(id.to_owned()), ..ActionFilter::default() };
        let waiting = book::waiting(&self.ledger, EscalationState::Proposed).await?;
        Ok(Beside {
            memories: book::memories(&self.ledger).await?,
            services: book::services(&self.ledger).await?,
            actions: book::actions_of(&self.ledger, own).await?,
            escalations: book::escalations(&self.ledger, at_ms).await?,
            waiting: waiting.iter().filter_map(book::waiting_of).collect(),
        })
    }

    /// Puts the end of the session `id` on record.
    pub(crate) async fn settle(
        &self,
        id: &str,
        account: &dyn Account,
        minutes: &Minutes,
    ) -> Result<(), WatchError> {
        loop {
            let settled = account.settle(self.leadership.lead, minutes.clone()).await;
            let Err(error) = settled.map_err(WatchError::from) else { return Ok(()) };
            self.outlast(error).await?;
            // A commit whose answer was lost is not done again.
            if self.is_over(id).await? {
                return Ok(());
            }
        }
    }

    async fn is_over(&self, session: &str) -> Result<bool, WatchError> {
        loop {
            match self.ledger.session(session).await {
                Ok((session, _)) => return Ok(session.ended_at.is_some()),
                Err(error) => self.outlast(error.into()).await?,
            }
        }
    }

    /// Waits a moment if `error` may pass and the lead holds; else it is returned.
    async fn outlast(&self, error: WatchError) -> Result<(), WatchError> {
        if !error.is_passing() || self.leadership.lost.is_cancelled() {
            return Err(error);
        }
        tracing::warn!(%error, "what a session yields is not on record yet");
        tokio::select! {
            () = self.leadership.lost.cancelled() => {}
            () = tokio::time::sleep(self.estate.look_every) => {}
        }
        Ok(())
    }
}
