//! The contracts that runs were asked by: all of them, the versions of one, and one by its fingerprint.

use super::conditions::{Conditions, is_fingerprint};
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
const VERSIONS_LIMIT: u32 = 1_000;

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

/// One version of a contract, without its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownContract {
    /// Its name, empty if it has none.
    pub name: String,
    /// Its version, empty if it has none.
    pub version: String,
    /// The fingerprint of the canonical schema, in hex.
    pub fingerprint: String,
    /// When it was first used, in Unix milliseconds.
    pub first_seen_at: i64,
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

    /// Returns up to `limit` versions of contracts, the newest first: of one name or of all, behind one of
    /// them.
    pub async fn contracts(
        &self,
        name: Option<&str>,
        after: Option<&KnownContract>,
        limit: u32,
    ) -> Result<Vec<KnownContract>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("name =", name);
        if let Some(KnownContract { name, version, fingerprint, first_seen_at }) = after {
            let places = [("fingerprint", fingerprint), ("name", name), ("version", version)];
            conditions.behind(*first_seen_at, &places);
        }
        self.versions(conditions, limit).await
    }

    /// Returns the versions of the contract that goes by `title`, the newest first. A name counts more than
    /// a fingerprint, of which the beginning is enough.
    pub async fn contract_versions(&self, title: &str) -> Result<Vec<KnownContract>, StoreError> {
        let absent = || StoreError::NotFound { what: "contract", name: title.to_owned() };
        if title.is_empty() {
            return Err(absent());
        }
        let named = self.contracts(Some(title), None, VERSIONS_LIMIT).await?;
        if !named.is_empty() {
            return Ok(named);
        }
        if !is_fingerprint(title) {
            return Err(absent());
        }
        let mut conditions = Conditions::default();
        conditions.prefix("fingerprint", title);
        let mut found = self.versions(conditions, VERSIONS_LIMIT).await?;
        // Others that begin alike are other contracts.
        let newest = found.first().ok_or_else(absent)?.fingerprint.clone();
        found.retain(|version| version.fingerprint == newest);
        Ok(found)
    }

    /// Returns the contract of this fingerprint, in the words in which it came on record last.
    pub async fn contract(&self, fingerprint: &str) -> Result<ContractRow, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("fingerprint =", Some(fingerprint));
        self.schema_of(conditions, fingerprint).await
    }

    /// Returns one version of a contract, with its schema.
    pub async fn contract_version(
        &self,
        version: &KnownContract,
    ) -> Result<ContractRow, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("fingerprint =", Some(&version.fingerprint));
        conditions.text("name =", Some(&version.name));
        conditions.text("version =", Some(&version.version));
        self.schema_of(conditions, &version.fingerprint).await
    }

    async fn versions(
        &self,
        conditions: Conditions,
        limit: u32,
    ) -> Result<Vec<KnownContract>, StoreError> {
        let clause = conditions.clause();
        let limit = limit.min(PAGE_LIMIT);
        let sql = format!(
            "SELECT name, version, fingerprint, first_seen_at FROM contracts {clause} \
             ORDER BY first_seen_at DESC, fingerprint, name, version LIMIT {limit}"
        );
        let mut reader = self.reader().await?;
        let rows = conditions.query(sql).fetch_all(&mut *reader).await;
        let rows = rows.map_err(|error| StoreError::of(self.place.dialect, error))?;
        let read = |row| {
            let mut columns = Columns::of(row);
            Ok(KnownContract {
                name: columns.take()?,
                version: columns.take()?,
                fingerprint: columns.take()?,
                first_seen_at: columns.take()?,
            })
        };
        rows.iter().map(read).collect()
    }

    async fn schema_of(
        &self,
        conditions: Conditions,
        asked: &str,
    ) -> Result<ContractRow, StoreError> {
        let clause = conditions.clause();
        let sql = format!(
            "SELECT fingerprint, name, version, schema, coded FROM contracts {clause} \
             ORDER BY first_seen_at DESC LIMIT 1"
        );
        let mut reader = self.reader().await?;
        let row = conditions.query(sql).fetch_optional(&mut *reader).await;
        let row = row.map_err(|error| StoreError::of(self.place.dialect, error))?;
        let absent = || StoreError::NotFound { what: "contract", name: asked.to_owned() };
        let row = row.ok_or_else(absent)?;
        let mut columns = Columns::of(&row);
        let (fingerprint, name, version) = (columns.take()?, columns.take()?, columns.take()?);
        let schema = columns.take()?;
        let coded: String = columns.take()?;
        let schema = unpack("schema", schema, &coded)?.map(text).transpose()?.unwrap_or_default();
        Ok(ContractRow { fingerprint, name, version, schema })
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
