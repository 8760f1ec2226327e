//! Actions on services: on record before they are done, so that a crash in between never grants
//! one more.

use airtight_core::watch::ActionState;
use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// An action that is about to be done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewAction {
    /// The service.
    pub service: String,
    /// What is done to it: the word of core's action.
    pub kind: String,
    /// The tier that does it.
    pub tier: i64,
    /// The session that does it.
    pub session: Option<String>,
    /// The command.
    pub command: Option<String>,
}

/// The end of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionEnd {
    /// Its name.
    pub id: String,
    /// What came of it.
    pub state: ActionState,
    /// Why it failed.
    pub error: Option<String>,
}

/// An action that was done without having been on record before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoneAction {
    /// What was done.
    pub action: NewAction,
    /// What came of it.
    pub state: ActionState,
    /// Why it failed.
    pub error: Option<String>,
}

/// One action on a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Its number: actions are ordered by it.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// The service.
    pub service: String,
    /// What was done to it.
    pub kind: String,
    /// What came of it.
    pub state: ActionState,
    /// The tier that did it.
    pub tier: i64,
    /// The session that did it.
    pub session: Option<String>,
    /// The command.
    pub command: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// When it was put on record, in Unix milliseconds: before it was done.
    pub reserved_at: i64,
    /// When its end was known.
    pub closed_at: Option<i64>,
}

/// Which actions are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionFilter {
    /// One service.
    pub service: Option<String>,
    /// One session.
    pub session: Option<String>,
    /// One state.
    pub state: Option<ActionState>,
    /// On record at this time or later, in Unix milliseconds.
    pub since: Option<i64>,
}

pub(super) const COLUMNS: &str = "seq, id, service, kind, state, tier, session, command, error, \
     reserved_at, closed_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Action, StoreError> {
    Ok(Action {
        number: columns.take()?,
        id: columns.take()?,
        service: columns.take()?,
        kind: columns.take()?,
        state: state(&columns.take::<String>()?),
        tier: columns.take()?,
        session: columns.take()?,
        command: columns.take()?,
        error: columns.take()?,
        reserved_at: columns.take()?,
        closed_at: columns.take()?,
    })
}

/// Returns the state of this word; what a newer version means by its word counts, too.
fn state(word: &str) -> ActionState {
    ActionState::named(word).unwrap_or(ActionState::Unknown)
}
