//! The write that queues jobs.

use std::borrow::Cow;

use sqlx::AssertSqlSafe;

use super::job::{Enqueued, NewJob};
use crate::clock::millis;
use crate::error::StoreError;
use crate::form::Packed;
use crate::ledger::Ledger;
use crate::rows::{Columns, TEXT_LIMIT, names, placeholders};
use crate::run::fresh;
use crate::writer::{Transaction, Write};

/// How many jobs one write queues: others write in between.
const AT_ONCE: usize = 500;

/// How many rows one statement inserts.
const ROWS_AT_ONCE: usize = 50;

/// How many bytes of payloads one write holds.
const BYTES_AT_ONCE: usize = 8 << 20;

const OVER: &str = "SELECT job_key FROM runs WHERE state = 'done' AND job_key IN";
const INSERT: &str = "INSERT INTO jobs (job_key, queue, batch, place, state, priority, run_at, \
     claims, failures, created_at) VALUES";
const INSERT_PAYLOADS: &str = "INSERT INTO payloads (job, payload, coded) VALUES";

impl Ledger {
    /// Queues jobs, as many as there are, and says how many of them were known: those whose key waits
    /// already, or belongs to a run that is over.
    pub async fn enqueue(&self, jobs: Vec<NewJob>) -> Result<Enqueued, StoreError> {
        let mut done = Enqueued::default();
        let mut chunk = Vec::new();
        let mut bytes = 0;
        for mut job in jobs {
            check(&job)?;
            job.key.get_or_insert_with(|| format!("job-{}", fresh()));
            bytes += job.payload.len();
            chunk.push(job);
            if chunk.len() >= AT_ONCE || bytes >= BYTES_AT_ONCE {
                bytes = 0;
                let chunk = Enqueue(std::mem::take(&mut chunk));
                done.count(self.write_any(chunk).await?);
            }
        }
        if !chunk.is_empty() {
            done.count(self.write_any(Enqueue(chunk)).await?);
        }
        Ok(done)
    }
}

impl Enqueued {
    fn count(&mut self, more: Self) {
        self.added += more.added;
        self.known += more.known;
    }
}

fn check(job: &NewJob) -> Result<(), StoreError> {
    names(&[
        ("key", job.key.as_deref().unwrap_or_default()),
        ("queue", &job.queue),
        ("batch", job.batch.as_deref().unwrap_or_default()),
    ])?;
    let size = job.payload.len();
    if size > TEXT_LIMIT {
        return Err(StoreError::TooLarge { what: "payload", size, limit: TEXT_LIMIT });
    }
    Ok(())
}

struct Enqueue(Vec<NewJob>);

impl Enqueue {
    /// Returns the keys among `jobs` that have their result.
    async fn over(to: &mut Transaction<'_>, jobs: &[NewJob]) -> Result<Vec<String>, StoreError> {
        let sql = format!("{OVER} {}", placeholders(1, jobs.len()));
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = jobs.iter().fold(query, |query, job| query.bind(job.key.clone()));
        let rows = query.fetch_all(&mut *to.connection).await.map_err(to.fail())?;
        rows.iter().map(|row| Columns::of(row).take()).collect()
    }

    /// Inserts `jobs` and returns the numbers of those that were not known, by their keys.
    async fn insert(
        to: &mut Transaction<'_>,
        jobs: &[&NewJob],
    ) -> Result<Vec<(String, i64)>, StoreError> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let values = placeholders(jobs.len(), 10);
        let sql = format!("{INSERT} {values} ON CONFLICT DO NOTHING RETURNING job_key, seq");
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for job in jobs {
            query = query
                .bind(job.key.clone())
                .bind(job.queue.as_str())
                .bind(job.batch.clone())
                .bind(job.position)
                .bind("ready")
                .bind(job.priority)
                .bind(to.now_ms.saturating_add(millis(job.after)))
                .bind(0i64)
                .bind(0i64)
                .bind(to.now_ms);
        }
        let rows = query.fetch_all(&mut *to.connection).await.map_err(to.fail())?;
        let pair = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.take()?, columns.take()?))
        };
        rows.iter().map(pair).collect()
    }

    async fn insert_payloads(
        to: &mut Transaction<'_>,
        rows: &[(i64, &str)],
    ) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let sql = format!("{INSERT_PAYLOADS} {}", placeholders(rows.len(), 3));
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for (seq, payload) in rows {
            let mut packed = Packed::default();
            let payload = packed.column("payload", Some(Cow::Borrowed(payload.as_bytes())));
            query = query.bind(*seq).bind(payload.unwrap_or_default()).bind(packed.coded());
        }
        query.execute(&mut *to.connection).await.map_err(to.fail()).map(drop)
    }
}

impl Write for Enqueue {
    type Output = Enqueued;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Enqueued, StoreError> {
        let mut done = Enqueued::default();
        for jobs in self.0.chunks(ROWS_AT_ONCE) {
            let over = Self::over(to, jobs).await?;
            let is_over = |job: &&NewJob| over.iter().any(|key| job.key.as_ref() == Some(key));
            let waiting: Vec<&NewJob> = jobs.iter().filter(|job| !is_over(job)).collect();
            let added = Self::insert(to, &waiting).await?;
            let payload = |(key, seq): &(String, i64)| {
                let job = waiting.iter().find(|job| job.key.as_ref() == Some(key))?;
                Some((*seq, job.payload.as_str()))
            };
            let payloads: Vec<(i64, &str)> = added.iter().filter_map(payload).collect();
            Self::insert_payloads(to, &payloads).await?;
            let (added, all) = (added.len() as u64, jobs.len() as u64);
            done.count(Enqueued { added, known: all - added });
        }
        Ok(done)
    }
}
