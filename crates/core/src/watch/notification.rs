//! What people are told when nobody watches: title and Markdown body, in the shape of each kind of target.
//!
//! A target that fails blocks nothing. Text of agents cannot call a channel or hide a link: where a
//! format has such marks, they are escaped.

mod flood;
mod slack;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use flood::{QUIET_MS, Told};
pub use slack::slack_payload;

/// Why people are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationCategory {
    /// A day is over.
    DailyDigest,
    /// Something was repaired, or tried to be.
    Remediation,
    /// Somebody must look.
    HumanAttention,
}

impl NotificationCategory {
    /// Every category.
    pub const ALL: [Self; 3] = [Self::DailyDigest, Self::Remediation, Self::HumanAttention];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::DailyDigest => "daily_digest",
            Self::Remediation => "remediation",
            Self::HumanAttention => "human_attention",
        }
    }

    /// Returns the category of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }
}

/// What people are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// Why.
    pub category: NotificationCategory,
    /// What brought it about, in a word that is the same each time; empty if each is told by itself.
    #[serde(default)]
    pub cause: String,
    /// What, in one line.
    pub title: String,
    /// More, in Markdown.
    pub body: String,
}

/// The version of the generic payload.
const PAYLOAD_VERSION: u32 = 1;

/// Returns the payload for a target that takes any JSON; `chain` is what it came of.
pub fn generic_payload(notification: &Notification, chain: Option<&str>, at_ms: i64) -> Value {
    let Notification { category, title, body, .. } = notification;
    json!({
        "type": "airtight.notification",
        "version": PAYLOAD_VERSION,
        "category": category.name(),
        "title": title,
        "body": body,
        "chain": chain,
        "at_ms": at_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CO-108: three categories, title and Markdown body.
    #[test]
    fn co_108_any_target_takes_plain_json() {
        let notification = Notification {
            category: NotificationCategory::HumanAttention,
            cause: String::new(),
            title: "jellyfin needs human attention".to_owned(),
            body: "**why**".to_owned(),
        };
        let expected = json!({
            "type": "airtight.notification",
            "version": 1,
            "category": "human_attention",
            "title": "jellyfin needs human attention",
            "body": "**why**",
            "chain": "c",
            "at_ms": 5,
        });
        assert_eq!(generic_payload(&notification, Some("c"), 5), expected);
        for category in NotificationCategory::ALL {
            assert_eq!(NotificationCategory::named(category.name()), Some(category));
        }
    }
}
