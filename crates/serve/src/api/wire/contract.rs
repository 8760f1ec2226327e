//! Contracts.

use airtight_store::{ContractRow as Row, KnownContract};
use serde::Serialize;
use utoipa::ToSchema;

use super::said::Json;

/// One version of a contract, without its schema.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContractRow {
    /// Empty if it has none.
    name: String,
    /// Empty if it has none.
    version: String,
    /// Of the canonical schema, in hex.
    fingerprint: String,
    /// When it was first used, in Unix milliseconds.
    first_seen_at: i64,
}

impl From<KnownContract> for ContractRow {
    fn from(contract: KnownContract) -> Self {
        let KnownContract { name, version, fingerprint, first_seen_at } = contract;
        Self { name, version, fingerprint, first_seen_at }
    }
}

/// One version of a contract.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContractDetail {
    name: String,
    version: String,
    fingerprint: String,
    /// The schema as it was written.
    schema: Json,
    /// Every version of the same name, the newest first; without a name, this one alone.
    versions: Vec<ContractRow>,
}

impl ContractDetail {
    pub(crate) fn new(row: Row, versions: Vec<KnownContract>) -> Self {
        Self {
            name: row.name,
            version: row.version,
            fingerprint: row.fingerprint,
            schema: Json::of(row.schema),
            versions: versions.into_iter().map(ContractRow::from).collect(),
        }
    }
}
