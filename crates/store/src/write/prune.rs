//! Runs that are no longer kept. Statistics stay: they are tallies of their own.
//!
//! A run that never ended is kept no longer than one that did, unless a living process is at it.

use std::collections::HashSet;

use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::begin::lives;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::{Columns, placeholders};
use crate::writer::{Transaction, Write};

/// How many runs are deleted in one transaction: others write in between.
const AT_ONCE: usize = 200;

/// What was deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs, with their texts, attempts, events and decisions.
    pub runs: u64,
}

impl Ledger {
    /// Deletes the runs whose contracts say that they are kept no longer than until `now_ms`.
    pub async fn prune(&self, now_ms: i64) -> Result<Pruned, StoreError> {
        self.prune_all(Which::Expired, now_ms).await
    }

    /// Deletes the runs that began before `before_ms`, whatever their contracts say, except those
    /// that a person should look at.
    pub async fn prune_older(&self, before_ms: i64) -> Result<Pruned, StoreError> {
        self.prune_all(Which::Older, before_ms).await
    }

    async fn prune_all(&self, which: Which, at_ms: i64) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        for end in [End::Over, End::Left] {
            let mut after = 0;
            loop {
                let prune = Prune { sql: which.question(end), end, at_ms, after };
                let swept = self.write_any(prune).await?;
                pruned.runs += u64::try_from(swept.deleted).unwrap_or(0);
                let Some(last) = swept.last.filter(|_| swept.found == AT_ONCE) else { break };
                // Of those that are over none is left behind.
                after = if end == End::Left { last } else { 0 };
            }
        }
        Ok(pruned)
    }
}

/// Which runs are kept no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Expired,
    Older,
}

/// Whether a run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Over,
    /// It was postponed, or its process is gone; or it goes on, which SQL does not know.
    Left,
}

impl Which {
    /// Returns the question for a page of them, behind a number. Rows that another transaction is at are
    /// somebody's.
    fn question(self, end: End) -> &'static str {
        match (self, end) {
            (Self::Expired, End::Over) => {
                "SELECT seq, owner, started_at FROM runs WHERE expires_at IS NOT NULL \
                 AND expires_at <= $1 AND state = 'done' AND seq > $2 \
                 ORDER BY expires_at LIMIT $3"
            }
            (Self::Older, End::Over) => {
                "SELECT seq, owner, started_at FROM runs WHERE started_at < $1 AND state = 'done' \
                 AND review <> 'flagged' AND seq > $2 ORDER BY seq LIMIT $3"
            }
            (Self::Expired, End::Left) => {
                "SELECT seq, owner, started_at FROM runs WHERE state <> 'done' \
                 AND COALESCE(expires_at, started_at + keep_ms) <= $1 \
                 AND seq > $2 ORDER BY seq LIMIT $3 {SKIP LOCKED}"
            }
            (Self::Older, End::Left) => {
                "SELECT seq, owner, started_at FROM runs WHERE state <> 'done' \
                 AND started_at < $1 AND seq > $2 ORDER BY seq LIMIT $3 {SKIP LOCKED}"
            }
        }
    }
}

struct Prune {
    sql: &'static str,
    end: End,
    at_ms: i64,
    /// The number behind which to go on.
    after: i64,
}

/// What came of one page.
struct Swept {
    found: usize,
    deleted: usize,
    last: Option<i64>,
}

/// A run that may be deleted.
struct Found {
    seq: i64,
    owner: String,
    started_at: i64,
}

impl Prune {
    async fn find(&self, to: &mut Transaction<'_>) -> Result<Vec<Found>, StoreError> {
        let rows = sqlx::query(AssertSqlSafe(to.place.dialect.locking(self.sql)))
            .bind(self.at_ms)
            .bind(self.after)
            .bind(i64::try_from(AT_ONCE).unwrap_or(i64::MAX))
            .fetch_all(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let found = |row: &AnyRow| -> Result<Found, StoreError> {
            let mut columns = Columns::of(row);
            let (seq, owner) = (columns.take()?, columns.take()?);
            Ok(Found { seq, owner, started_at: columns.take()? })
        };
        rows.iter().map(found).collect()
    }

    /// Returns the numbers of those that nobody is at.
    async fn free(
        &self,
        to: &mut Transaction<'_>,
        found: Vec<Found>,
    ) -> Result<Vec<i64>, StoreError> {
        if self.end == End::Over {
            return Ok(found.into_iter().map(|run| run.seq).collect());
        }
        let mut free = Vec::new();
        let mut living = HashSet::new();
        for run in found {
            if living.contains(&run.owner) {
                continue;
            }
            if lives(to, &run.owner, run.started_at).await? {
                living.insert(run.owner);
            } else {
                free.push(run.seq);
            }
        }
        Ok(free)
    }
}

impl Write for Prune {
    type Output = Swept;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Swept, StoreError> {
        // A run that ended in this transaction may be one that is not kept.
        to.settle().await?;
        let found = self.find(to).await?;
        let (count, last) = (found.len(), found.last().map(|run| run.seq));
        let seqs = self.free(to, found).await?;
        if !seqs.is_empty() {
            delete(to, &seqs).await?;
        }
        Ok(Swept { found: count, deleted: seqs.len(), last })
    }
}

async fn delete(to: &mut Transaction<'_>, seqs: &[i64]) -> Result<(), StoreError> {
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
        query.execute(&mut *to.connection).await.map_err(to.fail())?;
    }
    Ok(())
}
