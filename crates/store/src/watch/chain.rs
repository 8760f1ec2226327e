//! Chains: one scheduled or asked-for pass over the estate, from its first session to its last.

use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// Where a chain stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainState {
    /// Its name.
    pub id: String,
    /// Why it began: `scheduled`, `manual`, `api`, `alert`, `verification`.
    pub cause: String,
    /// The machine, in the caller's own form.
    pub machine: String,
    /// When it began, in Unix milliseconds.
    pub started_at: i64,
    /// When it ended; absent while it goes on.
    pub ended_at: Option<i64>,
}

/// One chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chain {
    /// Its number: chains are ordered by it.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// Why it began.
    pub cause: String,
    /// The machine, in the caller's own form.
    #[serde(skip)]
    pub machine: String,
    /// When it began, in Unix milliseconds.
    pub started_at: i64,
    /// When it ended; absent while it goes on.
    pub ended_at: Option<i64>,
}

pub(super) const COLUMNS: &str = "seq, id, cause, machine, started_at, ended_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Chain, StoreError> {
    Ok(Chain {
        number: columns.take()?,
        id: columns.take()?,
        cause: columns.take()?,
        machine: columns.take()?,
        started_at: columns.take()?,
        ended_at: columns.take()?,
    })
}
