//! Who leads the watch: at most one process of all that share the database.

use std::time::Duration;

use serde::Serialize;
use sqlx::AssertSqlSafe;

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::owner::Owner;
use crate::rows::Columns;
use crate::writer::Transaction;

/// The name of the lead among the leases.
const NAME: &str = "watch";

const HOLDS: &str = "SELECT fence FROM leases WHERE name = $1 AND fence = $2 {LOCK}";
const LEADER: &str = "SELECT owner, fence, leased_until FROM leases WHERE name = $1";

/// The right to write for the watch. Whoever leads next has a greater fence, and this one is refused
/// from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lead {
    fence: i64,
}

impl Lead {
    /// Returns the number that grows with every new leader.
    pub fn fence(self) -> i64 {
        self.fence
    }
}

/// Who leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Leader {
    /// Host and process.
    pub owner: String,
    /// Grows with every new leader.
    pub fence: i64,
    /// Until when, in Unix milliseconds; 0 if the lead was given up.
    pub leased_until: i64,
}

impl Ledger {
    /// Takes or renews the lead of the watch; `None` if another process has it.
    pub async fn lead(&self, ttl: Duration) -> Result<Option<Lead>, StoreError> {
        let lease = self.lease(NAME, ttl).await?;
        Ok(lease.map(|lease| Lead { fence: lease.fence }))
    }

    /// Gives the lead of the watch up, if this process has it.
    pub async fn resign(&self) -> Result<(), StoreError> {
        self.unlease(NAME).await
    }

    /// Returns who leads the watch, or did last; nothing if nobody ever did.
    pub async fn leader(&self) -> Result<Option<Leader>, StoreError> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(LEADER)
            .bind(NAME)
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = Columns::of(&row);
        let owner = Owner::shown(&columns.take::<String>()?);
        Ok(Some(Leader { owner, fence: columns.take()?, leased_until: columns.take()? }))
    }
}

/// Claims that `lead` is the last that was given, and keeps it so until the commit.
pub(super) async fn holds(to: &mut Transaction<'_>, lead: Lead) -> Result<bool, StoreError> {
    let row = sqlx::query(AssertSqlSafe(to.place.dialect.locking(HOLDS)))
        .bind(NAME)
        .bind(lead.fence)
        .fetch_optional(&mut *to.connection)
        .await
        .map_err(to.fail())?;
    Ok(row.is_some())
}
