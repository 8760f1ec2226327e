//! The write of minutes. Every row has its name before it is sent, so that minutes that are written
//! twice, after a connection broke in the middle of a commit, count once.

use airtight_core::redact::Redactor;
use airtight_core::watch::Trust;

use super::action::DoneAction;
use super::lead::{Lead, holds};
use super::memory::MemoryUpdate;
use super::minutes::Minutes;
use super::text::Texts;
use super::wish;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::rows;
use crate::run::fresh;
use crate::write::Timely;
use crate::writer::{Transaction, Write};

const CHAIN: &str = "INSERT INTO chains (id, cause, state, machine, started_at, ended_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET \
     state = excluded.state, machine = excluded.machine, ended_at = excluded.ended_at";
const SESSION: &str = "INSERT INTO sessions (id, chain, parent, tier, cause, driver, model, status, \
     extraction, pending, log, started_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', 'none', 0, $8, $9) ON CONFLICT DO NOTHING";
const TEXTS: &str = "INSERT INTO session_texts (session, prompt, context) VALUES ($1, $2, $3) \
     ON CONFLICT DO NOTHING";
const SESSION_END: &str = "UPDATE sessions SET status = $2, extraction = $3, pending = $4, \
     turns = $5, cost_nano = $6, summary = $7, ended_at = $8 WHERE id = $1";
const RESPONSE: &str = "UPDATE session_texts SET response = $2 WHERE session = $1";
const EVENT: &str = "INSERT INTO watch_events (id, session, chain, origin, level, said_level, \
     service, message, told_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
const MEMORY: &str = "INSERT INTO memories (id, service, category, observation, confidence, \
     reinforced_at, trust, tier, session, created_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
const UPDATE_MEMORY: &str = "UPDATE memories SET \
     confidence = COALESCE($2, confidence), reinforced_at = COALESCE($3, reinforced_at), \
     trust = COALESCE($4, trust) WHERE id = $1";
const ESCALATION: &str = "INSERT INTO escalations (id, session, chain, tier, affected, context, \
     state, told_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
const ACTED: &str = "UPDATE escalations SET state = 'acted' WHERE id = $1";
const DECLINED: &str =
    "UPDATE escalations SET state = 'declined' WHERE id = $1 AND state <> 'acted'";
const SERVICE: &str = "INSERT INTO services (name, status, detail, healthy_streak, \
     unhealthy_streak, changed_at, checked_at, cleared_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO UPDATE SET \
     status = excluded.status, detail = excluded.detail, \
     healthy_streak = excluded.healthy_streak, unhealthy_streak = excluded.unhealthy_streak, \
     changed_at = excluded.changed_at, checked_at = excluded.checked_at, \
     cleared_at = excluded.cleared_at";
const CHECK: &str = "INSERT INTO service_checks (id, service, session, status, detail, checked_at) \
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
const ACTION_END: &str =
    "UPDATE cooldown_actions SET state = $2, error = $3, closed_at = $4 WHERE id = $1";
const DONE: &str = "INSERT INTO cooldown_actions (id, service, kind, state, tier, session, command, \
     error, reserved_at, closed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) \
     ON CONFLICT DO NOTHING";
const NOTIFICATION: &str = "INSERT INTO notifications (id, category, target, title, body, chain, \
     state, attempts, queued_at) VALUES ($1, $2, $3, $4, $5, $6, 'queued', 0, $7) \
     ON CONFLICT DO NOTHING";
const DELIVERY: &str = "UPDATE notifications SET state = $2, attempts = $3, error = $4, \
     told_at = $5 WHERE id = $1";
const MARK: &str = "INSERT INTO watch_marks (name, value, marked_at) VALUES ($1, $2, $3) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value, marked_at = excluded.marked_at";

impl Ledger {
    /// Writes minutes. Refused as [`StoreError::Fenced`], whole, if another process leads by now.
    pub async fn minute(&self, lead: Lead, minutes: Minutes) -> Result<(), StoreError> {
        let packed = PackedMinutes::new(self, lead, minutes)?;
        // In one lane, so that minutes follow each other.
        self.write(0, packed).await?.stored()
    }
}

impl Ledger {
    /// Returns what masks whatever is stored. Names that are compared with what is on record must be masked
    /// by it first.
    pub fn redactor(&self) -> &Redactor {
        &self.place.settings.redactor
    }

