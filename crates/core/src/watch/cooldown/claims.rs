//! What a session says that it did, beside what is on record.
//!
//! A claim closes the reservation that it is about. A claim about nothing on record was done past the
//! guard: it is put on record, and counts.

use serde::{Deserialize, Serialize};

use super::{ActionRecord, ActionState, CooldownAction};

/// What a session says that it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CooldownClaim {
    /// What it did.
    pub action: CooldownAction,
    /// To which service.
    pub service: String,
    /// What came of it.
    pub result: ClaimedResult,
    /// In its words.
    pub message: String,
}

/// What a session says came of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedResult {
    /// It worked.
    Success,
    /// It did not.
    Failure,
}

/// What is to be changed on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CooldownChange {
    /// An action that is on record came to this.
    Close {
        /// Which.
        id: String,
        /// What it came to.
        state: ActionState,
        /// Why it failed.
        error: Option<String>,
    },
    /// An action that nobody reserved.
    Insert {
        /// The service.
        service: String,
        /// What was done.
        action: CooldownAction,
        /// When the session said so.
        at_ms: i64,
        /// What it came to.
        state: ActionState,
        /// Why it failed.
        error: Option<String>,
    },
}

/// Returns what the `claims` of a session change in `records`, those of the same session.
///
/// Each record answers to one claim; a reservation that nobody speaks of at the end is `unknown`.
pub fn settle_claims(
    records: &[ActionRecord],
    claims: &[CooldownClaim],
    now_ms: i64,
) -> Vec<CooldownChange> {
    let mut left: Vec<&ActionRecord> = records.iter().collect();
    let mut changes = Vec::new();
    for claim in claims {
        let state = match claim.result {
            ClaimedResult::Success => ActionState::Success,
            ClaimedResult::Failure => ActionState::Failure,
        };
        let error = (state == ActionState::Failure).then(|| claim.message.clone());
        let is_about = |record: &&ActionRecord| {
            record.service == claim.service && record.action.counter() == claim.action.counter()
        };
        match left.iter().position(is_about).map(|position| left.remove(position)) {
            Some(record) => {
                // One restart may be a stop and a start.
                if record.action == CooldownAction::Stop {
                    let start = left.iter().position(|it| {
                        it.service == record.service && it.action == CooldownAction::Start
                    });
                    let start = start.map(|position| left.remove(position));
                    changes.extend(start.map(|it| close(it, state, error.clone())));
                }
                changes.push(close(record, state, error));
            }
            None => changes.push(CooldownChange::Insert {
                service: claim.service.clone(),
                action: claim.action,
                at_ms: now_ms,
                state,
                error,
            }),
        }
    }
    let open = left.into_iter().filter(|record| record.state == ActionState::Reserved);
    changes.extend(open.map(|record| close(record, ActionState::Unknown, None)));
    changes
}

fn close(record: &ActionRecord, state: ActionState, error: Option<String>) -> CooldownChange {
    CooldownChange::Close { id: record.id.clone(), state, error }
}
