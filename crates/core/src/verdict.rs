//! Verdicts: what the original contract says of one candidate.

mod branch;
mod check;
mod coerce;
mod context;
mod edit;
mod exact;
mod explain;
mod findings;
mod message;
mod stack;
#[cfg(test)]
mod suite;
pub(crate) mod toll;
pub(crate) mod validator;
mod violation;

use serde::Serialize;

use crate::json::Document;

pub(crate) use check::{BASE_WORK, weigh};
pub use check::{check, check_against};
pub use coerce::coerce;
pub(crate) use context::consult;
pub use context::{Check, Objection};
pub use edit::{Edit, EditKind, Edits, LISTED_PER_KIND};
pub use violation::{Violation, Violations};

/// What became of a text or value.
#[derive(Debug)]
pub enum Verdict {
    /// Exactly one conforming value was found.
    Accepted(Accepted),
    /// Nothing was, or too much.
    Rejected(Rejected),
}

/// A value that the original contract accepts.
#[derive(Debug)]
pub struct Accepted {
    /// The exact value that was validated.
    pub value: Document,
    /// Every change between what was said and `value`; empty if none.
    pub edits: Edits,
}

/// A text in which no value can be accepted.
#[derive(Debug)]
pub struct Rejected {
    /// Why.
    pub reason: Rejection,
    /// What is wrong with the best candidate, if there is one.
    pub violations: Violations,
}

/// Why no value can be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Rejection {
    /// There is no JSON in the text.
    NoJson,
    /// The text ends inside a value.
    Truncated {
        /// Byte offset of the end.
        offset: usize,
    },
    /// A candidate was found, but it breaks the contract.
    Invalid,
    /// Several different candidates conform.
    Ambiguous {
        /// Byte offsets where they start.
        offsets: Vec<usize>,
    },
    /// The only candidate is the contract's own schema.
    SchemaEcho,
    /// The text or a value is over a limit, or judging it would take too long.
    OverLimit {
        /// Which limit.
        limit: &'static str,
    },
}
