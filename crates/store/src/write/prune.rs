//! Runs that are no longer kept. Statistics stay: they are tallies of their own.

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::{Columns, placeholders};
use crate::writer::{Transaction, Write};
use sqlx::AssertSqlSafe;

/// How many runs are deleted in one transaction: others write in between.
const AT_ONCE: usize = 200;

const EXPIRED: &str = "SELECT seq FROM runs WHERE expires_at IS NOT NULL AND expires_at <= $1 \
     AND state = 'done' ORDER BY expires_at LIMIT $2";
const OLDER: &str = "SELECT seq FROM runs WHERE started_at < $1 AND state = 'done' \
     AND review <> 'flagged' ORDER BY seq LIMIT $2";

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs, with their texts, attempts, events and decisions.
    pub runs: u64,
}

impl Ledger {
    /// Deletes the runs whose contracts say that they are kept no longer than until `now_ms`.
    pub async fn prune(&self, now_ms: i64) -> Result<Pruned, StoreError> {
        self.prune_all(EXPIRED, now_ms).await
    }

    /// Deletes the runs that began before `before_ms`, whatever their contracts say, except those
    /// that a person should look at.
    pub async fn prune_older(&self, before_ms: i64) -> Result<Pruned, StoreError> {
        self.prune_all(OLDER, before_ms).await
    }

    async fn prune_all(&self, which: &'static str, at_ms: i64) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        loop {
            let runs = self.write_any(Prune { which, at_ms }).await?;
            pruned.runs += u64::try_from(runs).unwrap_or(0);
            if runs < AT_ONCE {
                return Ok(pruned);
            }
        }
    }
}

struct Prune {
    which: &'static str,
    at_ms: i64,
}

impl Write for Prune {
    type Output = usize;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<usize, StoreError> {
        let fail = to.fail();
        let rows = sqlx::query(self.which)
            .bind(self.at_ms)
            .bind(i64::try_from(AT_ONCE).unwrap_or(i64::MAX))
            .fetch_all(&mut *to.connection)
            .await
            .map_err(&fail)?;
        let seqs: Vec<i64> =
            rows.iter().map(|row| Columns::of(row).take()).collect::<Result<_, _>>()?;
        if seqs.is_empty() {
            return Ok(0);
        }
        for (table, column) in [
            ("events", "run"),
            ("drafts", "run"),
            ("attempts", "run"),
            ("answers", "run"),
            ("questions", "run"),
            ("decisions", "run"),
            ("runs", "seq"),
        ] {
            let list = placeholders(1, seqs.len());
            let sql = format!("DELETE FROM {table} WHERE {column} IN {list}");
            let query = sqlx::query(AssertSqlSafe(sql));
            let query = seqs.iter().fold(query, |query, seq| query.bind(*seq));
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        Ok(seqs.len())
    }
}
