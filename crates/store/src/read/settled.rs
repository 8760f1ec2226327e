//! Which keys have their result already.

use std::collections::HashSet;

use sqlx::AssertSqlSafe;

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
        let mut settled = HashSet::new();
        for page in keys.chunks(PAGE) {
            let places: Vec<String> = (1..=page.len()).map(|place| format!("${place}")).collect();
            let places = places.join(", ");
            let sql =
                format!("SELECT job_key FROM runs WHERE {condition} AND job_key IN ({places})");
            let unbound = sqlx::query(AssertSqlSafe(sql));
            // No key holds a NUL, and PostgreSQL takes none.
            let query =
                page.iter().fold(unbound, |query, key| query.bind(key.replace('\0', "\u{fffd}")));
            let mut reader = self.reader().await?;
            let rows = query
                .fetch_all(&mut *reader)
                .await
                .map_err(|error| StoreError::of(self.place.dialect, error))?;
            for row in &rows {
                settled.insert(Columns::of(row).take()?);
            }
        }
        Ok(settled)
    }
}
