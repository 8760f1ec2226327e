//! The write that puts an action on record before it is done.

use super::action::NewAction;
use super::lead::{Lead, holds};
use super::text::Texts;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::names;
use crate::run::fresh;
use crate::writer::{Transaction, Write};

const KNOWN: &str = "SELECT seq FROM cooldown_actions WHERE id = $1";
const RESERVE: &str = "INSERT INTO cooldown_actions \
     (id, service, kind, state, tier, session, command, reserved_at) \
     SELECT $1, $2, $3, 'reserved', $4, $5, $6, $7 \
     WHERE COALESCE((SELECT MAX(seq) FROM cooldown_actions WHERE service = $2), 0) = $8";

/// What came of the wish to do something to a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// It is on record under this name, and may be done.
    Done(String),
    /// Something else was done to the service meanwhile: look again.
    Overtaken,
}

impl Ledger {
    /// Puts an action on record, if `last` is the number of the last one on its service (0 if there
    /// is none): what the caller decided by is then still true. Once this returns, it may be done.
    pub async fn reserve(
        &self,
        lead: Lead,
        action: NewAction,
        last: i64,
        at_ms: i64,
    ) -> Result<Reserved, StoreError> {
        let texts = Texts { redactor: &self.place.settings.redactor };
        names(&[("the kind of an action", &action.kind)])?;
        let action = NewAction {
            service: texts.name("the name of a service", &action.service)?,
            command: texts.maybe("command", action.command.as_deref())?,
            ..action
        };
        let reserve = Reserve { lead, id: fresh(), action, last, at_ms };
        self.write(0, reserve).await?.ok_or(StoreError::Fenced)
    }
}

struct Reserve {
    lead: Lead,
    id: String,
    action: NewAction,
    last: i64,
    at_ms: i64,
}

impl Write for Reserve {
    /// Nothing if another process leads.
    type Output = Option<Reserved>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Option<Reserved>, StoreError> {
        // Also keeps others from reserving meanwhile.
        if !holds(to, self.lead).await? {
            return Ok(None);
        }
        let fail = to.fail();
        let known = sqlx::query(KNOWN).bind(self.id.as_str());
        if known.fetch_optional(&mut *to.connection).await.map_err(&fail)?.is_some() {
            return Ok(Some(Reserved::Done(self.id.clone())));
        }
        let action = &self.action;
        let done = sqlx::query(RESERVE)
            .bind(self.id.as_str())
            .bind(action.service.as_str())
            .bind(action.kind.as_str())
            .bind(action.tier)
            .bind(action.session.clone())
            .bind(action.command.clone())
            .bind(self.at_ms)
            .bind(self.last)
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)?;
        let is_first = done.rows_affected() > 0;
        Ok(Some(if is_first { Reserved::Done(self.id.clone()) } else { Reserved::Overtaken }))
    }
}
