//! The stream of a run: events, numbered from 1.

use serde::Serialize;

/// One event that is to be appended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewEvent {
    /// What happened, in a word.
    pub kind: String,
    /// The event itself: JSON.
    pub body: String,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredEvent {
    /// Its number in the run, from 1.
    pub number: i64,
    /// When it was told, in Unix milliseconds.
    pub at: i64,
    /// What happened, in a word.
    pub kind: String,
    /// The event itself: JSON; absent where texts are not kept.
    #[serde(serialize_with = "crate::form::serialize_json")]
    pub body: Option<String>,
}
