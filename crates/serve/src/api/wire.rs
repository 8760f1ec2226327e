//! The shapes of the API: public, apart from those inside, and described by the `OpenAPI` document.
//!
//! They have the names and the spelling of what `airtight runs --json` prints.

mod contract;
mod run;
mod said;
mod watch;

use serde::Serialize;
use utoipa::ToSchema;

use crate::desk::Violation;

pub(super) use contract::{ContractDetail, ContractRow};
pub(super) use run::{EventRow, Reviewed, RunDetail, RunRow, State};
pub(super) use said::Json;
pub(super) use watch::{
    ActionRow, ChainDetail, ChainRow, CheckRow, EscalationRow, MemoryRow, NotificationRow,
    ServiceDetail, ServiceRow, SessionDetail, SessionRow, WatchEventRow, WishRow,
};

/// Why a request was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Failure {
    /// What went wrong.
    error: FailureDetail,
}

/// What went wrong.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FailureDetail {
    /// A stable word, for programs.
    code: String,
    /// What happened and what to do next, for people.
    message: String,
    /// What is wrong with a value, if a contract rejects it.
    #[serde(skip_serializing_if = "Option::is_none")]
    violations: Option<Vec<Violation>>,
}
