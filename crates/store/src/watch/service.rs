//! Services: how each is, since when, and every check of it.

use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// How a service is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// Its name.
    pub name: String,
    /// What the last check says.
    pub status: String,
    /// What the last check saw.
    pub detail: Option<String>,
    /// Healthy checks in a row.
    pub healthy_streak: i64,
    /// Checks in a row that were not healthy.
    pub unhealthy_streak: i64,
    /// When its status changed last, in Unix milliseconds.
    pub changed_at: i64,
    /// When it was checked last.
    pub checked_at: i64,
    /// Actions before this time do not count against it any more.
    pub cleared_at: Option<i64>,
}

/// One check of a service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Its number; 0 for one that is new.
    pub number: i64,
    /// The service.
    pub service: String,
    /// The session that checked it.
    pub session: Option<String>,
    /// What it says.
    pub status: String,
    /// What it saw.
    pub detail: Option<String>,
    /// When, in Unix milliseconds.
    pub checked_at: i64,
}

pub(super) const COLUMNS: &str = "name, status, detail, healthy_streak, unhealthy_streak, \
     changed_at, checked_at, cleared_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Service, StoreError> {
    Ok(Service {
        name: columns.take()?,
        status: columns.take()?,
        detail: columns.take()?,
        healthy_streak: columns.take()?,
        unhealthy_streak: columns.take()?,
        changed_at: columns.take()?,
        checked_at: columns.take()?,
        cleared_at: columns.take()?,
    })
}

pub(super) const CHECK_COLUMNS: &str = "seq, service, session, status, detail, checked_at";

pub(super) fn read_check(columns: &mut Columns<'_>) -> Result<Check, StoreError> {
    Ok(Check {
        number: columns.take()?,
        service: columns.take()?,
        session: columns.take()?,
        status: columns.take()?,
        detail: columns.take()?,
        checked_at: columns.take()?,
    })
}
