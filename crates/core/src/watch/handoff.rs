//! The handoff file of older prompts, version 1: how a tier asked for the next one.
//!
//! It is read only where there is no structured answer. Everything in it is checked, and the file is
//! deleted after any reading: one that is left from another chain must not be acted on.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::services::{ServiceCheck, ServiceStatus};
use super::tier::{NoTier, Tier};
use crate::json::{Document, Kind, Node, ParseError};

/// The most bytes of a handoff: twenty times what is put into a prompt.
pub const HANDOFF_LIMIT_BYTES: usize = 1024 * 1024;

/// The version that is read.
const VERSION: i64 = 1;

/// What a tier hands over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    /// Who should take over.
    pub recommended_tier: Tier,
    /// What it is about.
    pub services_affected: Vec<String>,
    /// What was checked.
    pub check_results: Vec<CheckResult>,
    /// What was found out.
    pub investigation_findings: Option<String>,
    /// What was tried.
    pub remediation_attempted: Option<String>,
    /// What must be left alone, as it is written.
    pub cooldown_state: Option<String>,
}

/// One check of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The service, how it is, and the error.
    pub check: ServiceCheck,
    /// What kind of check it was.
    pub check_type: Option<String>,
    /// How long it took.
    pub response_time_ms: Option<String>,
}

/// Why a handoff is not acted on.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum HandoffError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It is too long.
    #[error("it has {bytes} bytes, over the limit of {HANDOFF_LIMIT_BYTES}")]
    TooLarge {
        /// How long it is.
        bytes: usize,
    },
    /// It is not JSON.
    #[error("it is not JSON: {kind} at line {line}, column {column}")]
    NotJson {
        /// What is wrong.
        kind: String,
        /// Where.
        line: usize,
        /// Where in the line.
        column: usize,
    },
    /// Something in it is missing or of another kind.
    #[error("`{pointer}` is not {wanted}")]
    Malformed {
        /// Where.
        pointer: String,
        /// What should be there.
        wanted: String,
    },
    /// It says a member twice.
    #[error("`{0}` is there twice")]
    Ambiguous(String),
    /// It is of another version.
    #[error("its schema_version is {0}, and only 1 is read")]
    Version(String),
    /// It recommends no higher tier.
    #[error("it recommends tier {recommended} to tier {from}")]
    NotHigher {
        /// Whose handoff it is.
        from: u8,
        /// What it recommends.
        recommended: i64,
    },
    /// It is about no service.
    #[error("services_affected is empty")]
    NoServices,
    /// Tier 3 must be told what was found and tried.
    #[error("tier 3 needs {0}")]
    Incomplete(String),
    /// It was there before the session began.
    #[error("it was written before the session began")]
    Stale,
}

impl Handoff {
    /// Reads the handoff of a session of tier `from`.
    pub fn read(bytes: &[u8], from: Tier) -> Result<Self, HandoffError> {
        if bytes.len() > HANDOFF_LIMIT_BYTES {
            return Err(HandoffError::TooLarge { bytes: bytes.len() });
        }
        let document = Document::parse_bytes(bytes, &crate::json::Limits::default())
            .map_err(|error| HandoffError::not_json(&error))?;
        if let Some(duplicate) = document.duplicates(1).first() {
            return Err(HandoffError::Ambiguous(duplicate.pointer.as_str().to_owned()));
        }
        let root = document.root();
        if root.kind() != Kind::Object {
            return Err(malformed("", "an object"));
        }
        match root.member("schema_version").and_then(integer) {
            Some(VERSION) => {}
            Some(other) => return Err(HandoffError::Version(other.to_string())),
            None => return Err(malformed("/schema_version", "an integer")),
        }
        let recommended_tier = recommended(root, from)?;
        let handoff = Self {
            recommended_tier,
            services_affected: services(root)?,
            check_results: check_results(root)?,
            investigation_findings: text(root, "investigation_findings")?,
            remediation_attempted: text(root, "remediation_attempted")?,
            cooldown_state: cooldown_state(root)?,
        };
        handoff.complete(from)
    }

    fn complete(self, from: Tier) -> Result<Self, HandoffError> {
        let needs = [
            ("investigation_findings", &self.investigation_findings),
            ("remediation_attempted", &self.remediation_attempted),
        ];
        let missing = needs.into_iter().find(|(_, text)| text.is_none());
        match missing {
            Some((name, _)) if from == Tier::Investigate => {
                Err(HandoffError::Incomplete(name.to_owned()))
            }
            Some(_) | None => Ok(self),
        }
    }
}

impl HandoffError {
    fn not_json(error: &ParseError) -> Self {
        Self::NotJson { kind: error.kind.to_string(), line: error.line, column: error.column }
    }
}

