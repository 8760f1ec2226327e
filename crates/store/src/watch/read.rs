//! What the watch is asked: pages by number, whose cost does not depend on how far they are.

use airtight_core::watch::{ActionState, Trust};

use super::action::{self, Action, ActionFilter};
use super::chain::{self, Chain};
use super::escalation::{self, Escalation, EscalationFilter, EscalationState};
use super::event::{self, EventFilter, WatchEvent};
use super::memory::{self, Memory, MemoryFilter};
use super::notification::{self, Notification, NotificationState};
use super::service::{self, Check};
use super::session::{self, Session, SessionFilter, SessionTexts};
use super::wish::{self, Wish};
use crate::error::StoreError;
use crate::filter::Page;
use crate::ledger::Ledger;
use crate::read::Conditions;
use crate::rows::Columns;

const TEXTS: &str = "SELECT prompt, context, response FROM session_texts WHERE session = $1";
const MARK: &str = "SELECT value FROM watch_marks WHERE name = $1";

/// Where something is, and how a row of it is read.
struct Table<T> {
    columns: &'static str,
    name: &'static str,
    read: fn(&mut Columns<'_>) -> Result<T, StoreError>,
}

impl Ledger {
    /// Returns a page of the chains.
    pub async fn chains(&self, page: Page) -> Result<Vec<Chain>, StoreError> {
        self.listed(CHAINS, Conditions::default(), page).await
    }

    /// Returns the chain that goes on, if one does.
    pub async fn open_chain(&self) -> Result<Option<Chain>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.constant("state = 'open'");
        let found = self.listed(CHAINS, conditions, Page { limit: 1, ..Page::default() }).await?;
        Ok(found.into_iter().next())
    }

