//! Notifications: queued with what they are about, delivered later, and what came of it.

use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// A notification to one target that is to be delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNotification {
    /// The word of core's category.
    pub category: String,
    /// The name of the target.
    pub target: String,
    /// Its title.
    pub title: String,
    /// Its body: Markdown.
    pub body: String,
    /// The chain that it is about.
    pub chain: Option<String>,
}

/// What became of a notification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationState {
    /// It waits to be delivered.
    #[default]
    Queued,
    /// The target took it.
    Sent,
    /// The target did not take it, and it is not tried again.
    Failed,
}

impl NotificationState {
    /// Returns the word for it in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }

    fn named(word: &str) -> Self {
        match word {
            "queued" => Self::Queued,
            "sent" => Self::Sent,
            _ => Self::Failed,
        }
    }
}

/// What came of trying to deliver a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The notification.
    pub id: String,
    /// What became of it.
    pub state: NotificationState,
    /// How often it was tried.
    pub attempts: i64,
    /// Why it was not taken.
    pub error: Option<String>,
}

/// One notification to one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// Its number: notifications are ordered by it.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// The word of core's category.
    pub category: String,
    /// The name of the target.
    pub target: String,
    /// Its title.
    pub title: String,
    /// Its body: Markdown.
    pub body: String,
    /// The chain that it is about.
    pub chain: Option<String>,
    /// What became of it.
    pub state: NotificationState,
    /// How often it was tried.
    pub attempts: i64,
    /// Why it was not taken.
    pub error: Option<String>,
    /// When it was queued, in Unix milliseconds.
    pub queued_at: i64,
    /// When it was tried last.
    pub told_at: Option<i64>,
}

pub(super) const COLUMNS: &str = "seq, id, category, target, title, body, chain, state, attempts, \
     error, queued_at, told_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Notification, StoreError> {
    Ok(Notification {
        number: columns.take()?,
        id: columns.take()?,
        category: columns.take()?,
        target: columns.take()?,
        title: columns.take()?,
        body: columns.take()?,
        chain: columns.take()?,
        state: NotificationState::named(&columns.take::<String>()?),
        attempts: columns.take()?,
        error: columns.take()?,
        queued_at: columns.take()?,
        told_at: columns.take()?,
    })
}
