//! Lists of contracts.

use super::conditions::Conditions;
use crate::error::StoreError;
use crate::filter::PAGE_LIMIT;
use crate::ledger::Ledger;
use crate::rows::Columns;

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
    /// Returns up to `limit` contracts, the newest first: of one name or of all, behind one of them.
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
}
