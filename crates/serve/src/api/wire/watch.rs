//! What a watch has on record. Times are Unix milliseconds.

use airtight_core::price::Cost;
use airtight_store::{
    Action, Chain, Check, Escalation, Memory, Notification, Service, Session, SessionTexts,
    WatchEvent, Wish,
};
use serde::Serialize;
use utoipa::ToSchema;

/// An event of the estate.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WatchEventRow {
    /// Its number: pages go on after it, and the stream has it as `id`.
    number: i64,
    session: Option<String>,
    chain: Option<String>,
    /// Who says so: `structured`, `markers` or `watch`.
    origin: String,
    /// `info`, `warning` or `critical`.
    level: String,
    /// The level as it was said, if that was another word.
    said_level: Option<String>,
    service: Option<String>,
    message: String,
    at: i64,
}

impl From<WatchEvent> for WatchEventRow {
    fn from(event: WatchEvent) -> Self {
        Self {
            number: event.number,
            session: event.session,
            chain: event.chain,
            origin: event.origin,
            level: event.level,
            said_level: event.said_level,
            service: event.service,
            message: event.message,
            at: event.at,
        }
    }
}

/// What sessions or people wrote down for later sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemoryRow {
    number: i64,
    id: String,
    /// The service that it is about; absent if it is general.
    service: Option<String>,
    category: String,
    observation: String,
    /// When it was last confirmed: from 0 to 1.
    confidence: f64,
    /// What it is worth by now: from 0 to 1.
    confidence_now: f64,
    /// Whether it is worth enough to count.
    active: bool,
    reinforced_at: i64,
    /// `trusted`, `pending` or `rejected`.
    trust: &'static str,
    /// The tier that learnt it; absent if a person wrote it.
    tier: Option<i64>,
    session: Option<String>,
    created_at: i64,
}

impl MemoryRow {
    /// Returns a memory as it is at `now_ms`.
    pub(crate) fn at(memory: Memory, now_ms: i64) -> Self {
        let known = memory.clone().known();
        let stored = known.as_ref().map_or(0.0, |it| it.confidence.ratio());
        Self {
            number: memory.number,
            id: memory.id,
            service: memory.service,
            category: memory.category,
            observation: memory.observation,
            confidence: stored,
            confidence_now: known.as_ref().map_or(stored, |it| it.confidence_at(now_ms).ratio()),
            active: known.is_some_and(|it| it.is_active_at(now_ms)),
            reinforced_at: memory.reinforced_at,
            trust: memory.trust.name(),
            tier: memory.tier,
            session: memory.session,
            created_at: memory.created_at,
        }
    }
}

/// How a service is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServiceRow {
    name: String,
    status: String,
    detail: Option<String>,
    healthy_streak: i64,
    unhealthy_streak: i64,
    changed_at: i64,
    checked_at: i64,
    /// Actions before this time do not count against it any more.
    cleared_at: Option<i64>,
}

impl From<Service> for ServiceRow {
    fn from(service: Service) -> Self {
        Self {
            name: service.name,
            status: service.status,
            detail: service.detail,
            healthy_streak: service.healthy_streak,
            unhealthy_streak: service.unhealthy_streak,
            changed_at: service.changed_at,
            checked_at: service.checked_at,
            cleared_at: service.cleared_at,
        }
    }
}

/// One check of a service.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckRow {
    number: i64,
    service: String,
    session: Option<String>,
    status: String,
    detail: Option<String>,
    checked_at: i64,
}

impl From<Check> for CheckRow {
    fn from(check: Check) -> Self {
        let Check { number, service, session, status, detail, checked_at } = check;
        Self { number, service, session, status, detail, checked_at }
    }
}

/// A service and a page of its checks.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServiceDetail {
    pub(crate) service: ServiceRow,
    pub(crate) checks: Vec<CheckRow>,
    /// What the next page goes on after.
    pub(crate) next: Option<i64>,
}

/// One session of a watch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionRow {
    number: i64,
    /// Its name, which is that of its run.
    id: String,
    chain: String,
    /// The session that escalated to it.
    parent: Option<String>,
    tier: i64,
    cause: String,
    driver: String,
    model: String,
    status: String,
    /// How its yield was read.
    extraction: String,
    /// Whether work was left behind that had not ended.
    pending: bool,
    turns: Option<i64>,
    cost_usd: Option<f64>,
    log: Option<String>,
    summary: Option<String>,
    started_at: i64,
    ended_at: Option<i64>,
}

impl From<Session> for SessionRow {
    fn from(session: Session) -> Self {
        Self {
            number: session.number,
            id: session.id,
            chain: session.chain,
            parent: session.parent,
            tier: session.tier,
            cause: session.cause,
            driver: session.driver,
            model: session.model,
            status: session.status,
            extraction: session.extraction,
            pending: session.pending,
            turns: session.turns,
            cost_usd: session.cost_usd.map(Cost::usd),
            log: session.log,
            summary: session.summary,
            started_at: session.started_at,
            ended_at: session.ended_at,
        }
    }
}

