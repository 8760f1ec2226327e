//! What a span of time came to, counted by the database.

use std::collections::BTreeMap;

use airtight_core::price::Cost;
use airtight_core::watch::Trust;

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::{self, Columns};

const SESSIONS: &str = "SELECT tier, status, COUNT(*), SUM(CASE WHEN cost_nano IS NULL THEN 1 ELSE 0 END), \
     CAST(COALESCE(SUM(cost_nano), 0) AS BIGINT) FROM sessions WHERE started_at >= $1 \
     GROUP BY tier, status";
const EVENTS: &str = "SELECT level, COUNT(*) FROM watch_events WHERE told_at >= $1 GROUP BY level";
const ACTIONS: &str = "SELECT COUNT(*) FROM cooldown_actions WHERE reserved_at >= $1";
const PENDING: &str = "SELECT COUNT(*) FROM memories WHERE trust = $1";

/// What a span of time came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchCounts {
    /// Sessions by tier and status.
    pub sessions: BTreeMap<(i64, String), i64>,
    /// What they cost, if all of it is known.
    pub cost: Option<Cost>,
    /// Events by level.
    pub events: BTreeMap<String, i64>,
    /// Actions on services.
    pub actions: i64,
    /// Memories that wait for leave, whenever they were learnt.
    pub pending_memories: i64,
}

impl Ledger {
    /// Counts what happened since `since_ms`.
    pub async fn watch_counts(&self, since_ms: i64) -> Result<WatchCounts, StoreError> {
        let fail = |error| StoreError::of(self.place.dialect, error);
        let mut reader = self.reader().await?;
        let mut counts = WatchCounts::default();
        let (mut unpriced, mut nano) = (0_i64, 0_i64);
        let rows = sqlx::query(SESSIONS).bind(since_ms).fetch_all(&mut *reader).await;
        for row in &rows.map_err(fail)? {
            let mut columns = Columns::of(row);
            let key = (columns.take()?, columns.take()?);
            counts.sessions.insert(key, columns.take()?);
            unpriced = unpriced.saturating_add(columns.take()?);
            nano = nano.saturating_add(columns.take()?);
        }
        counts.cost = if unpriced == 0 { rows::cost(nano) } else { None };
        let rows = sqlx::query(EVENTS).bind(since_ms).fetch_all(&mut *reader).await;
        for row in &rows.map_err(fail)? {
            let mut columns = Columns::of(row);
            counts.events.insert(columns.take()?, columns.take()?);
        }
        let row = sqlx::query(ACTIONS).bind(since_ms).fetch_one(&mut *reader).await;
        counts.actions = Columns::of(&row.map_err(fail)?).take()?;
        let pending = sqlx::query(PENDING).bind(Trust::Pending.name());
        let row = pending.fetch_one(&mut *reader).await;
        counts.pending_memories = Columns::of(&row.map_err(fail)?).take()?;
        Ok(counts)
    }
}
