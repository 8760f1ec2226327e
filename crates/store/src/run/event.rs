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

/// How much of the stream of a run is read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventBounds {
    /// How many events.
    pub rows: u32,
    /// The longest body that is read; longer ones are left out.
    pub body_bytes: i64,
    /// How long all bodies may be together; one is read whatever it takes.
    pub all_bytes: i64,
}

/// A stretch of the stream of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<BoundedEvent>,
    /// Whether there were no more behind them.
    pub is_last: bool,
}

/// One event of a run, whose body may be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedEvent {
    /// The event.
    pub event: StoredEvent,
    /// How long the body is that was left out; it is read by its number.
    pub left_out_bytes: Option<i64>,
}
