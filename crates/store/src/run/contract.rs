//! Contracts, as the ledger knows them.

/// A contract: every run names one, and its schema is stored once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContractRow {
    /// The fingerprint of the canonical schema, in hex.
    pub fingerprint: String,
    /// Its name, empty if it has none.
    pub name: String,
    /// Its version, empty if it has none.
    pub version: String,
    /// The schema as it was written.
    pub schema: String,
}
