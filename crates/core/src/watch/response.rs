//! What a session reports by the contract `agent-response`, parsed once.
//!
//! The contract has accepted the document before it comes here; this only gives it types. Versions
//! that are still accepted are data, so that a fleet can be updated machine by machine.

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::level::Level;
use super::services::{ServiceCheck, ServiceStatus};
use crate::json::{Document, Node};

/// One version of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseSchema {
    /// Its `x-version`.
    pub version: &'static str,
    /// The schema.
    pub text: &'static str,
}

/// The versions that are accepted, the current one first.
pub const RESPONSE_SCHEMAS: [ResponseSchema; 2] = [
    ResponseSchema {
        version: "1.0.0",
        text: include_str!("../../../../schemas/agent-response.json"),
    },
    // As its authors published it. It has no rule that an escalation needs a reason.
    ResponseSchema {
        version: "0.1.0",
        text: include_str!("../../../../schemas/agent-response/0.1.0.json"),
    },
];

impl ResponseSchema {
    /// Returns the current version.
    pub fn current() -> Self {
        let [current, ..] = RESPONSE_SCHEMAS;
        current
    }

    /// Returns an accepted version.
    pub fn of_version(version: &str) -> Option<Self> {
        RESPONSE_SCHEMAS.into_iter().find(|schema| schema.version == version)
    }
}

/// What a session reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentResponse {
    /// What it found and did, in short.
    pub summary: String,
    /// What operators should see.
    pub events: Vec<Event>,
    /// What later sessions should know.
    pub memories: Vec<KeyedMemory>,
    /// Whether the next tier must take over.
    pub escalation: Escalation,
    /// Every service that was checked.
    pub services_checked: Vec<ServiceCheck>,
}

/// What later sessions should know, as it is said: its key is not understood yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyedMemory {
    /// `category` or `service:category`.
    pub key: String,
    /// What was observed.
    pub value: String,
}

/// Whether the next tier must take over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escalation {
    /// It need not.
    NotNeeded,
    /// It must.
    Needed(EscalationRequest),
}

/// Why the next tier must take over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EscalationRequest {
    /// Why; the current contract requires it.
    pub reason: Option<String>,
    /// What the next tier should know.
    pub context: Option<String>,
    /// Names of the checks that failed.
    pub failed_checks: Vec<String>,
}

/// A document that is no response: the contract has not accepted it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer has no {wanted} at `{pointer}`; it was not judged by the contract")]
pub struct NoResponse {
    /// Where.
    pub pointer: String,
    /// What should be there.
    pub wanted: &'static str,
}

impl AgentResponse {
    /// Gives types to an accepted document.
    pub fn read(document: &Document) -> Result<Self, NoResponse> {
        let root = Place { node: document.root(), pointer: String::new() };
        let memories = match root.optional("memories") {
            None => Vec::new(),
            Some(memories) => memories.each(memory)?,
        };
        Ok(Self {
            summary: root.string("summary")?,
            events: root.array("events")?.each(event)?,
            memories,
            escalation: escalation(&root.member("escalation")?)?,
            services_checked: root.array("services_checked")?.each(service)?,
        })
    }
}

fn event(place: &Place<'_>) -> Result<Event, NoResponse> {
    let level = place.string("level")?;
    let level = Level::named(&level).ok_or_else(|| place.lacks("level", "known level"))?;
    let service = place.optional_string("service")?;
    Ok(Event::of_session(level, service.as_deref(), place.string("message")?))
}

fn memory(place: &Place<'_>) -> Result<KeyedMemory, NoResponse> {
    Ok(KeyedMemory { key: place.string("key")?, value: place.string("value")? })
}

fn service(place: &Place<'_>) -> Result<ServiceCheck, NoResponse> {
    let status = place.string("status")?;
    let status =
        ServiceStatus::named(&status).ok_or_else(|| place.lacks("status", "known status"))?;
    Ok(ServiceCheck {
        name: place.string("name")?,
        status,
        detail: place.optional_string("detail")?,
    })
}

fn escalation(place: &Place<'_>) -> Result<Escalation, NoResponse> {
    let needed = place.member("needed")?.node.as_boolean();
    if !needed.ok_or_else(|| place.lacks("needed", "boolean"))? {
        return Ok(Escalation::NotNeeded);
    }
    let failed_checks = match place.optional("failed_checks") {
        None => Vec::new(),
        Some(checks) => checks.each(Place::text)?,
    };
    Ok(Escalation::Needed(EscalationRequest {
        reason: place.optional_string("reason")?,
        context: place.optional_string("context")?,
        failed_checks,
    }))
}

/// A node, and where it is.
struct Place<'d> {
    node: Node<'d>,
    pointer: String,
}

impl<'d> Place<'d> {
    fn lacks(&self, name: &str, wanted: &'static str) -> NoResponse {
        NoResponse { pointer: format!("{}/{name}", self.pointer), wanted }
    }

    /// Returns a member; `null` is none.
    fn optional(&self, name: &str) -> Option<Self> {
        let node = self.node.member(name).filter(|node| !node.is_null())?;
        Some(Self { node, pointer: format!("{}/{name}", self.pointer) })
    }

    fn member(&self, name: &str) -> Result<Self, NoResponse> {
        self.optional(name).ok_or_else(|| self.lacks(name, "value"))
    }

    fn array(&self, name: &str) -> Result<Self, NoResponse> {
        self.member(name)
    }

    fn each<T>(
        &self,
        read: impl Fn(&Place<'d>) -> Result<T, NoResponse>,
    ) -> Result<Vec<T>, NoResponse> {
        if self.node.kind() != crate::json::Kind::Array {
            return Err(NoResponse { pointer: self.pointer.clone(), wanted: "array" });
        }
        let places = self.node.items().enumerate().map(|(position, node)| Place {
            node,
            pointer: format!("{}/{position}", self.pointer),
        });
        places.map(|place| read(&place)).collect()
    }

    fn text(&self) -> Result<String, NoResponse> {
        let text = self.node.as_str().map(str::to_owned);
        text.ok_or_else(|| NoResponse { pointer: self.pointer.clone(), wanted: "string" })
    }

    fn string(&self, name: &str) -> Result<String, NoResponse> {
        self.member(name)?.text()
    }

    /// Returns a text; one without content is none.
    fn optional_string(&self, name: &str) -> Result<Option<String>, NoResponse> {
        let text = self.optional(name).map(|place| place.text()).transpose()?;
        Ok(text.filter(|text| !text.trim().is_empty()))
    }
}
