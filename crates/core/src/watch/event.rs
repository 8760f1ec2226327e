//! Events: what operators should see, said by a session or by the watch itself.

use serde::{Deserialize, Serialize};

use super::level::{Level, LevelEdit};

/// Something that operators should see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// How much it matters.
    pub level: Level,
    /// The service that it is about, if it is about one.
    pub service: Option<String>,
    /// What happened.
    pub message: String,
    /// Who says so.
    pub origin: EventOrigin,
    /// How the level was said, if it was said differently.
    pub edit: Option<LevelEdit>,
}

/// Who says what an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOrigin {
    /// A session.
    Session,
    /// The watch.
    Watch,
}

impl EventOrigin {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Watch => "watch",
        }
    }
}

impl Event {
    /// Makes an event of a session; a service without a name is none.
    pub fn of_session(level: Level, service: Option<&str>, message: impl Into<String>) -> Self {
        let service = service.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        let message = message.into();
        Self { level, service, message, origin: EventOrigin::Session, edit: None }
    }

    /// Makes an event of the watch itself.
    pub fn of_watch(level: Level, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { level, service: None, message, origin: EventOrigin::Watch, edit: None }
    }
}