    /// Returns a page of the sessions that `filter` means.
    pub async fn sessions(
        &self,
        filter: &SessionFilter,
        page: Page,
    ) -> Result<Vec<Session>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("chain =", filter.chain.as_deref());
        match filter.status.as_deref() {
            // A word, not a value: so the partial index fits.
            Some("running") => conditions.constant("status = 'running'"),
            status => conditions.text("status =", status),
        }
        conditions.number("tier =", filter.tier);
        self.listed(SESSIONS, conditions, page).await
    }

    /// Returns a session by its name, with its texts.
    pub async fn session(&self, id: &str) -> Result<(Session, SessionTexts), StoreError> {
        let absent = || StoreError::NotFound { what: "session", name: id.to_owned() };
        let session = self.named(SESSIONS, id).await?.ok_or_else(absent)?;
        let mut reader = self.reader().await?;
        let row = sqlx::query(TEXTS)
            .bind(session.id.as_str())
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let texts = row.map(|row| session::read_texts(&mut Columns::of(&row))).transpose()?;
        Ok((session, texts.unwrap_or_default()))
    }

    /// Returns a page of the events of the estate that `filter` means.
    pub async fn watch_events(
        &self,
        filter: &EventFilter,
        page: Page,
    ) -> Result<Vec<WatchEvent>, StoreError> {
        let mut conditions = Conditions::default();
        match filter.level.as_deref() {
            Some("critical") => conditions.constant("level = 'critical'"),
            level => conditions.text("level =", level),
        }
        conditions.text("service =", filter.service.as_deref());
        conditions.text("session =", filter.session.as_deref());
        conditions.number("told_at >=", filter.since);
        self.listed(EVENTS, conditions, page).await
    }

    /// Returns a page of the memories that `filter` means.
    pub async fn memories(
        &self,
        filter: &MemoryFilter,
        page: Page,
    ) -> Result<Vec<Memory>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("service =", filter.service.as_deref());
        conditions.text("category =", filter.category.as_deref());
        conditions.text("trust =", filter.trust.map(Trust::name));
        conditions.number("confidence >=", filter.least);
        self.listed(MEMORIES, conditions, page).await
    }

    /// Returns a page of the escalations that `filter` means.
    pub async fn escalations(
        &self,
        filter: &EscalationFilter,
        page: Page,
    ) -> Result<Vec<Escalation>, StoreError> {
        let mut conditions = Conditions::default();
        if filter.state.is_some_and(|state| state != EscalationState::Acted) {
            conditions.constant("state <> 'acted'");
        }
        conditions.text("state =", filter.state.map(EscalationState::name));
        conditions.number("told_at >=", filter.since);
        self.listed(ESCALATIONS, conditions, page).await
    }

    /// Returns an escalation by its name.
    pub async fn escalation(&self, id: &str) -> Result<Escalation, StoreError> {
        let absent = || StoreError::NotFound { what: "escalation", name: id.to_owned() };
        self.named(ESCALATIONS, id).await?.ok_or_else(absent)
    }

    /// Returns a page of the wishes that wait.
    pub async fn waiting_wishes(&self, page: Page) -> Result<Vec<Wish>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.constant("chain IS NULL");
        self.listed(WISHES, conditions, page).await
    }

    /// Returns a wish by its name, unless it was taken back.
    pub async fn wish_named(&self, id: &str) -> Result<Option<Wish>, StoreError> {
        let found = self.named(WISHES, id).await?;
        Ok(found.filter(|it| it.chain.as_deref() != Some(wish::TAKEN_BACK)))
    }

    /// Returns a chain by its name.
    pub async fn chain(&self, id: &str) -> Result<Chain, StoreError> {
        let absent = || StoreError::NotFound { what: "chain", name: id.to_owned() };
        self.named(CHAINS, id).await?.ok_or_else(absent)
    }

    /// Returns a page of the checks, of one service or of all.
    pub async fn service_checks(
        &self,
        service: Option<&str>,
        page: Page,
    ) -> Result<Vec<Check>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("service =", service);
        self.listed(CHECKS, conditions, page).await
    }

    /// Returns a page of the actions that `filter` means.
    pub async fn actions(
        &self,
        filter: &ActionFilter,
        page: Page,
    ) -> Result<Vec<Action>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("service =", filter.service.as_deref());
        conditions.text("session =", filter.session.as_deref());
        match filter.state {
            Some(ActionState::Reserved) => conditions.constant("state = 'reserved'"),
            state => conditions.text("state =", state.map(ActionState::name)),
        }
        conditions.number("reserved_at >=", filter.since);
        self.listed(ACTIONS, conditions, page).await
    }

    /// Returns a page of the notifications, of one state or of all.
    pub async fn notifications(
        &self,
        state: Option<NotificationState>,
        page: Page,
    ) -> Result<Vec<Notification>, StoreError> {
        let mut conditions = Conditions::default();
        match state {
            Some(NotificationState::Queued) => conditions.constant("state = 'queued'"),
            state => conditions.text("state =", state.map(NotificationState::name)),
        }
        self.listed(NOTIFICATIONS, conditions, page).await
    }

    /// Returns what the watch remembers of itself under `name`.
    pub async fn mark(&self, name: &str) -> Result<Option<String>, StoreError> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(MARK)
            .bind(name)
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        row.map(|row| Columns::of(&row).take()).transpose()
    }

    async fn named<T>(&self, table: Table<T>, id: &str) -> Result<Option<T>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("id =", Some(id));
        let found = self.listed(table, conditions, Page { limit: 1, ..Page::default() }).await?;
        Ok(found.into_iter().next())
    }

    async fn listed<T>(
        &self,
        table: Table<T>,
        mut conditions: Conditions,
        page: Page,
    ) -> Result<Vec<T>, StoreError> {
        let order = conditions.page(page);
        let clause = conditions.clause();
        let sql = format!("SELECT {} FROM {} {clause} {order}", table.columns, table.name);
        let mut reader = self.reader().await?;
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        rows.iter().map(|row| (table.read)(&mut Columns::of(row))).collect()
    }
}

const CHAINS: Table<Chain> = Table { columns: chain::COLUMNS, name: "chains", read: chain::read };
const SESSIONS: Table<Session> =
    Table { columns: session::COLUMNS, name: "sessions", read: session::read };
const EVENTS: Table<WatchEvent> =
    Table { columns: event::COLUMNS, name: "watch_events", read: event::read };
const MEMORIES: Table<Memory> =
    Table { columns: memory::COLUMNS, name: "memories", read: memory::read };
const ESCALATIONS: Table<Escalation> =
    Table { columns: escalation::COLUMNS, name: "escalations", read: escalation::read };
const WISHES: Table<Wish> = Table { columns: wish::COLUMNS, name: "wishes", read: wish::read };
const CHECKS: Table<Check> =
    Table { columns: service::CHECK_COLUMNS, name: "service_checks", read: service::read_check };
const ACTIONS: Table<Action> =
    Table { columns: action::COLUMNS, name: "cooldown_actions", read: action::read };
const NOTIFICATIONS: Table<Notification> =
    Table { columns: notification::COLUMNS, name: "notifications", read: notification::read };
