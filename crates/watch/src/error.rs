//! Why a watch cannot go on.

use airtight_core::watch::OutOfTurn;
use airtight_store::StoreError;

/// Why a watch cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The ledger fails.
    #[error(transparent)]
    Store(StoreError),
    /// Another process leads, which refuses what this one writes.
    #[error("another process leads the watch by now")]
    Replaced,
    /// Another process leads.
    #[error("another process leads the watch: {leader}")]
    Busy {
        /// Host and process.
        leader: String,
    },
    /// The chain was told something that it did not ask for: a mistake of ours.
    #[error("the chain and the watch disagree")]
    Disagreement(#[from] OutOfTurn),
    /// The chain cannot be written down: a mistake of ours.
    #[error("the chain cannot be written down")]
    Unwritable(#[source] serde_json::Error),
}

impl WatchError {
    /// Claims that the ledger fails for a while: its server restarts, or another process holds it.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Store(
                StoreError::Unreachable { .. } | StoreError::Contended { .. } | StoreError::Locked
            )
        )
    }
}

impl From<StoreError> for WatchError {
    fn from(error: StoreError) -> Self {
        if matches!(error, StoreError::Fenced) { Self::Replaced } else { Self::Store(error) }
    }
}
