//! The write that puts actions on record before they are done.

use super::action::NewAction;
use super::lead::{Lead, holds};
use super::text::Texts;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows::Columns;
use crate::run::fresh;
use crate::writer::{Transaction, Write};

const KNOWN: &str = "SELECT seq FROM cooldown_actions WHERE id = $1";
const LAST: &str = "SELECT COALESCE(MAX(seq), 0) FROM cooldown_actions";
const RESERVE: &str = "INSERT INTO cooldown_actions \
     (id, service, kind, state, tier, session, command, reserved_at) \
     VALUES ($1, $2, $3, 'reserved', $4, $5, $6, $7)";

/// What came of the wish to act on services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// The actions are on record under these names, in their order, and may be done.
    Done(Vec<String>),
    /// Something else was done meanwhile: look again.
    Overtaken,
}

impl Ledger {
    /// Puts actions on record, all or none, if `last` is the number of the last one there is (0 if
    /// there is none): what the caller decided by is then still true. Once this returns, they may be
    /// done.
    pub async fn reserve(
        &self,
        lead: Lead,
        mut actions: Vec<NewAction>,
        last: i64,
        at_ms: i64,
    ) -> Result<Reserved, StoreError> {
        let texts = Texts { redactor: &self.place.settings.redactor };
        actions.iter_mut().try_for_each(|action| action.fit(texts))?;
        let ids = actions.iter().map(|_| fresh()).collect();
        let reserve = Reserve { lead, ids, actions, last, at_ms };
        self.write(0, reserve).await?.ok_or(StoreError::Fenced)
    }
}

struct Reserve {
    lead: Lead,
    ids: Vec<String>,
    actions: Vec<NewAction>,
    last: i64,
    at_ms: i64,
}

impl Reserve {
    /// Claims that it is on record already: written before a connection broke.
    async fn is_known(&self, to: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let Some(first) = self.ids.first() else { return Ok(true) };
        let known = sqlx::query(KNOWN).bind(first.as_str());
        let row = known.fetch_optional(&mut *to.connection).await.map_err(to.fail())?;
        Ok(row.is_some())
    }
}

impl Write for Reserve {
    /// Nothing if another process leads.
    type Output = Option<Reserved>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Option<Reserved>, StoreError> {
        // Also keeps others from reserving meanwhile.
        if !holds(to, self.lead).await? {
            return Ok(None);
        }
        if self.is_known(to).await? {
            return Ok(Some(Reserved::Done(self.ids.clone())));
        }
        let fail = to.fail();
        let row = sqlx::query(LAST).fetch_one(&mut *to.connection).await.map_err(&fail)?;
        if Columns::of(&row).take::<i64>()? != self.last {
            return Ok(Some(Reserved::Overtaken));
        }
        for (id, action) in self.ids.iter().zip(&self.actions) {
            sqlx::query(RESERVE)
                .bind(id.as_str())
                .bind(action.service.as_str())
                .bind(action.kind.as_str())
                .bind(action.tier)
                .bind(action.session.clone())
                .bind(action.command.clone())
                .bind(self.at_ms)
                .execute(&mut *to.connection)
                .await
                .map_err(&fail)?;
        }
        Ok(Some(Reserved::Done(self.ids.clone())))
    }
}
