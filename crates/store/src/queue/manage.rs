//! What people ask of the queue: what is in it, and what should become of it.

use std::collections::HashMap;

use sqlx::AssertSqlSafe;

use super::job::{JobFilter, JobState, QueueCounts, StoredJob};
use crate::error::StoreError;
use crate::filter::Page;
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::owner::Owner;
use crate::read::Conditions;
use crate::rows::{Columns, text};
use crate::writer::{Transaction, Write};

const COLUMNS: &str = "seq, job_key, queue, batch, place, state, priority, run_at, claims, \
     failures, error, worker, leased_until, created_at";
const PAYLOADS: &str = "SELECT job_key, payload, coded FROM jobs \
     JOIN payloads ON payloads.job = jobs.seq WHERE job_key IN";

/// How many payloads are read at once: one may be large.
const PAYLOADS_AT_ONCE: usize = 50;

impl Ledger {
    /// Returns a page of the jobs that `filter` means.
    pub async fn jobs(&self, filter: &JobFilter, page: Page) -> Result<Vec<StoredJob>, StoreError> {
        let mut conditions = conditions(filter);
        let order = conditions.page(page);
        let sql = format!("SELECT {COLUMNS} FROM jobs {} {order}", conditions.clause());
        let mut reader = self.reader().await?;
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        rows.iter().map(|row| stored(&mut Columns::of(row))).collect()
    }

    /// Returns what `read` makes of the payload of each job with one of `keys`, whatever its state.
    pub async fn payloads<T>(
        &self,
        keys: &[String],
        read: impl Fn(&str) -> T,
    ) -> Result<HashMap<String, T>, StoreError> {
        let mut found = HashMap::new();
        for page in keys.chunks(PAYLOADS_AT_ONCE) {
            for row in &self.of_keys(PAYLOADS, page).await? {
                let mut columns = Columns::of(row);
                let (key, payload) = (columns.take()?, columns.take()?);
                let coded: String = columns.take()?;
                let payload = unpack("payload", payload, &coded)?.map(text).transpose()?;
                found.insert(key, read(&payload.unwrap_or_default()));
            }
        }
        Ok(found)
    }

    /// Returns how many jobs are in which state.
    pub async fn queue_counts(&self, filter: &JobFilter) -> Result<QueueCounts, StoreError> {
        let conditions = conditions(filter);
        let clause = conditions.clause();
        let sql = format!("SELECT state, COUNT(*) FROM jobs {clause} GROUP BY state");
        let mut reader = self.reader().await?;
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let mut counts = QueueCounts::default();
        for row in &rows {
            let mut columns = Columns::of(row);
            let state = JobState::named(&columns.take::<String>()?);
            let jobs: i64 = columns.take()?;
            match state {
                JobState::Ready => counts.ready += jobs,
                JobState::Claimed => counts.claimed += jobs,
                JobState::Quarantined => counts.quarantined += jobs,
            }
        }
        Ok(counts)
    }

    /// Lets the jobs that `filter` means be claimed at once, those in quarantine included, and returns
    /// how many they are. Those that a worker has are left to it.
    pub async fn retry(&self, filter: &JobFilter) -> Result<u64, StoreError> {
        self.write_any(Change { filter: filter.clone(), to: Wish::Retry }).await
    }

    /// Takes the jobs that `filter` means off the queue, and returns how many they are. Those that a
    /// worker has are left to it.
    pub async fn cancel(&self, filter: &JobFilter) -> Result<u64, StoreError> {
        self.write_any(Change { filter: filter.clone(), to: Wish::Cancel }).await
    }
}

fn conditions(filter: &JobFilter) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.number("seq =", filter.number);
    conditions.text("queue =", filter.queue.as_deref());
    conditions.text("batch =", filter.batch.as_deref());
    conditions.text("state =", filter.state.map(JobState::name));
    conditions
}

fn stored(columns: &mut Columns<'_>) -> Result<StoredJob, StoreError> {
    Ok(StoredJob {
        number: columns.take()?,
        key: columns.take()?,
        queue: columns.take()?,
        batch: columns.take()?,
        position: columns.take()?,
        state: JobState::named(&columns.take::<String>()?),
        priority: columns.take()?,
        run_at: columns.take()?,
        claims: columns.take()?,
        failures: columns.take()?,
        error: columns.take()?,
        worker: columns.take::<Option<String>>()?.map(|worker| Owner::shown(&worker)),
        leased_until: columns.take()?,
        created_at: columns.take()?,
    })
}

struct Change {
    filter: JobFilter,
    to: Wish,
}

enum Wish {
    Retry,
    Cancel,
}

impl Write for Change {
    type Output = u64;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<u64, StoreError> {
        let mut conditions = conditions(&self.filter);
        conditions.constant("state <> 'claimed'");
        let clause = conditions.clause();
        if matches!(self.to, Wish::Retry) {
            let now = to.now_ms;
            let sql = format!(
                "UPDATE jobs SET state = 'ready', run_at = {now}, claims = 0, error = NULL {clause}"
            );
            let done = conditions.query(sql).execute(&mut *to.connection).await;
            return done.map(|done| done.rows_affected()).map_err(to.fail());
        }
        let done = conditions
            .query(format!("DELETE FROM jobs {clause}"))
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let orphans = "DELETE FROM payloads WHERE job NOT IN (SELECT seq FROM jobs)";
        sqlx::query(AssertSqlSafe(orphans.to_owned()))
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        Ok(done.rows_affected())
    }
}
