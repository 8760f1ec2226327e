//! Claims: short writes that give jobs to a worker for as long as its lease lasts.

use std::time::Duration;

use sqlx::AssertSqlSafe;

use super::job::{Again, Claim, ClaimedJob, Worker};
use crate::clock::millis;
use crate::error::StoreError;
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::retention::{Level, Sieve};
use crate::rows::{Columns, Packer, names, text};
use crate::run::fresh;
use crate::write::{Timely, claimed, delete_job, requeue};
use crate::writer::{Transaction, Write};

/// The most jobs of one claim.
const CLAIM_LIMIT: u32 = 1000;

const EXPIRE: &str = "WITH lost AS MATERIALIZED (SELECT seq FROM jobs WHERE state = 'claimed' \
     AND leased_until < $1 ORDER BY leased_until LIMIT 100 {SKIP LOCKED}) \
     UPDATE jobs SET state = CASE WHEN claims >= $2 THEN 'quarantined' ELSE 'ready' END, \
     claim_token = NULL, worker = NULL, leased_until = NULL, \
     error = COALESCE(error, 'its worker was lost') WHERE seq IN (SELECT seq FROM lost)";
const TAKE: &str = "WITH next AS MATERIALIZED (SELECT seq FROM jobs WHERE queue = $1 \
     AND state = 'ready' AND run_at <= $2 ORDER BY priority, run_at, seq LIMIT $3 {SKIP LOCKED}) \
     UPDATE jobs SET state = 'claimed', claims = claims + 1, claim_token = $4, worker = $5, \
     leased_until = $6 WHERE seq IN (SELECT seq FROM next)";
const TAKEN: &str = "SELECT seq, job_key, batch, place, claims, failures, payload, coded \
     FROM jobs JOIN payloads ON payloads.job = jobs.seq WHERE claim_token = $1 \
     ORDER BY priority, run_at, seq";
const HOLDS_ANY: &str = "SELECT COUNT(*) FROM jobs WHERE claim_token = $1";
const RENEW: &str =
    "UPDATE jobs SET leased_until = $3 WHERE seq = $1 AND claim_token = $2 AND state = 'claimed'";

impl Ledger {
    /// Claims jobs for this process, the most urgent first; none if none is ready. Nothing is held
    /// open meanwhile: the lease protects them, and heartbeats renew it.
    pub async fn claim(&self, worker: &Worker) -> Result<Vec<ClaimedJob>, StoreError> {
        names(&[("queue", &worker.queue)])?;
        self.write_any(Take { worker: worker.clone(), token: fresh() }).await
    }

    /// Renews the lease of jobs, and returns those that are lost: others may have them.
    pub async fn heartbeat(
        &self,
        claims: &[Claim],
        lease: Duration,
    ) -> Result<Vec<Claim>, StoreError> {
        self.write_any(Renew { claims: claims.to_vec(), lease_ms: millis(lease) }).await
    }

    /// Takes a job off the queue whose result there is already.
    pub async fn complete(&self, claim: &Claim) -> Result<(), StoreError> {
        self.write_any(Complete(claim.clone())).await?.stored()
    }

    /// Puts a job back that has no run yet.
    pub async fn release(
        &self,
        claim: &Claim,
        again: Again,
        error: &str,
    ) -> Result<(), StoreError> {
        let sieve = Sieve { level: Level::Full, redactor: &self.place.settings.redactor };
        let error = Packer::new(sieve).error("error", Some(error))?;
        let release = Release { claim: claim.clone(), again, error };
        self.write_any(release).await?.stored()
    }
}

struct Take {
    worker: Worker,
    token: String,
}

impl Take {
    async fn take(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        let locking = |sql| AssertSqlSafe(to.place.dialect.locking(sql));
        let (expire, take) = (locking(EXPIRE), locking(TAKE));
        sqlx::query(expire)
            .bind(to.now_ms)
            .bind(i64::from(self.worker.claims))
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)?;
        sqlx::query(take)
            .bind(self.worker.queue.as_str())
            .bind(to.now_ms)
            .bind(i64::from(self.worker.limit.min(CLAIM_LIMIT)))
            .bind(self.token.as_str())
            .bind(to.place.owner.to_string())
            .bind(to.now_ms.saturating_add(millis(self.worker.lease)))
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)
            .map(drop)
    }
}

impl Write for Take {
    type Output = Vec<ClaimedJob>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Vec<ClaimedJob>, StoreError> {
        let row = sqlx::query(HOLDS_ANY)
            .bind(self.token.as_str())
            .fetch_one(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        // Jobs that were taken before the connection broke are not taken twice.
        if Columns::of(&row).take::<i64>()? == 0 {
            self.take(to).await?;
        }
        let rows = sqlx::query(TAKEN)
            .bind(self.token.as_str())
            .fetch_all(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        rows.iter().map(|row| self.claimed_job(&mut Columns::of(row))).collect()
    }
}

impl Take {
    fn claimed_job(&self, columns: &mut Columns<'_>) -> Result<ClaimedJob, StoreError> {
        let claim = Claim { job: columns.take()?, token: self.token.clone() };
        let (key, batch, position) = (columns.take()?, columns.take()?, columns.take()?);
        let (claims, failures) = (columns.take()?, columns.take()?);
        let payload = columns.take()?;
        let coded: String = columns.take()?;
        let payload = unpack("payload", payload, &coded)?.map(text).transpose()?;
        let payload = payload.unwrap_or_default();
        Ok(ClaimedJob { claim, key, batch, position, payload, claims, failures })
    }
}

struct Renew {
    claims: Vec<Claim>,
    lease_ms: i64,
}

impl Write for Renew {
    type Output = Vec<Claim>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Vec<Claim>, StoreError> {
        let mut lost = Vec::new();
        let mut claims: Vec<&Claim> = self.claims.iter().collect();
        // In one order, so that no two processes wait for each other.
        claims.sort_unstable_by_key(|claim| claim.job);
        for claim in claims {
            let done = sqlx::query(RENEW)
                .bind(claim.job)
                .bind(claim.token.as_str())
                .bind(to.now_ms.saturating_add(self.lease_ms))
                .execute(&mut *to.connection)
                .await
                .map_err(to.fail())?;
            if done.rows_affected() == 0 {
                lost.push(claim.clone());
            }
        }
        Ok(lost)
    }
}

struct Complete(Claim);

impl Write for Complete {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let timely = claimed(to, &self.0).await?;
        if timely == Timely::Stored {
            delete_job(to, self.0.job).await?;
        }
        Ok(timely)
    }
}

struct Release {
    claim: Claim,
    again: Again,
    error: Option<String>,
}

impl Write for Release {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let timely = claimed(to, &self.claim).await?;
        if timely == Timely::Stored {
            requeue(to, self.claim.job, self.again, self.error.clone()).await?;
        }
        Ok(timely)
    }
}
