//! What a session came to, and what it yields: from its structured answer, or from the markers and the
//! handoff of older prompts, never from both.

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::handoff::{Handoff, HandoffError};
use super::level::Level;
use super::markers::{Markers, RefusedLine};
use super::memory::{MemoryClaim, MemoryKey};
use super::response::{AgentResponse, Escalation, EscalationRequest, KeyedMemory};
use super::services::ServiceCheck;
use super::tier::Tier;
use crate::price::Cost;

/// The exit code of a process that is ended for taking too long.
const KILLED_CODE: i32 = 137;

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

    /// Returns the exit code, if there is one.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited { code, .. } => Some(code),
            Self::TimedOut => Some(KILLED_CODE),
            Self::Stopped | Self::Lost => None,
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
    /// There is one.
    Present {
        /// What is in it.
        bytes: Vec<u8>,
        /// When it was written, if that is known.
        written_at_ms: Option<i64>,
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
}

impl Finished {
    /// Returns a session of which nothing is known but how it ended.
    pub fn without_answer(ending: SessionEnding) -> Self {
        let (payload, handoff) = (Payload::Absent, HandoffFile::Absent);
        Self { ending, payload, markers: Markers::default(), handoff, cost: None }
    }
}

/// Whether a session asks for the next tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "of", rename_all = "snake_case")]
pub enum Ask {
    /// It does not.
    Nothing,
    /// It does, in its answer.
    Request(EscalationRequest),
    /// It does, in a handoff.
    Handoff(Handoff),
    /// It left a handoff that cannot be acted on.
    Invalid(HandoffError),
}

/// What a session yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// How it was found.
    pub by: Extraction,
    /// Its summary.
    pub summary: Option<String>,
    /// What operators should see, our own remarks included.
    pub events: Vec<Event>,
    /// What later sessions should know.
    pub claims: Vec<MemoryClaim>,
    /// What was checked.
    pub checks: Vec<ServiceCheck>,
    /// Whether it asks for the next tier.
    pub ask: Ask,
    /// What the log should say.
    pub notes: Vec<String>,
}

impl Extracted {
    /// Reads what a session of `tier` that began at `began_at_ms` yields.
    pub fn of(finished: &Finished, tier: Tier, legacy: Legacy, began_at_ms: i64) -> Self {
        let mut extracted = match &finished.payload {
            Payload::Accepted(response) => {
                let mut extracted = Self::structured(response);
                extracted.note_unread(finished);
                extracted
            }
            Payload::Rejected(why) => {
                let mut extracted = Self::unstructured(finished, tier, legacy, began_at_ms);
                let message = format!("the structured answer of {tier} does not count: {why}");
                extracted.notes.push(message.clone());
                extracted.events.push(Event::of_watch(Level::Warning, message));
                extracted
            }
            Payload::Absent => {
                let mut extracted = Self::unstructured(finished, tier, legacy, began_at_ms);
                extracted.notes.push(format!("{tier} gave no structured answer"));
                extracted
            }
        };
        extracted.tell_slips(&finished.markers, legacy);
        extracted
    }

    fn structured(response: &AgentResponse) -> Self {
        let mut events = response.events.clone();
        let mut claims = Vec::new();
        for KeyedMemory { key, value } in &response.memories {
            match MemoryKey::parse(key) {
                Ok(key) => claims.push(MemoryClaim { key, observation: value.clone() }),
                Err(error) => {
                    let message = format!("a memory is not kept: {error}: {value}");
                    events.push(Event::of_watch(Level::Warning, message));
                }
            }
        }
        Self {
            by: Extraction::Structured,
            summary: Some(response.summary.clone()),
            events,
            claims,
            checks: response.services_checked.clone(),
            ask: match &response.escalation {
                Escalation::NotNeeded => Ask::Nothing,
                Escalation::Needed(request) => Ask::Request(request.clone()),
            },
            notes: Vec::new(),
        }
    }

