//! What a watch keeps no longer: what was over before some time, a few rows at once.
//!
//! The rule it protects: what still counts stays. Memories are knowledge and no history, a service keeps its
//! state and its last check, and what is open, queued or waits is not over. The last row of a table stays,
//! too: SQLite would give its number again, and whoever reads on from a number would miss what is new.

use sqlx::AssertSqlSafe;

use super::lead::{Lead, holds};
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::writer::{Transaction, Write};

/// How many rows of a table are deleted in one transaction: others write in between.
const AT_ONCE: u32 = 500;

/// Rows that may be over.
struct Rows {
    table: &'static str,
    /// When one is over: before `$1`.
    over: &'static str,
    /// What belongs to each, by its name: a table and its column.
    parts: Option<(&'static str, &'static str)>,
}

const fn rows(table: &'static str, over: &'static str) -> Rows {
    Rows { table, over, parts: None }
}

static ROWS: [Rows; 8] = [
    rows("watch_events", "told_at < $1"),
    rows("escalations", "told_at < $1 AND state IN ('acted', 'declined')"),
    rows(
        "service_checks",
        "checked_at < $1 AND seq < (SELECT MAX(later.seq) FROM service_checks AS later \
         WHERE later.service = service_checks.service)",
    ),
    rows("cooldown_actions", "reserved_at < $1 AND state <> 'reserved'"),
    rows("notifications", "told_at < $1 AND state <> 'queued'"),
    rows("wishes", "asked_at < $1 AND chain IS NOT NULL"),
    Rows {
        table: "sessions",
        over: "ended_at < $1 AND NOT EXISTS (SELECT 1 FROM chains \
               WHERE chains.id = sessions.chain AND chains.state = 'open')",
        parts: Some(("session_texts", "session")),
    },
    Rows {
        table: "chains",
        over: "ended_at < $1 AND state = 'done'",
        parts: Some(("chain_stops", "chain")),
    },
];

impl Ledger {
    /// Deletes what was over before `before_ms`, and returns how many rows that were. Refused as
    /// [`StoreError::Fenced`] if another process leads by now.
    ///
    /// How long actions count is not known here: `before_ms` must lie before that.
    pub async fn prune_watch(&self, lead: Lead, before_ms: i64) -> Result<u64, StoreError> {
        let mut all = 0;
        for rows in &ROWS {
            loop {
                let pruned = self.write(0, Prune { lead, rows, before_ms }).await?;
                let pruned = pruned.ok_or(StoreError::Fenced)?;
                all += pruned;
                if pruned < u64::from(AT_ONCE) {
                    break;
                }
            }
        }
        Ok(all)
    }
}

struct Prune {
    lead: Lead,
    rows: &'static Rows,
    before_ms: i64,
}

impl Prune {
    /// Returns the question for `column` of the oldest rows that are over.
    fn oldest(&self, column: &str) -> String {
        let Rows { table, over, .. } = self.rows;
        format!(
            "SELECT {column} FROM {table} WHERE {over} AND seq < (SELECT MAX(seq) FROM {table}) \
             ORDER BY seq LIMIT $2"
        )
    }

    async fn delete(&self, to: &mut Transaction<'_>, sql: String) -> Result<u64, StoreError> {
        let deleted = sqlx::query(AssertSqlSafe(sql))
            .bind(self.before_ms)
            .bind(i64::from(AT_ONCE))
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        Ok(deleted.rows_affected())
    }
}

impl Write for Prune {
    /// How many rows; nothing if another process leads.
    type Output = Option<u64>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Option<u64>, StoreError> {
        if !holds(to, self.lead).await? {
            return Ok(None);
        }
        if let Some((part, of)) = self.rows.parts {
            let sql = format!("DELETE FROM {part} WHERE {of} IN ({})", self.oldest("id"));
            self.delete(to, sql).await?;
        }
        let sql = format!("DELETE FROM {} WHERE seq IN ({})", self.rows.table, self.oldest("seq"));
        self.delete(to, sql).await.map(Some)
    }
}
