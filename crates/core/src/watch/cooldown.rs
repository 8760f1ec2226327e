//! Cooldowns: how often a service may be acted on before a person must look.
//!
//! An action is on record before it is done, so that a crash in between cannot grant one more. What was
//! tried counts, whether it worked or not. Which commands are actions is read from their text; what is
//! not understood is let pass, and told.

mod claims;
mod command;
mod guard;
#[cfg(test)]
mod tests;
mod window;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use claims::{ClaimedResult, CooldownChange, CooldownClaim, settle_claims};
pub use command::{CommandAction, CommandNote, Recognised, recognise};
pub use guard::{CooldownVerdict, Denied, judge_command};
pub use window::{CooldownLimits, Window};

/// What is done to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CooldownAction {
    /// It is stopped and started.
    Restart,
    /// It is stopped; the start that follows belongs to it.
    Stop,
    /// It is started.
    Start,
    /// It is installed anew.
    Redeployment,
}

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Restarts, stops and starts.
    Restarts,
    /// Redeployments.
    Redeployments,
}

impl CooldownAction {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Restart, Self::Stop, Self::Start, Self::Redeployment];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Stop => "stop",
            Self::Start => "start",
            Self::Redeployment => "redeployment",
        }
    }

    /// Returns the action of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// Returns what it is counted with.
    pub fn counter(self) -> Counter {
        match self {
            Self::Restart | Self::Stop | Self::Start => Counter::Restarts,
            Self::Redeployment => Counter::Redeployments,
        }
    }
}

impl fmt::Display for CooldownAction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What came of an action. All of them count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionState {
    /// It is about to be done, or being done.
    Reserved,
    /// It worked.
    Success,
    /// It did not.
    Failure,
    /// Whoever did it is gone, and nobody knows.
    Unknown,
}

impl ActionState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Reserved, Self::Success, Self::Failure, Self::Unknown];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the state of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// An action on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionRecord {
    /// Its id.
    pub id: String,
    /// The service.
    pub service: String,
    /// What was done.
    pub action: CooldownAction,
    /// When it was reserved.
    pub at_ms: i64,
    /// What came of it.
    pub state: ActionState,
    /// The session that did it.
    pub session_id: Option<String>,
}