fn malformed(pointer: &str, wanted: &str) -> HandoffError {
    HandoffError::Malformed { pointer: pointer.to_owned(), wanted: wanted.to_owned() }
}

fn integer(node: Node<'_>) -> Option<i64> {
    node.as_number()?;
    node.raw().parse().ok()
}

/// Returns the tier above `from`, if the handoff recommends it or one further up.
fn recommended(root: Node<'_>, from: Tier) -> Result<Tier, HandoffError> {
    let wanted = || malformed("/recommended_tier", "2 or 3");
    let number = root.member("recommended_tier").and_then(integer).ok_or_else(wanted)?;
    let tier = Tier::try_from(number).map_err(|NoTier(_)| wanted())?;
    if tier == Tier::Observe {
        return Err(wanted());
    }
    if tier <= from {
        return Err(HandoffError::NotHigher { from: from.number(), recommended: number });
    }
    Ok(tier)
}

fn services(root: Node<'_>) -> Result<Vec<String>, HandoffError> {
    let pointer = "/services_affected";
    let list = root.member("services_affected").filter(|node| node.kind() == Kind::Array);
    let list = list.ok_or_else(|| malformed(pointer, "an array of names"))?;
    let name = |(position, node): (usize, Node<'_>)| {
        let name = node.as_str().map(str::trim).filter(|name| !name.is_empty());
        name.map(str::to_owned)
            .ok_or_else(|| malformed(&format!("{pointer}/{position}"), "the name of a service"))
    };
    let names: Vec<String> = list.items().enumerate().map(name).collect::<Result<_, _>>()?;
    if names.is_empty() { Err(HandoffError::NoServices) } else { Ok(names) }
}

/// Returns a member that need not be there; a text without content is none.
fn optional<'d>(node: Node<'d>, name: &str) -> Option<Node<'d>> {
    node.member(name).filter(|node| !node.is_null())
}

fn text(node: Node<'_>, name: &str) -> Result<Option<String>, HandoffError> {
    let Some(member) = optional(node, name) else {
        return Ok(None);
    };
    let text = match member.kind() {
        Kind::String => member.as_str().unwrap_or_default().to_owned(),
        // Lists of sentences are as good as one text.
        Kind::Array if member.items().all(|item| item.kind() == Kind::String) => {
            member.items().filter_map(Node::as_str).collect::<Vec<_>>().join("\n")
        }
        Kind::Array | Kind::Object | Kind::Number | Kind::Boolean | Kind::Null => {
            return Err(malformed(&format!("/{name}"), "a text"));
        }
    };
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

fn check_results(root: Node<'_>) -> Result<Vec<CheckResult>, HandoffError> {
    let Some(list) = optional(root, "check_results") else {
        return Ok(Vec::new());
    };
    if list.kind() != Kind::Array {
        return Err(malformed("/check_results", "an array"));
    }
    let place = |position: usize, name: &str| format!("/check_results/{position}/{name}");
    let check = |(position, node): (usize, Node<'_>)| {
        let member = |name: &str| optional(node, name).and_then(Node::as_str).map(str::trim);
        let name = member("service").filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| malformed(&place(position, "service"), "a name"))?;
        let status = member("status").and_then(ServiceStatus::named);
        let status = status.ok_or_else(|| {
            let names = ServiceStatus::ALL.map(ServiceStatus::name).join(", ");
            malformed(&place(position, "status"), &format!("one of {names}"))
        })?;
        let detail = member("error").filter(|text| !text.is_empty()).map(str::to_owned);
        let time = optional(node, "response_time_ms");
        if time.is_some_and(|time| time.as_number().is_none()) {
            return Err(malformed(&place(position, "response_time_ms"), "a number"));
        }
        Ok(CheckResult {
            check: ServiceCheck { name: name.to_owned(), status, detail },
            check_type: member("check_type").map(str::to_owned),
            response_time_ms: time.map(|time| time.raw().to_owned()),
        })
    };
    list.items().enumerate().map(check).collect()
}

/// Returns the state of cooldowns as it is written.
fn cooldown_state(root: Node<'_>) -> Result<Option<String>, HandoffError> {
    let Some(state) = optional(root, "cooldown_state") else {
        return Ok(None);
    };
    match state.kind() {
        Kind::Object | Kind::Array if state.is_empty() => Ok(None),
        Kind::Object | Kind::Array => {
            let mut text = String::new();
            state.write_compact(&mut text);
            Ok(Some(text))
        }
        Kind::String => text(root, "cooldown_state"),
        Kind::Null | Kind::Boolean | Kind::Number => {
            Err(malformed("/cooldown_state", "an object, an array or a text"))
        }
    }
}