    /// Says whether minutes can be kept: whoever wrote what is in them may have gone past a limit.
    pub fn takes(&self, minutes: &Minutes) -> Result<(), StoreError> {
        minutes.clone().fit(Texts { redactor: &self.place.settings.redactor })
    }
}

/// Minutes as their columns hold them.
pub(crate) struct PackedMinutes {
    lead: Lead,
    minutes: Minutes,
    /// The names of what is new, in its order.
    events: Vec<String>,
    checks: Vec<String>,
    done: Vec<String>,
    escalations: Vec<String>,
    notifications: Vec<String>,
}

impl PackedMinutes {
    pub(crate) fn new(
        ledger: &Ledger,
        lead: Lead,
        mut minutes: Minutes,
    ) -> Result<Self, StoreError> {
        let texts = Texts { redactor: &ledger.place.settings.redactor };
        minutes.fit(texts)?;
        let named = |count: usize| (0..count).map(|_| fresh()).collect();
        Ok(Self {
            lead,
            events: named(minutes.events.len()),
            checks: named(minutes.checks.len()),
            done: named(minutes.done.len()),
            escalations: named(minutes.escalations.len()),
            notifications: named(minutes.notifications.len()),
            minutes,
        })
    }

    /// Says whether the lead still holds, and keeps it so until the commit.
    pub(crate) async fn holds(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        Ok(if holds(to, self.lead).await? { Timely::Stored } else { Timely::Late })
    }

    /// Writes everything; whether the lead holds is the caller's to ask.
    pub(crate) async fn write(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        self.write_chain(to).await?;
        self.write_sessions(to).await?;
        self.write_events(to).await?;
        self.write_memories(to).await?;
        self.write_escalations(to).await?;
        self.write_services(to).await?;
        self.write_actions(to).await?;
        self.write_notifications(to).await?;
        self.write_marks(to).await
    }

    async fn write_chain(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let Some(chain) = &self.minutes.chain else { return Ok(()) };
        let state = if chain.ended_at.is_some() { "done" } else { "open" };
        sqlx::query(CHAIN)
            .bind(chain.id.as_str())
            .bind(chain.cause.as_str())
            .bind(state)
            .bind(chain.machine.as_str())
            .bind(chain.started_at)
            .bind(chain.ended_at)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        match &self.minutes.granted {
            Some(wish) => wish::grant(to, wish, &chain.id).await,
            None => Ok(()),
        }
    }

