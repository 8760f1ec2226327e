//! What the requests of a batch used, whatever became of their runs.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::Columns;

// What a sum of whole numbers is differs between databases, so each is said to be one.
const READ: &str = "SELECT \
     CAST(SUM(CASE WHEN COALESCE(attempts.input_tokens, 0) + COALESCE(attempts.output_tokens, 0) > 0 \
     THEN 1 ELSE 0 END) AS BIGINT), \
     CAST(SUM(CASE WHEN attempts.state IN ('open', 'unknown') THEN 1 ELSE 0 END) AS BIGINT), \
     CAST(SUM(CASE WHEN attempts.state IN ('open', 'unknown') OR attempts.cost_nano IS NOT NULL \
     THEN 0 ELSE 1 END) AS BIGINT), \
     CAST(SUM(attempts.input_tokens) AS BIGINT), CAST(SUM(attempts.output_tokens) AS BIGINT), \
     CAST(SUM(attempts.cache_read_tokens) AS BIGINT), \
     CAST(SUM(attempts.cache_write_tokens) AS BIGINT), \
     CAST(SUM(attempts.reasoning_tokens) AS BIGINT), CAST(SUM(attempts.cost_nano) AS BIGINT) \
     FROM attempts JOIN runs ON runs.seq = attempts.run WHERE runs.batch = $1";

/// What the requests of a batch used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// How many used something, as far as anybody counted.
    pub requests: u64,
    /// How many nobody saw the end of: they may have been paid.
    pub unknown: u64,
    /// How many of the others have a cost that nobody knows.
    pub unpriced: u64,
    /// What was used, as far as anybody counted.
    pub usage: Usage,
    /// What is known of the cost.
    pub cost: Cost,
}

impl Ledger {
    /// Returns what the requests of a batch used, those of runs that were killed, postponed or taken
    /// over included.
    pub async fn spending(&self, batch: &str) -> Result<Spending, StoreError> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(READ)
            .bind(batch)
            .fetch_one(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let mut columns = Columns::of(&row);
        let mut count = || Ok(columns.take::<Option<i64>>()?.unwrap_or(0).unsigned_abs());
        let (requests, unknown, unpriced) = (count()?, count()?, count()?);
        let (usage, cost) = (columns.usage()?, columns.cost()?.unwrap_or_default());
        Ok(Spending { requests, unknown, unpriced, usage, cost })
    }
}
