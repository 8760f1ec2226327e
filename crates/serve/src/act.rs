//! What a person or a program may change: each change once, whether a page or the API asks for it.
//!
//! The rule it protects: only the contract that a run had decides whether a value is accepted, and what
//! is refused is refused before anything is written.

mod escalation;
mod memory;
mod review;
mod watch;

use airtight_store::StoreError;
use axum::http::StatusCode;
use serde_json::json;

use crate::desk::{Unfit, Violation};
use crate::problem::Problem;

pub(crate) use escalation::{Leave, answer_escalation};
pub(crate) use memory::{MemoryChanges, MemoryDraft, add_memory, delete_memory, edit_memory};
pub(crate) use review::{Decided, Wanted, decide, judge};
pub(crate) use watch::{REQUEST_LIMIT, look_into, look_now, stop_chain};

/// Why something was not changed.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Refusal {
    /// What was asked makes no sense.
    #[error("{message}")]
    Request {
        /// The member of the request that is to blame.
        parameter: &'static str,
        message: String,
    },
    /// There is no such thing.
    #[error("there is no {what} `{name}` here")]
    Absent { what: &'static str, name: String },
    /// It is not in the state that this needs; the code says which.
    #[error("{message}")]
    Conflict { code: &'static str, message: String },
    /// The value breaks the contract.
    #[error("the value does not satisfy the contract of the run")]
    Unfit(Vec<Violation>),
    /// Nobody would do it.
    #[error("nobody leads a watch on this ledger: start `airtight watch` first")]
    Unwatched,
    /// The ledger cannot be used.
    #[error("nothing was changed: {0}")]
    Ledger(StoreError),
    /// A mistake of ours.
    #[error("airtight made a mistake; nothing was changed")]
    Mistake,
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        if let StoreError::NotFound { what, name } = error {
            return Self::Absent { what, name };
        }
        if let StoreError::TooLarge { what, .. } | StoreError::Nul { what } = error {
            return Self::Request { parameter: what, message };
        }
        let states = [
            ("ambiguous", matches!(error, StoreError::Ambiguous { .. })),
            ("not_over", matches!(error, StoreError::NotOver { .. })),
            ("not_kept", matches!(error, StoreError::Unkept { .. })),
        ];
        match states.into_iter().find(|(_, is_so)| *is_so) {
            Some((code, _)) => Self::Conflict { code, message },
            None => Self::Ledger(error),
        }
    }
}

impl From<Unfit> for Refusal {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::Violations(violations) => Self::Unfit(violations),
            Unfit::Contract => Self::Conflict {
                code: "contract_unreadable",
                message: "the contract of the run cannot be read any more".to_owned(),
            },
            Unfit::Mistake => Self::Mistake,
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        match refusal {
            Refusal::Request { parameter, .. } => Self::request(message).at(parameter),
            Refusal::Absent { .. } => Self::new(StatusCode::NOT_FOUND, "not_found", message),
            Refusal::Conflict { code, .. } => Self::new(StatusCode::CONFLICT, code, message),
            Refusal::Unfit(violations) => {
                let problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "not_met", message);
                problem.with("violations", json!(violations))
            }
            Refusal::Ledger(error) => {
                tracing::warn!(%error, "the ledger refuses");
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "ledger", message)
            }
            Refusal::Unwatched => Self::new(StatusCode::CONFLICT, "no_watch", message),
            Refusal::Mistake => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "mistake", message),
        }
    }
}