    async fn write_sessions(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        if let Some(session) = &self.minutes.begun {
            let query = sqlx::query(SESSION)
                .bind(session.id.as_str())
                .bind(session.chain.as_str())
                .bind(session.parent.clone())
                .bind(session.tier)
                .bind(session.cause.as_str())
                .bind(session.driver.as_str())
                .bind(session.model.as_str())
                .bind(session.log.clone())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
            let query = sqlx::query(TEXTS)
                .bind(session.id.as_str())
                .bind(session.prompt.clone())
                .bind(session.context.clone());
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        for end in &self.minutes.ended {
            let query = sqlx::query(SESSION_END)
                .bind(end.id.as_str())
                .bind(end.status.as_str())
                .bind(end.extraction.as_str())
                .bind(i64::from(end.pending))
                .bind(end.turns)
                .bind(end.cost.map(rows::nano))
                .bind(end.summary.clone())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
            let query = sqlx::query(RESPONSE).bind(end.id.as_str()).bind(end.response.clone());
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        Ok(())
    }

    async fn write_events(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        for (id, event) in self.events.iter().zip(&self.minutes.events) {
            sqlx::query(EVENT)
                .bind(id.as_str())
                .bind(event.session.clone())
                .bind(event.chain.clone())
                .bind(event.origin.as_str())
                .bind(event.level.as_str())
                .bind(event.said_level.clone())
                .bind(event.service.clone())
                .bind(event.message.as_str())
                .bind(self.minutes.at_ms)
                .execute(&mut *to.connection)
                .await
                .map_err(to.fail())?;
        }
        Ok(())
    }

    async fn write_memories(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        for memory in &self.minutes.memories {
            sqlx::query(MEMORY)
                .bind(memory.id.as_str())
                .bind(memory.service.clone())
                .bind(memory.category.as_str())
                .bind(memory.observation.as_str())
                .bind(memory.confidence)
                .bind(memory.reinforced_at)
                .bind(memory.trust.name())
                .bind(memory.tier)
                .bind(memory.session.clone())
                .bind(memory.created_at)
                .execute(&mut *to.connection)
                .await
                .map_err(to.fail())?;
        }
        for update in &self.minutes.updates {
            update.write(to).await?;
        }
        Ok(())
    }

    async fn write_escalations(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        for (id, escalation) in self.escalations.iter().zip(&self.minutes.escalations) {
            let affected = serde_json::to_string(&escalation.affected).unwrap_or_default();
            let query = sqlx::query(ESCALATION)
                .bind(id.as_str())
                .bind(escalation.session.as_str())
                .bind(escalation.chain.as_str())
                .bind(escalation.tier)
                .bind(affected)
                .bind(escalation.context.clone())
                .bind(escalation.state.name())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        for id in &self.minutes.acted {
            let query = sqlx::query(ACTED).bind(id.as_str());
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        for id in &self.minutes.declined {
            let query = sqlx::query(DECLINED).bind(id.as_str());
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        Ok(())
    }

    async fn write_services(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        for service in &self.minutes.services {
            let query = sqlx::query(SERVICE)
                .bind(service.name.as_str())
                .bind(service.status.as_str())
                .bind(service.detail.clone())
                .bind(service.healthy_streak)
                .bind(service.unhealthy_streak)
                .bind(service.changed_at)
                .bind(service.checked_at)
                .bind(service.cleared_at);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        for (id, check) in self.checks.iter().zip(&self.minutes.checks) {
            let query = sqlx::query(CHECK)
                .bind(id.as_str())
                .bind(check.service.as_str())
                .bind(check.session.clone())
                .bind(check.status.as_str())
                .bind(check.detail.clone())
                .bind(check.checked_at);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        Ok(())
    }

    async fn write_notifications(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        for (id, notification) in self.notifications.iter().zip(&self.minutes.notifications) {
            let query = sqlx::query(NOTIFICATION)
                .bind(id.as_str())
                .bind(notification.category.as_str())
                .bind(notification.target.as_str())
                .bind(notification.title.as_str())
                .bind(notification.body.as_str())
                .bind(notification.chain.clone())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        for delivery in &self.minutes.deliveries {
            let query = sqlx::query(DELIVERY)
                .bind(delivery.id.as_str())
                .bind(delivery.state.name())
                .bind(delivery.attempts)
                .bind(delivery.error.clone())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        Ok(())
    }

    async fn write_actions(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        for end in &self.minutes.actions {
            let query = sqlx::query(ACTION_END)
                .bind(end.id.as_str())
                .bind(end.state.name())
                .bind(end.error.clone())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        for (id, DoneAction { action, state, error }) in self.done.iter().zip(&self.minutes.done) {
            let query = sqlx::query(DONE)
                .bind(id.as_str())
                .bind(action.service.as_str())
                .bind(action.kind.as_str())
                .bind(state.name())
                .bind(action.tier)
                .bind(action.session.clone())
                .bind(action.command.clone())
                .bind(error.clone())
                .bind(self.minutes.at_ms);
            query.execute(&mut *to.connection).await.map_err(&fail)?;
        }
        Ok(())
    }

    async fn write_marks(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        for (name, value) in &self.minutes.marks {
            sqlx::query(MARK)
                .bind(name.as_str())
                .bind(value.as_str())
                .bind(self.minutes.at_ms)
                .execute(&mut *to.connection)
                .await
                .map_err(to.fail())?;
        }
        Ok(())
    }
}

impl MemoryUpdate {
    /// Writes it, and says whether there is such a memory.
    pub(super) async fn write(&self, to: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let done = sqlx::query(UPDATE_MEMORY)
            .bind(self.id.as_str())
            .bind(self.confidence)
            .bind(self.reinforced_at)
            .bind(self.trust.map(Trust::name))
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        Ok(done.rows_affected() > 0)
    }
}

impl Write for PackedMinutes {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let timely = self.holds(to).await?;
        if timely == Timely::Stored {
            self.write(to).await?;
        }
        Ok(timely)
    }
}
