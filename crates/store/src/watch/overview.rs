//! What a watch came to since its beginning, as far as that is kept, counted by the database.

use airtight_core::price::Cost;
use airtight_core::watch::{Confidence, FADING_MS, GRACE_MS, Trust};

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::{self, Columns};

// A root begins a chain; what it hands over to has a parent.
const SESSIONS: &str = "SELECT \
     COALESCE(CAST(SUM(CASE WHEN parent IS NULL THEN 1 ELSE 0 END) AS BIGINT), 0), \
     COALESCE(CAST(SUM(CASE WHEN parent IS NULL THEN 0 ELSE 1 END) AS BIGINT), 0), \
     COALESCE(CAST(SUM(CASE WHEN tier = 3 THEN 1 ELSE 0 END) AS BIGINT), 0), \
     COALESCE(CAST(SUM(CASE WHEN parent IS NULL AND status = 'completed' THEN 1 ELSE 0 END) AS BIGINT), 0), \
     COALESCE(CAST(SUM(cost_nano) AS BIGINT), 0), \
     COALESCE(CAST(SUM(CASE WHEN ended_at IS NOT NULL AND cost_nano IS NULL THEN 1 ELSE 0 END) AS BIGINT), 0), \
     COALESCE(CAST(SUM(ended_at - started_at) AS BIGINT), 0), \
     COUNT(ended_at) FROM sessions";
const CRITICAL: &str =
    "SELECT COUNT(*) FROM watch_events WHERE level = 'critical' AND told_at >= $1";
// Active is what has enough confidence left after so many full weeks beyond its grace.
const ACTIVE: &str = "SELECT COUNT(*) FROM memories WHERE trust = $1 AND confidence >= $2 \
     AND reinforced_at > $3 - ((confidence - $2) / $4 + 1) * $5";

/// The span that critical events are counted in: a day.
const CRITICAL_MS: i64 = 86_400_000;

/// What a watch came to since its beginning, as far as that is kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchOverview {
    /// Sessions that began a chain.
    pub roots: i64,
    /// Sessions that another one handed over to.
    pub children: i64,
    /// Sessions of the third tier.
    pub third_tier: i64,
    /// Roots that were completed.
    pub completed_roots: i64,
    /// What is known of the cost.
    pub cost: Cost,
    /// How many sessions have a cost that nobody knows.
    pub unpriced: i64,
    /// Critical events of the last day.
    pub critical: i64,
    /// Memories that are told to sessions.
    pub active_memories: i64,
    /// How long a session took on average, in milliseconds.
    pub mean_ms: i64,
}

impl Ledger {
    /// Returns what the watch came to since its beginning; all is zero if there never was one.
    pub async fn watch_overview(&self) -> Result<WatchOverview, StoreError> {
        let fail = |error| StoreError::of(self.place.dialect, error);
        let now_ms = self.now_ms();
        let mut reader = self.reader().await?;
        let row = sqlx::query(SESSIONS).fetch_one(&mut *reader).await.map_err(fail)?;
        let mut columns = Columns::of(&row);
        let mut overview = WatchOverview {
            roots: columns.take()?,
            children: columns.take()?,
            third_tier: columns.take()?,
            completed_roots: columns.take()?,
            cost: rows::cost(columns.take()?).unwrap_or_default(),
            unpriced: columns.take()?,
            ..WatchOverview::default()
        };
        let (total_ms, ended): (i64, i64) = (columns.take()?, columns.take()?);
        overview.mean_ms = total_ms.checked_div(ended).unwrap_or(0);
        let critical = sqlx::query(CRITICAL).bind(now_ms - CRITICAL_MS);
        let row = critical.fetch_one(&mut *reader).await.map_err(fail)?;
        overview.critical = Columns::of(&row).take()?;
        let active = sqlx::query(ACTIVE)
            .bind(Trust::Trusted.name())
            .bind(i64::from(Confidence::LEAST.thousandths()))
            .bind(now_ms - GRACE_MS)
            .bind(i64::from(Confidence::FADING.thousandths()))
            .bind(FADING_MS);
        let row = active.fetch_one(&mut *reader).await.map_err(fail)?;
        overview.active_memories = Columns::of(&row).take()?;
        Ok(overview)
    }
}
