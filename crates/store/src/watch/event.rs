//! Events of the estate: what sessions report, and what the watch itself has to say.

use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// An event that is to be stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewWatchEvent {
    /// The session that reported it.
    pub session: Option<String>,
    /// The chain that it belongs to.
    pub chain: Option<String>,
    /// Who says so: `structured`, `markers` or `watch`.
    pub origin: String,
    /// `info`, `warning` or `critical`.
    pub level: String,
    /// The level as it was said, if that was another word.
    pub said_level: Option<String>,
    /// The service that it is about.
    pub service: Option<String>,
    /// What happened.
    pub message: String,
}

/// One event of the estate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchEvent {
    /// Its number: events are ordered by it.
    pub number: i64,
    /// The session that reported it.
    pub session: Option<String>,
    /// The chain that it belongs to.
    pub chain: Option<String>,
    /// Who says so: `structured`, `markers` or `watch`.
    pub origin: String,
    /// `info`, `warning` or `critical`.
    pub level: String,
    /// The level as it was said, if that was another word.
    pub said_level: Option<String>,
    /// The service that it is about.
    pub service: Option<String>,
    /// What happened.
    pub message: String,
    /// When, in Unix milliseconds.
    pub at: i64,
}

/// Which events are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// One level.
    pub level: Option<String>,
    /// One service.
    pub service: Option<String>,
    /// One session.
    pub session: Option<String>,
    /// Told at this time or later, in Unix milliseconds.
    pub since: Option<i64>,
}

pub(super) const COLUMNS: &str =
    "seq, session, chain, origin, level, said_level, service, message, told_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<WatchEvent, StoreError> {
    Ok(WatchEvent {
        number: columns.take()?,
        session: columns.take()?,
        chain: columns.take()?,
        origin: columns.take()?,
        level: columns.take()?,
        said_level: columns.take()?,
        service: columns.take()?,
        message: columns.take()?,
        at: columns.take()?,
    })
}