/// A session with its texts and its kin.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionDetail {
    session: SessionRow,
    prompt: Option<String>,
    /// What it was told of the estate.
    context: Option<String>,
    /// What it said last.
    response: Option<String>,
    parent: Option<SessionRow>,
    /// The sessions that it escalated to.
    children: Vec<SessionRow>,
    /// What all sessions of its chain cost, if that is known of each.
    chain_cost_usd: Option<f64>,
}

impl SessionDetail {
    /// Tells of a session among `kin`, all sessions of its chain.
    pub(crate) fn new(session: Session, texts: SessionTexts, kin: &[Session]) -> Self {
        let chain_cost_usd = cost_of(kin);
        let parent = session.parent.as_deref();
        let parent = parent.and_then(|id| kin.iter().find(|it| it.id == id)).cloned();
        let is_child = |it: &&Session| it.parent.as_deref() == Some(session.id.as_str());
        let children = kin.iter().filter(is_child).cloned().map(SessionRow::from).collect();
        Self {
            prompt: texts.prompt,
            context: texts.context,
            response: texts.response,
            parent: parent.map(SessionRow::from),
            children,
            chain_cost_usd,
            session: session.into(),
        }
    }
}

/// One pass over the estate.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChainRow {
    number: i64,
    id: String,
    /// Why it began.
    cause: String,
    started_at: i64,
    /// Absent while it goes on.
    ended_at: Option<i64>,
}

impl From<Chain> for ChainRow {
    fn from(chain: Chain) -> Self {
        let Chain { number, id, cause, started_at, ended_at, .. } = chain;
        Self { number, id, cause, started_at, ended_at }
    }
}

/// A chain with its sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChainDetail {
    chain: ChainRow,
    /// In their order.
    sessions: Vec<SessionRow>,
    /// What all of them cost, if that is known of each.
    cost_usd: Option<f64>,
}

impl ChainDetail {
    pub(crate) fn new(chain: Chain, sessions: Vec<Session>) -> Self {
        let cost_usd = cost_of(&sessions);
        let sessions = sessions.into_iter().map(SessionRow::from).collect();
        Self { chain: chain.into(), sessions, cost_usd }
    }
}

fn cost_of(sessions: &[Session]) -> Option<f64> {
    let costs: Option<Vec<f64>> = sessions.iter().map(|it| it.cost_usd.map(Cost::usd)).collect();
    costs.map(|costs| costs.into_iter().sum())
}

/// An action on a service.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActionRow {
    number: i64,
    id: String,
    service: String,
    kind: String,
    /// What came of it.
    state: &'static str,
    tier: i64,
    session: Option<String>,
    command: Option<String>,
    error: Option<String>,
    /// When it was put on record: before it was done.
    reserved_at: i64,
    closed_at: Option<i64>,
}

impl From<Action> for ActionRow {
    fn from(action: Action) -> Self {
        Self {
            number: action.number,
            id: action.id,
            service: action.service,
            kind: action.kind,
            state: action.state.name(),
            tier: action.tier,
            session: action.session,
            command: action.command,
            error: action.error,
            reserved_at: action.reserved_at,
            closed_at: action.closed_at,
        }
    }
}

/// An escalation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EscalationRow {
    number: i64,
    id: String,
    /// The session that asked.
    session: String,
    chain: String,
    /// The tier that takes over, or would.
    tier: i64,
    /// The services that it is about.
    affected: Vec<String>,
    context: Option<String>,
    /// `acted`, `proposed`, `approved` or `declined`.
    state: &'static str,
    at: i64,
}

impl From<Escalation> for EscalationRow {
    fn from(escalation: Escalation) -> Self {
        Self {
            number: escalation.number,
            id: escalation.id,
            session: escalation.session,
            chain: escalation.chain,
            tier: escalation.tier,
            affected: escalation.affected,
            context: escalation.context,
            state: escalation.state.name(),
            at: escalation.at,
        }
    }
}

/// A notification to one target.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationRow {
    number: i64,
    id: String,
    category: String,
    target: String,
    title: String,
    /// Markdown.
    body: String,
    chain: Option<String>,
    /// `queued`, `sent` or `failed`.
    state: &'static str,
    attempts: i64,
    error: Option<String>,
    queued_at: i64,
    told_at: Option<i64>,
}

impl From<Notification> for NotificationRow {
    fn from(notification: Notification) -> Self {
        Self {
            number: notification.number,
            id: notification.id,
            category: notification.category,
            target: notification.target,
            title: notification.title,
            body: notification.body,
            chain: notification.chain,
            state: notification.state.name(),
            attempts: notification.attempts,
            error: notification.error,
            queued_at: notification.queued_at,
            told_at: notification.told_at,
        }
    }
}

/// A chain that somebody asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WishRow {
    number: i64,
    id: String,
    /// Why: `api` or `alert`.
    cause: String,
    /// The tier that begins.
    tier: i64,
    /// What is asked.
    request: Option<String>,
    at: i64,
    /// The chain that it became; absent while it waits.
    chain: Option<String>,
}

impl From<Wish> for WishRow {
    fn from(wish: Wish) -> Self {
        Self {
            number: wish.number,
            id: wish.id,
            cause: wish.cause,
            tier: wish.tier,
            request: wish.request,
            at: wish.at,
            chain: wish.chain,
        }
    }
}
