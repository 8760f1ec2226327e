//! Which keys have their result already, and to which question each of them belongs.

use std::collections::{HashMap, HashSet};

use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::Columns;
use crate::run::Repeat;

/// How many keys are looked up at once: SQLite binds 32,766 values, and a page of keys is as quick.
const PAGE: usize = 500;

impl Ledger {
    /// Returns those of `keys` whose result would be given back if they were begun with `repeat`.
    pub async fn settled(
        &self,
        keys: &[String],
        repeat: Repeat,
    ) -> Result<HashSet<String>, StoreError> {
        let condition = match repeat {
            Repeat::Never => "state = 'done'",
            Repeat::Failed | Repeat::Named => "state = 'done' AND valid = 1",
            Repeat::Always => return Ok(HashSet::new()),
        };
        let select = format!("SELECT job_key FROM runs WHERE {condition} AND job_key IN");
        let mut settled = HashSet::new();
        for page in keys.chunks(PAGE) {
            for row in &self.of_keys(&select, page).await? {
                settled.insert(Columns::of(row).take()?);
            }
        }
        Ok(settled)
    }

    /// Returns the [digest](crate::NewRun::digest) of the question that each of `keys` belongs to: another
    /// one would be refused if it were begun with `repeat`. Absent are keys that are free, and runs of the
    /// time before digests were kept.
    pub async fn asked(
        &self,
        keys: &[String],
        repeat: Repeat,
    ) -> Result<HashMap<String, String>, StoreError> {
        let condition = match repeat {
            Repeat::Never => "digest IS NOT NULL",
            Repeat::Failed | Repeat::Named => {
                "digest IS NOT NULL AND (state <> 'done' OR valid = 1)"
            }
            Repeat::Always => "digest IS NOT NULL AND state <> 'done'",
        };
        let select = format!(
            "SELECT job_key, digest FROM runs JOIN questions ON questions.run = runs.seq \
             WHERE {condition} AND job_key IN"
        );
        let mut asked = HashMap::new();
        for page in keys.chunks(PAGE) {
            for row in &self.of_keys(&select, page).await? {
                let mut columns = Columns::of(row);
                asked.insert(columns.take()?, columns.take()?);
            }
        }
        Ok(asked)
    }

    /// Returns the rows of `keys`, a page of them at most; `select` ends where the list of them begins.
    pub(crate) async fn of_keys(
        &self,
        select: &str,
        keys: &[String],
    ) -> Result<Vec<AnyRow>, StoreError> {
        let places: Vec<String> = (1..=keys.len()).map(|place| format!("${place}")).collect();
        let unbound = sqlx::query(AssertSqlSafe(format!("{select} ({})", places.join(", "))));
        // No key holds a NUL, and PostgreSQL takes none.
        let query =
            keys.iter().fold(unbound, |query, key| query.bind(key.replace('\0', "\u{fffd}")));
        let mut reader = self.reader().await?;
        let rows = query.fetch_all(&mut *reader).await;
        rows.map_err(|error| StoreError::of(self.place.dialect, error))
    }
}
