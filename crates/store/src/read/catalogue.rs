//! Which contracts there are, and in which versions.

use super::conditions::{Conditions, LAST};
use crate::error::StoreError;
use crate::filter::PAGE_LIMIT;
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::rows::{Columns, text};
use crate::run::ContractRow;

/// What a contract goes by: its name, or its fingerprint if it has none. Fingerprints are compared byte by
/// byte, so names have to be, too.
const TITLE: &str = "CASE WHEN name = '' THEN fingerprint ELSE name {BYTES} END";

/// How many versions of one contract are told: more are of a program that writes schemas.
const VERSIONS_LIMIT: u32 = 100;

/// What lists tell about a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractEntry {
    /// Its name, or its fingerprint if it has none.
    pub title: String,
    /// Its name, empty if it has none.
    pub name: String,
    /// How many versions of it are on record.
    pub versions: i64,
    /// When the first came on record, in Unix milliseconds.
    pub first_seen_at: i64,
    /// When the last did.
    pub last_seen_at: i64,
}

impl Ledger {
    /// Returns up to `limit` contracts in the order of their titles, after the title `after`.
    pub async fn catalogue(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ContractEntry>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("title >", after);
        let sql = format!(
            "SELECT title, MIN(name), COUNT(*), MIN(first_seen_at), MAX(first_seen_at) FROM \
             (SELECT {TITLE} AS title, name, first_seen_at FROM contracts) AS titled {} \
             GROUP BY title ORDER BY title LIMIT {}",
            conditions.clause(),
            limit.min(PAGE_LIMIT)
        );
        let sql = self.place.dialect.schema(&sql);
        let mut reader = self.reader().await?;
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        rows.iter().map(|row| entry(&mut Columns::of(row))).collect()
    }

    /// Returns the versions of the contract that goes by `title`, the newest first; by the beginning of a
    /// fingerprint, that one alone.
    pub async fn contract_versions(
        &self,
        title: &str,
    ) -> Result<Vec<(ContractRow, i64)>, StoreError> {
        let absent = || StoreError::NotFound { what: "contract", name: title.to_owned() };
        if title.is_empty() || title.contains('\0') {
            return Err(absent());
        }
        let sql = format!(
            "SELECT fingerprint, name, version, schema, coded, first_seen_at FROM contracts \
             WHERE name = $1 OR (fingerprint >= $1 AND fingerprint < $2) \
             ORDER BY first_seen_at DESC, fingerprint LIMIT {VERSIONS_LIMIT}"
        );
        let mut reader = self.reader().await?;
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(title)
            .bind(format!("{title}{LAST}"))
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        if rows.is_empty() {
            return Err(absent());
        }
        rows.iter().map(|row| version(&mut Columns::of(row))).collect()
    }
}

fn entry(columns: &mut Columns<'_>) -> Result<ContractEntry, StoreError> {
    Ok(ContractEntry {
        title: columns.take()?,
        name: columns.take()?,
        versions: columns.take()?,
        first_seen_at: columns.take()?,
        last_seen_at: columns.take()?,
    })
}

fn version(columns: &mut Columns<'_>) -> Result<(ContractRow, i64), StoreError> {
    let (fingerprint, name, version) = (columns.take()?, columns.take()?, columns.take()?);
    let schema = columns.take()?;
    let coded: String = columns.take()?;
    let schema = unpack("schema", schema, &coded)?.map(text).transpose()?.unwrap_or_default();
    Ok((ContractRow { fingerprint, name, version, schema }, columns.take()?))
}
