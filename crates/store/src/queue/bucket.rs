//! Rate limits that all workers share: more of them do not mean more refusals.
//!
//! A bucket is one number, the time at which it will be full again (the generic cell rate
//! algorithm). Taking from it moves that time, and whoever finds it too far ahead waits. So a place
//! in line is given in one statement, and nobody has to ask again.

use std::time::Duration;

use crate::clock::millis;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::{Columns, names};
use crate::writer::{Transaction, Write};

const TAKE: &str = "INSERT INTO buckets (name, full_at) VALUES ($1, $2 + $3) \
     ON CONFLICT (name) DO UPDATE SET \
     full_at = CASE WHEN buckets.full_at > $2 THEN buckets.full_at ELSE $2 END + $3 \
     RETURNING full_at";
const HOLD: &str = "INSERT INTO buckets (name, full_at) VALUES ($1, $2) \
     ON CONFLICT (name) DO UPDATE SET \
     full_at = CASE WHEN buckets.full_at > $2 THEN buckets.full_at ELSE $2 END";
const HELD: &str = "SELECT full_at FROM buckets WHERE name = $1";

const MINUTE_US: i64 = 60_000_000;

/// A limit that processes share by its name: a provider and a key of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Who shares it. No secret: say which key by its fingerprint.
    pub name: String,
    /// How many a minute, at least 1.
    pub per_minute: u32,
    /// How many at once after a pause, at least 1.
    pub burst: u32,
}

impl Bucket {
    /// Returns the microseconds in which one is refilled.
    fn interval_us(&self) -> i64 {
        MINUTE_US / i64::from(self.per_minute.max(1))
    }

    /// Returns the microseconds in which an empty bucket is filled.
    fn filling_us(&self) -> i64 {
        self.interval_us().saturating_mul(i64::from(self.burst.max(1)))
    }

    /// Returns how long to wait for a bucket that will be full again at `full_at_us`.
    fn wait(&self, full_at_us: i64, now_us: i64) -> Duration {
        let wait_us = full_at_us.saturating_sub(now_us).saturating_sub(self.filling_us());
        Duration::from_micros(u64::try_from(wait_us).unwrap_or(0))
    }
}

impl Ledger {
    /// Takes `count` out of the bucket and returns how long to wait before they may be used.
    pub async fn take(&self, bucket: &Bucket, count: u32) -> Result<Duration, StoreError> {
        names(&[("the name of a bucket", &bucket.name)])?;
        self.write_any(Take { bucket: bucket.clone(), count }).await
    }

    /// Holds everybody back for `pause`, as a provider asks that refuses requests.
    pub async fn hold(&self, bucket: &Bucket, pause: Duration) -> Result<(), StoreError> {
        names(&[("the name of a bucket", &bucket.name)])?;
        self.write_any(Hold { bucket: bucket.clone(), pause }).await
    }

    /// Returns how long everybody is held back, and takes nothing: a read.
    pub async fn held(&self, bucket: &Bucket) -> Result<Duration, StoreError> {
        names(&[("the name of a bucket", &bucket.name)])?;
        let mut reader = self.reader().await?;
        let row = sqlx::query(HELD)
            .bind(bucket.name.as_str())
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let full_at: Option<i64> = row.map(|row| Columns::of(&row).take()).transpose()?;
        let now_us = self.now_ms().saturating_mul(1000);
        Ok(bucket.wait(full_at.unwrap_or(now_us), now_us))
    }
}

struct Take {
    bucket: Bucket,
    count: u32,
}

impl Write for Take {
    type Output = Duration;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Duration, StoreError> {
        let now_us = to.now_ms.saturating_mul(1000);
        let row = sqlx::query(TAKE)
            .bind(self.bucket.name.as_str())
            .bind(now_us)
            .bind(self.bucket.interval_us().saturating_mul(i64::from(self.count)))
            .fetch_one(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let full_at: i64 = Columns::of(&row).take()?;
        Ok(self.bucket.wait(full_at, now_us))
    }
}

struct Hold {
    bucket: Bucket,
    pause: Duration,
}

impl Write for Hold {
    type Output = ();

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let until_us = to.now_ms.saturating_add(millis(self.pause)).saturating_mul(1000);
        sqlx::query(HOLD)
            .bind(self.bucket.name.as_str())
            .bind(until_us.saturating_add(self.bucket.filling_us()))
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())
            .map(drop)
    }
}
