//! Services, what was done to them, who was told, and what waits for leave.

use airtight_store::{ActionFilter, EscalationFilter, EscalationState, Page};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Json, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::asked::{Asked, Limit, Named, Number, Ordering, Sent, limit, next, page};
use super::once::{Done, once};
use super::wire::{ActionRow, CheckRow, EscalationRow, NotificationRow, ServiceDetail, ServiceRow};
use super::{Answered, Api, Listed};
use crate::act::{self, Leave};
use crate::problem::Problem;

/// What is done to services counts for so long, unless more is asked for (CO-105).
const DAY_MS: i64 = 86_400_000;

/// Which page is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the row of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
}

impl PageQuery {
    pub(super) fn page(&self) -> Page {
        page(self.limit, self.after, self.order)
    }
}

/// Which services are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ServicesQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the service of this name.
    after: Option<String>,
}

/// A page of services.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Services {
    items: Vec<ServiceRow>,
    /// What the next page goes on `after`; absent on the last one.
    next: Option<String>,
}

/// Lists services by name.
#[utoipa::path(get, path = "/api/v1/services", tag = "estate", params(ServicesQuery),
    responses((status = OK, body = Services)))]
pub(super) async fn services(
    State(api): State<Api>,
    Asked(query): Asked<ServicesQuery>,
) -> Answered<Services> {
    let limit = limit(query.limit);
    let services = api.ledger.services_after(query.after.as_deref(), limit).await?;
    let is_full = u32::try_from(services.len()).is_ok_and(|length| length >= limit);
    let next = services.last().filter(|_| is_full).map(|service| service.name.clone());
    Ok(Json(Services { items: services.into_iter().map(ServiceRow::from).collect(), next }))
}

/// Shows a service and its checks.
#[utoipa::path(get, path = "/api/v1/services/{name}", tag = "estate",
    params(("name" = String, Path, description = "Its name."), PageQuery),
    responses((status = OK, body = ServiceDetail)))]
pub(super) async fn service(
    State(api): State<Api>,
    Named(name): Named,
    Asked(query): Asked<PageQuery>,
) -> Answered<ServiceDetail> {
    let service = api.ledger.service(&name).await?;
    let page = query.page();
    let checks = api.ledger.service_checks(Some(&name), page).await?;
    let next = next(page, &checks, |check| check.number);
    let checks = checks.into_iter().map(CheckRow::from).collect();
    Ok(Json(ServiceDetail { service: service.into(), checks, next }))
}

/// Which actions are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct CooldownsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the action of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
    /// One service.
    service: Option<String>,
    /// One session.
    session: Option<String>,
    /// On record at this time or later, in Unix milliseconds; absent, a day ago.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    since: Option<Number>,
}

/// Lists what was done to services.
#[utoipa::path(get, path = "/api/v1/cooldowns", tag = "estate", params(CooldownsQuery),
    responses((status = OK, body = Listed<ActionRow>)))]
pub(super) async fn cooldowns(
    State(api): State<Api>,
    Asked(query): Asked<CooldownsQuery>,
) -> Answered<Listed<ActionRow>> {
    let page = page(query.limit, query.after, query.order);
    let since = query.since.map_or(api.ledger.now_ms() - DAY_MS, |Number(ms)| ms);
    let CooldownsQuery { service, session, .. } = query;
    let filter = ActionFilter { service, session, state: None, since: Some(since) };
    let actions = api.ledger.actions(&filter, page).await?;
    let next = next(page, &actions, |action| action.number);
    Ok(Json(Listed { items: actions.into_iter().map(ActionRow::from).collect(), next }))
}

/// Lists notifications.
#[utoipa::path(get, path = "/api/v1/notifications", tag = "estate", params(PageQuery),
    responses((status = OK, body = Listed<NotificationRow>)))]
pub(super) async fn notifications(
    State(api): State<Api>,
    Asked(query): Asked<PageQuery>,
) -> Answered<Listed<NotificationRow>> {
    let page = query.page();
    let told = api.ledger.notifications(None, page).await?;
    let next = next(page, &told, |notification| notification.number);
    Ok(Json(Listed { items: told.into_iter().map(NotificationRow::from).collect(), next }))
}

/// What became of an escalation.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Became {
    Acted,
    Proposed,
    Approved,
    Declined,
}

impl From<Became> for EscalationState {
    fn from(became: Became) -> Self {
        match became {
            Became::Acted => Self::Acted,
            Became::Proposed => Self::Proposed,
            Became::Approved => Self::Approved,
            Became::Declined => Self::Declined,
        }
    }
}

/// Which escalations are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EscalationsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the escalation of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
    /// What became of it; `proposed` ones wait for leave.
    #[param(inline)]
    state: Option<Became>,
}

/// Lists escalations.
#[utoipa::path(get, path = "/api/v1/escalations", tag = "estate", params(EscalationsQuery),
    responses((status = OK, body = Listed<EscalationRow>)))]
pub(super) async fn escalations(
    State(api): State<Api>,
    Asked(query): Asked<EscalationsQuery>,
) -> Answered<Listed<EscalationRow>> {
    let page = page(query.limit, query.after, query.order);
    let filter = EscalationFilter { state: query.state.map(Into::into), since: None };
    let escalations = api.ledger.escalations(&filter, page).await?;
    let next = next(page, &escalations, |escalation| escalation.number);
    Ok(Json(Listed { items: escalations.into_iter().map(EscalationRow::from).collect(), next }))
}

/// What somebody answers to an escalation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewAnswer {
    #[schema(inline)]
    answer: Given,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Given {
    /// The next tier may take over.
    Approve,
    /// It may not.
    Decline,
}

/// Gives leave to an escalation that waits for it, or does not.
#[utoipa::path(post, path = "/api/v1/escalations/{id}", tag = "estate",
    params(("id" = String, Path, description = "Its name.")),
    request_body = NewAnswer,
    responses((status = OK, body = EscalationRow)))]
pub(super) async fn answer(
    State(api): State<Api>,
    Named(id): Named,
    sent: Sent,
) -> Result<Response, Problem> {
    let NewAnswer { answer } = sent.read()?;
    let leave = match answer {
        Given::Approve => Leave::Given,
        Given::Decline => Leave::Declined,
    };
    once(&api.clone(), &sent, async move {
        let answered = act::answer_escalation(&api.ledger, &id, leave).await?;
        Ok(Done::with(StatusCode::OK, &EscalationRow::from(answered)))
    })
    .await
}
