//! What a session came to: how it ended, and what it left.

mod extracted;
mod masked;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::markers::Markers;
use super::response::AgentResponse;
use crate::price::Cost;

pub use extracted::{Ask, Extracted};

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// It is under way.
    Running,
    /// It came to its end.
    Completed,
    /// It did not.
    Failed,
    /// An operator ended it.
    Stopped,
    /// It took too long.
    TimedOut,
    /// It came to its end, and the next tier took over.
    Escalated,
}

impl SessionStatus {
    /// Every status.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Stopped,
        Self::TimedOut,
        Self::Escalated,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::TimedOut => "timed_out",
            Self::Escalated => "escalated",
        }
    }

    /// Returns the status of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionEnding {
    /// Its process ended by itself.
    Exited {
        /// The exit code.
        code: i32,
        /// What it said of itself.
        claim: ExitClaim,
    },
    /// An operator ended it.
    Stopped,
    /// It took too long.
    TimedOut,
    /// Whoever watched it is gone, and nobody knows.
    Lost,
}

/// What a program says of its own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitClaim {
    /// It is content, or says nothing.
    Fine,
    /// It calls its result an error.
    Error,
}

impl SessionEnding {
    /// The end of a session that did what it should.
    pub const FINE: Self = Self::Exited { code: 0, claim: ExitClaim::Fine };

    /// Returns the status of a session that ended so.
    pub fn status(self) -> SessionStatus {
        match self {
            Self::Exited { code: 0, claim: ExitClaim::Fine } => SessionStatus::Completed,
            Self::Exited { .. } | Self::Lost => SessionStatus::Failed,
            Self::Stopped => SessionStatus::Stopped,
            Self::TimedOut => SessionStatus::TimedOut,
        }
    }
}

/// How what a session yields was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extraction {
    /// In its structured answer.
    Structured,
    /// In markers and a handoff.
    Markers,
    /// Nowhere.
    None,
}

impl Extraction {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Structured, Self::Markers, Self::None];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Markers => "markers",
            Self::None => "none",
        }
    }

    /// Returns the way of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|extraction| extraction.name() == name)
    }
}

/// The structured answer of a session, if it gave one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// The contract accepted it.
    Accepted(Box<AgentResponse>),
    /// There is one, and the contract did not accept it, or there is no reading it.
    Rejected(String),
    /// There is none.
    Absent,
}

/// The handoff file after a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffFile {
    /// There is none.
    Absent,
    /// There is one that cannot be read.
    Unreadable(String),
    /// There is one that was there before the session, and could not be deleted.
    Stale,
    /// There is one that the session wrote.
    Present {
        /// What is in it.
        bytes: Vec<u8>,
    },
}

/// Whether markers and handoffs are read where there is no structured answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Legacy {
    /// They are.
    #[default]
    Read,
    /// They are not.
    Ignored,
}

/// What somebody else made of what a session said that gave no summary itself. CO-15.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Retold {
    /// Nobody was asked.
    #[default]
    Not,
    /// A few sentences.
    Briefly(String),
    /// Whoever was asked failed, and why.
    Failed(String),
}

/// What a session came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub ending: SessionEnding,
    /// Its structured answer.
    pub payload: Payload,
    /// What it said in markers.
    pub markers: Markers,
    /// The handoff file after it.
    pub handoff: HandoffFile,
    /// What it cost, if that is known.
    pub cost: Option<Cost>,
    /// What it said, in somebody else's words.
    pub retold: Retold,
}

impl Finished {
    /// Returns a session of which nothing is known but how it ended.
    pub fn without_answer(ending: SessionEnding) -> Self {
        let (payload, handoff) = (Payload::Absent, HandoffFile::Absent);
        let (markers, retold) = (Markers::default(), Retold::Not);
        Self { ending, payload, markers, handoff, cost: None, retold }
    }
}

/// Returns what a session answered in words: its result, else the last that it `said`, else its summary.
pub fn response_text<'t>(
    result: Option<&'t str>,
    said: &'t [String],
    summary: Option<&'t str>,
) -> Option<&'t str> {
    let last_first = said.iter().rev().map(String::as_str);
    let mut texts = result.into_iter().chain(last_first).chain(summary);
    texts.find(|text| !text.trim().is_empty())
}
