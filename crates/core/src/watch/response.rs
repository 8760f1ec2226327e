//! What a session reports by the contract `agent-response`, parsed once.
//!
//! The contract has accepted the document before it comes here; this only gives it types. Versions
//! that are still accepted are data, so that a fleet can be updated machine by machine.

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::level::Level;
use super::services::{ServiceCheck, ServiceStatus};
use crate::json::{Document, Kind, Node};

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
            events: root.member("events")?.each(event)?,
            memories,
            escalation: escalation(&root.member("escalation")?)?,
            services_checked: root.member("services_checked")?.each(service)?,
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

impl Place<'_> {
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

    fn each<T>(&self, read: impl Fn(&Self) -> Result<T, NoResponse>) -> Result<Vec<T>, NoResponse> {
        if self.node.kind() != Kind::Array {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use test_case::test_case;

    use super::*;
    use crate::Contract;
    use crate::verdict::check;

    fn contract(version: &str) -> Contract {
        let schema = ResponseSchema::of_version(version).unwrap();
        Contract::compile(serde_json::from_str(schema.text).unwrap()).unwrap()
    }

    fn read(value: &Value) -> Result<AgentResponse, NoResponse> {
        AgentResponse::read(&Document::from_value(value).unwrap())
    }

    fn violations(version: &str, value: &Value) -> Vec<String> {
        let document = Document::from_value(value).unwrap();
        let found = check(&contract(version), &document);
        found.list.into_iter().map(|it| it.pointer.as_str().to_owned()).collect()
    }

    fn answer(escalation: &Value) -> Value {
        json!({
            "summary": "jellyfin is down",
            "events": [
                { "level": "critical", "service": "jellyfin", "message": "502" },
                { "level": "info", "service": "", "message": "caddy is fine" },
            ],
            "escalation": escalation,
            "services_checked": [
                { "name": "jellyfin", "status": "down", "detail": "502" },
                { "name": "caddy", "status": "healthy" },
            ],
        })
    }

    /// CO-20, CO-40: one schema for all tiers; order is kept, and an empty service is none.
    #[test]
    fn co_20_an_accepted_answer_has_types() {
        let value = answer(&json!({ "needed": true, "reason": "down", "failed_checks": ["http"] }));
        assert_eq!(violations("1.0.0", &value), [""; 0]);
        let expected = AgentResponse {
            summary: "jellyfin is down".to_owned(),
            events: vec![
                Event::of_session(Level::Critical, Some("jellyfin"), "502"),
                Event::of_session(Level::Info, None, "caddy is fine"),
            ],
            memories: Vec::new(),
            escalation: Escalation::Needed(EscalationRequest {
                reason: Some("down".to_owned()),
                context: None,
                failed_checks: vec!["http".to_owned()],
            }),
            services_checked: vec![
                ServiceCheck {
                    name: "jellyfin".to_owned(),
                    status: ServiceStatus::Down,
                    detail: Some("502".to_owned()),
                },
                ServiceCheck {
                    name: "caddy".to_owned(),
                    status: ServiceStatus::Healthy,
                    detail: None,
                },
            ],
        };
        assert_eq!(read(&value), Ok(expected));
    }

    /// CO-20: absent memories are none.
    #[test]
    fn co_20_memories_may_be_absent_or_empty() {
        let mut value = answer(&json!({ "needed": false }));
        let without = read(&value).unwrap();
        value["memories"] = json!([]);
        assert_eq!(read(&value).unwrap(), without);
        assert_eq!(violations("1.0.0", &value), [""; 0]);
    }

    /// The original validated nothing: required fields could be missing after it was read.
    #[test_case("summary")]
    #[test_case("events")]
    #[test_case("escalation")]
    #[test_case("services_checked")]
    fn co_20_what_is_required_is_required(name: &str) {
        let mut value = answer(&json!({ "needed": false }));
        value.as_object_mut().unwrap().remove(name);
        for schema in RESPONSE_SCHEMAS {
            assert_eq!(violations(schema.version, &value).len(), 1);
        }
        assert_eq!(read(&value).unwrap_err().pointer, format!("/{name}"));
    }

    /// CO-80: the contract says it, which the original's schema did not.
    #[test_case(&json!({ "needed": true }) => false; "no reason")]
    #[test_case(&json!({ "needed": true, "reason": "" }) => false; "an empty reason")]
    #[test_case(&json!({ "needed": true, "reason": "down" }) => true; "a reason")]
    #[test_case(&json!({ "needed": false }) => true; "nothing to give a reason for")]
    fn co_80_an_escalation_needs_a_reason(escalation: &Value) -> bool {
        violations("1.0.0", &answer(escalation)).is_empty()
    }

    /// CO-28: the old version is still accepted, and read without a reason.
    #[test]
    fn co_28_every_accepted_version_compiles_and_is_read() {
        for schema in RESPONSE_SCHEMAS {
            let version = contract(schema.version).version().map(ToString::to_string);
            assert_eq!(version.as_deref(), Some(schema.version));
            assert!(schema.text.contains("draft-07"));
        }
        assert_eq!(ResponseSchema::current().version, "1.0.0");
        assert_eq!(ResponseSchema::of_version("2.0.0"), None);
        let value = answer(&json!({ "needed": true }));
        assert_eq!(violations("0.1.0", &value), [""; 0]);
        let Escalation::Needed(request) = read(&value).unwrap().escalation else {
            panic!("an escalation was asked for");
        };
        assert_eq!(request.reason, None);
    }

    #[test_case(&json!([]), "/summary")]
    #[test_case(&json!({ "summary": 1 }), "/summary")]
    #[test_case(&json!({ "summary": "s", "events": {} }), "/events")]
    #[test_case(&json!({ "summary": "s", "events": [{ "level": "warnig", "message": "m" }] }), "/events/0/level")]
    #[test_case(&json!({ "summary": "s", "events": [], "escalation": { "needed": "yes" } }), "/escalation/needed")]
    fn what_was_not_judged_is_no_response(value: &Value, pointer: &str) {
        assert_eq!(read(value).unwrap_err().pointer, pointer);
    }
}
