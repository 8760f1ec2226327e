//! What people answer to escalations that wait for leave.

use airtight_store::{Escalation, EscalationState, Ledger, StoreError};

use super::Refusal;

/// What somebody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// The next tier may take over.
    Given,
    /// It may not.
    Declined,
}

/// Answers an escalation, and returns it as it is now.
pub(crate) async fn answer_escalation(
    ledger: &Ledger,
    id: &str,
    leave: Leave,
) -> Result<Escalation, Refusal> {
    let state = match leave {
        Leave::Given => EscalationState::Approved,
        Leave::Declined => EscalationState::Declined,
    };
    let found = ledger.escalation(id).await?;
    match ledger.answer_escalation(&found.id, state).await {
        Ok(()) => Ok(Escalation { state, ..found }),
        // It is there, so somebody has answered it.
        Err(StoreError::NotFound { .. }) => Err(Refusal::Conflict {
            code: "answered",
            message: format!("escalation `{}` does not wait for leave any more", found.id),
        }),
        Err(error) => Err(error.into()),
    }
}
