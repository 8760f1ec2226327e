//! What people decide: anybody may, whoever leads.

use super::escalation::EscalationState;
use super::memory::MemoryUpdate;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::writer::{Transaction, Write};

const ANSWER: &str = "UPDATE escalations SET state = $2 WHERE id = $1 AND state = 'proposed'";

impl Ledger {
    /// Changes memories as somebody decided, all or none. The first must exist.
    pub async fn judge_memories(&self, updates: Vec<MemoryUpdate>) -> Result<(), StoreError> {
        let Some(first) = updates.first().map(|update| update.id.clone()) else { return Ok(()) };
        let absent = StoreError::NotFound { what: "memory", name: first };
        if updates.iter().any(|update| update.id.contains('\0')) {
            return Err(absent);
        }
        let is_found = self.write(0, Judge(updates)).await?;
        if is_found { Ok(()) } else { Err(absent) }
    }

    /// Gives leave to an escalation that waits for it, or does not.
    pub async fn answer_escalation(
        &self,
        id: &str,
        state: EscalationState,
    ) -> Result<(), StoreError> {
        let absent =
            StoreError::NotFound { what: "escalation that waits for leave", name: id.to_owned() };
        if id.contains('\0') {
            return Err(absent);
        }
        let is_found = self.write(0, Answer { id: id.to_owned(), state }).await?;
        if is_found { Ok(()) } else { Err(absent) }
    }
}

struct Judge(Vec<MemoryUpdate>);

impl Write for Judge {
    /// Whether the first memory exists.
    type Output = bool;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<bool, StoreError> {
        for (place, update) in self.0.iter().enumerate() {
            let is_there = update.write(to).await?;
            if place == 0 && !is_there {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

struct Answer {
    id: String,
    state: EscalationState,
}

impl Write for Answer {
    type Output = bool;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let done = sqlx::query(ANSWER)
            .bind(self.id.as_str())
            .bind(self.state.name())
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        Ok(done.rows_affected() > 0)
    }
}
