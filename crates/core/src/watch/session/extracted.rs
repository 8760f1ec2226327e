//! What a session yields: from its structured answer, or from the markers and the handoff of older
//! prompts, never from both.

use serde::{Deserialize, Serialize};

use super::{Extraction, Finished, HandoffFile, Legacy, Payload, Retold, SessionEnding};
use crate::excerpt;
use crate::watch::cooldown::CooldownClaim;
use crate::watch::event::Event;
use crate::watch::handoff::{Handoff, HandoffError};
use crate::watch::level::Level;
use crate::watch::markers::{Markers, Refused, RefusedLine};
use crate::watch::memory::{MemoryClaim, MemoryKey};
use crate::watch::response::{AgentResponse, Escalation, EscalationRequest, KeyedMemory};
use crate::watch::services::{SERVICE_NAME_LIMIT_BYTES, ServiceCheck};
use crate::watch::tier::Tier;

/// The most memories of an answer that are looked at: each refusal is an event of its own.
const MEMORIES_LIMIT: usize = 64;

/// How much of a refused memory, or of a name, is told.
const TOLD_CHARS: usize = 120;

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
    /// What it says that it did to services.
    pub cooldowns: Vec<CooldownClaim>,
    /// Whether it asks for the next tier.
    pub ask: Ask,
    /// What the log should say.
    pub notes: Vec<String>,
}

impl Extracted {
    /// Reads what a session of `tier` yields.
    pub fn of(finished: &Finished, tier: Tier, legacy: Legacy) -> Self {
        let mut extracted = match &finished.payload {
            Payload::Accepted(response) => {
                let mut extracted = Self::structured(response);
                extracted.note_unread(finished);
                extracted
            }
            Payload::Rejected(why) => {
                let mut extracted = Self::unstructured(finished, tier, legacy);
                let message = format!("the structured answer of {tier} does not count: {why}");
                extracted.notes.push(message.clone());
                extracted.events.push(Event::of_watch(Level::Warning, message));
                extracted
            }
            Payload::Absent => {
                let mut extracted = Self::unstructured(finished, tier, legacy);
                extracted.notes.push(format!("{tier} gave no structured answer"));
                extracted
            }
        };
        extracted.cooldowns.clone_from(&finished.markers.cooldowns);
        extracted.drop_long_names();
        extracted.tell_slips(&finished.markers, legacy);
        extracted
    }

    /// Returns what a session yields that yields nothing.
    pub(in crate::watch) fn nothing() -> Self {
        Self {
            by: Extraction::None,
            summary: None,
            events: Vec::new(),
            claims: Vec::new(),
            checks: Vec::new(),
            cooldowns: Vec::new(),
            ask: Ask::Nothing,
            notes: Vec::new(),
        }
    }

    /// Drops checks of services whose names cannot be kept, and tells of them.
    fn drop_long_names(&mut self) {
        let is_long = |check: &ServiceCheck| check.name.trim().len() > SERVICE_NAME_LIMIT_BYTES;
        let checks = std::mem::take(&mut self.checks);
        let (long, kept): (Vec<_>, Vec<_>) = checks.into_iter().partition(is_long);
        self.checks = kept;
        let told = |ServiceCheck { name, status, .. }: ServiceCheck| {
            let (bytes, status) = (name.len(), status.name());
            let name = excerpt(&name, TOLD_CHARS, "…");
            let message = format!(
                "a check is not kept, for the name of its service has {bytes} bytes, over \
                 {SERVICE_NAME_LIMIT_BYTES}: {status}: {name}"
            );
            Event::of_watch(Level::Warning, message)
        };
        self.events.extend(long.into_iter().map(told));
    }

    fn structured(response: &AgentResponse) -> Self {
        let mut events = response.events.clone();
        let mut claims = Vec::new();
        let over = response.memories.len().saturating_sub(MEMORIES_LIMIT);
        if over > 0 {
            let message = format!("{over} memories are not looked at: there are too many");
            events.push(Event::of_watch(Level::Warning, message));
        }
        for KeyedMemory { key, value } in response.memories.iter().take(MEMORIES_LIMIT) {
            match MemoryKey::parse(key) {
                Ok(key) => claims.push(MemoryClaim { key, observation: value.clone() }),
                Err(error) => {
                    let value = excerpt(value, TOLD_CHARS, "…");
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
            ..Self::nothing()
        }
    }

    fn unstructured(finished: &Finished, tier: Tier, legacy: Legacy) -> Self {
        let mut extracted = Self::nothing();
        if legacy == Legacy::Read {
            extracted.events.clone_from(&finished.markers.events);
            extracted.claims.clone_from(&finished.markers.memories);
            extracted.ask = asked(&finished.handoff, tier);
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
        extracted.retell(&finished.retold, tier);
        extracted
    }

    /// Takes somebody else's words for the summary; that there are none changes nothing else.
    fn retell(&mut self, retold: &Retold, tier: Tier) {
        match retold {
            Retold::Not => {}
            Retold::Briefly(summary) => self.summary = Some(summary.clone()),
            Retold::Failed(why) => {
                let message = format!("what {tier} said has no summary: {why}");
                self.events.push(Event::of_watch(Level::Warning, message));
            }
        }
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
        let counts = |refused: &&RefusedLine| {
            is_read || refused.reason == Refused::TooMuch || refused.text.contains("COOLDOWN")
        };
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
fn asked(file: &HandoffFile, tier: Tier) -> Ask {
    match file {
        HandoffFile::Absent => Ask::Nothing,
        HandoffFile::Unreadable(why) => Ask::Invalid(HandoffError::Unreadable(why.clone())),
        HandoffFile::Stale => Ask::Invalid(HandoffError::Stale),
        HandoffFile::Present { bytes } if tier == Tier::Remediate => {
            // Whatever it says, nobody is above; that it asks is told to people.
            match Handoff::read(bytes, Tier::Investigate) {
                Ok(handoff) => Ask::Handoff(handoff),
                Err(error) => Ask::Invalid(error),
            }
        }
        HandoffFile::Present { bytes } => match Handoff::read(bytes, tier) {
            Ok(handoff) => Ask::Handoff(handoff),
            Err(error) => Ask::Invalid(error),
        },
    }
}