    fn unstructured(finished: &Finished, tier: Tier, legacy: Legacy, began_at_ms: i64) -> Self {
        let mut extracted = Self {
            by: Extraction::None,
            summary: None,
            events: Vec::new(),
            claims: Vec::new(),
            checks: Vec::new(),
            ask: Ask::Nothing,
            notes: Vec::new(),
        };
        if legacy == Legacy::Read {
            extracted.events.clone_from(&finished.markers.events);
            extracted.claims.clone_from(&finished.markers.memories);
            extracted.ask = asked(&finished.handoff, tier, began_at_ms);
            if let Ask::Handoff(handoff) = &extracted.ask {
                let checks = handoff.check_results.iter().map(|result| result.check.clone());
                extracted.checks = checks.collect();
            }
        }
        let is_found = !extracted.events.is_empty()
            || !extracted.claims.is_empty()
            || extracted.ask != Ask::Nothing;
        if is_found {
            extracted.by = Extraction::Markers;
        } else if finished.ending == SessionEnding::FINE {
            let message = format!("{tier} ended without an answer: what it found is not known");
            extracted.events.push(Event::of_watch(Level::Warning, message));
        }
        if legacy == Legacy::Ignored {
            extracted.note_unread(finished);
        }
        extracted
    }

    /// Notes what was left in the older ways and is not read.
    fn note_unread(&mut self, finished: &Finished) {
        let markers = finished.markers.events.len() + finished.markers.memories.len();
        if markers > 0 {
            self.notes.push(format!("{markers} markers do not count"));
        }
        if finished.handoff != HandoffFile::Absent {
            self.notes.push("a handoff does not count".to_owned());
        }
    }

    /// Tells of lines that somebody probably meant as markers, where markers count.
    fn tell_slips(&mut self, markers: &Markers, legacy: Legacy) {
        let is_read = self.by != Extraction::Structured && legacy == Legacy::Read;
        // What was done to services is said in markers alone, whatever else there is.
        let counts = |refused: &&RefusedLine| is_read || refused.text.contains("COOLDOWN");
        let slips = markers.refused.iter().filter(counts);
        self.events.extend(slips.filter_map(RefusedLine::event));
        if markers.refused_more > 0 && is_read {
            let more = markers.refused_more;
            let message = format!("{more} more lines look like markers and are none");
            self.events.push(Event::of_watch(Level::Warning, message));
        }
    }
}

/// Reads what a handoff asks for.
fn asked(file: &HandoffFile, tier: Tier, began_at_ms: i64) -> Ask {
    match file {
        HandoffFile::Absent => Ask::Nothing,
        HandoffFile::Unreadable(why) => Ask::Invalid(HandoffError::Unreadable(why.clone())),
        HandoffFile::Present { written_at_ms: Some(at), .. } if *at < began_at_ms => {
            Ask::Invalid(HandoffError::Stale)
        }
        HandoffFile::Present { bytes, .. } if tier == Tier::Remediate => {
            // Whatever it says, nobody is above; that it asks is told to people.
            match Handoff::read(bytes, Tier::Investigate) {
                Ok(handoff) => Ask::Handoff(handoff),
                Err(error) => Ask::Invalid(error),
            }
        }
        HandoffFile::Present { bytes, .. } => match Handoff::read(bytes, tier) {
            Ok(handoff) => Ask::Handoff(handoff),
            Err(error) => Ask::Invalid(error),
        },
    }
}

/// Returns what a session answered in words: its result, else what it said last, else its summary.
pub fn response_text<'t>(
    result: Option<&'t str>,
    last_said: Option<&'t str>,
    summary: Option<&'t str>,
) -> Option<&'t str> {
    let is_said = |text: &&str| !text.trim().is_empty();
    [result, last_said, summary].into_iter().flatten().find(is_said)
}

#[cfg(test)]
mod tests;
