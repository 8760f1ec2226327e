//! The schema of the ledger: steps that are only ever added to, each done once, in a transaction.
//!
//! A ledger with more steps than this program knows is refused before anything is written. Steps
//! take no table or column away, so that programs that are running meanwhile go on.

use sqlx::{AnyConnection, AssertSqlSafe, Row as _};

use crate::clock::Clock;
use crate::dialect::{Commit, Dialect};
use crate::error::StoreError;

struct Step {
    name: &'static str,
    text: &'static str,
}

/// Every step, in order; the first is version 1.
const STEPS: [Step; 8] = [
    Step { name: "ledger", text: include_str!("../schema/0001_ledger.sql") },
    Step { name: "watch", text: include_str!("../schema/0002_watch.sql") },
    Step { name: "answers", text: include_str!("../schema/0003_answers.sql") },
    Step { name: "wishes", text: include_str!("../schema/0004_wishes.sql") },
    Step { name: "drafts", text: include_str!("../schema/0005_drafts.sql") },
    Step { name: "digests", text: include_str!("../schema/0006_digests.sql") },
    Step { name: "unchecked", text: include_str!("../schema/0007_unchecked.sql") },
    Step { name: "days", text: include_str!("../schema/0008_days.sql") },
];

const CREATE: &str = "CREATE TABLE schema_steps (\
     version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, \
     made_by TEXT NOT NULL, done_at BIGINT NOT NULL)";
const RECORD: &str = "INSERT INTO schema_steps (version, name, checksum, made_by, done_at) \
     VALUES ($1, $2, $3, $4, $5)";
const READ: &str = "SELECT version, checksum FROM schema_steps ORDER BY version";

/// Whether a ledger has every step.
pub(crate) enum Age {
    Current,
    /// So many steps are done.
    Behind(usize),
}

/// Compares the ledger with what this program knows.
pub(crate) async fn age(
    connection: &mut AnyConnection,
    dialect: Dialect,
) -> Result<Age, StoreError> {
    let fail = |error| StoreError::of(dialect, error);
    let found =
        sqlx::query(dialect.has_schema()).fetch_one(&mut *connection).await.map_err(fail)?;
    if found.try_get::<i64, _>(0).map_err(fail)? == 0 {
        return Ok(Age::Behind(0));
    }
    let rows = sqlx::query(READ).fetch_all(&mut *connection).await.map_err(fail)?;
    let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
    let last = rows.last().map_or(Ok(0), |row| row.try_get::<i64, _>(0)).map_err(fail)?;
    if last > known {
        return Err(StoreError::Newer { found: last, known });
    }
    for (row, step) in rows.iter().zip(&STEPS) {
        if row.try_get::<String, _>(1).map_err(fail)? != checksum(step.text) {
            return Err(StoreError::Altered { version: row.try_get(0).map_err(fail)? });
        }
    }
    Ok(if last == known { Age::Current } else { Age::Behind(rows.len()) })
}

/// Does the steps that are missing.
pub(crate) async fn update(
    connection: &mut AnyConnection,
    dialect: Dialect,
    clock: &Clock,
) -> Result<(), StoreError> {
    let fail = |error| StoreError::of(dialect, error);
    sqlx::raw_sql(dialect.begin(Commit::OnDisk)).execute(&mut *connection).await.map_err(fail)?;
    match steps(connection, dialect, clock).await {
        Ok(()) => sqlx::raw_sql("COMMIT").execute(connection).await.map_err(fail).map(drop),
        Err(error) => {
            // The first error is the one to tell; the connection is dropped with it.
            drop(sqlx::raw_sql("ROLLBACK").execute(connection).await);
            Err(error)
        }
    }
}

async fn steps(
    connection: &mut AnyConnection,
    dialect: Dialect,
    clock: &Clock,
) -> Result<(), StoreError> {
    let fail = |error| StoreError::of(dialect, error);
    if let Some(lock) = dialect.lock_schema() {
        sqlx::query(lock).execute(&mut *connection).await.map_err(fail)?;
    }
    // Another process may have done them while this one waited.
    let Age::Behind(done) = age(connection, dialect).await? else { return Ok(()) };
    if done == 0 {
        sqlx::query(CREATE).execute(&mut *connection).await.map_err(fail)?;
    }
    for (version, step) in (1i64..).zip(&STEPS).skip(done) {
        let text = AssertSqlSafe(dialect.schema(step.text));
        sqlx::raw_sql(text).execute(&mut *connection).await.map_err(fail)?;
        sqlx::query(RECORD)
            .bind(version)
            .bind(step.name)
            .bind(checksum(step.text))
            .bind(env!("CARGO_PKG_VERSION"))
            .bind(clock.now_ms())
            .execute(&mut *connection)
            .await
            .map_err(fail)?;
    }
    Ok(())
}

/// Returns a number that changes with the text (FNV-1a): against mistakes, not against malice.
fn checksum(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
