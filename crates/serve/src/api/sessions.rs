//! Sessions of a watch, and the chains that they make up.

use airtight_store::{Ledger, Order, PAGE_LIMIT, Page, Session, SessionFilter, StoreError};
use axum::extract::State;
use axum::response::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::asked::{Asked, Limit, Named, Number, Ordering, next, page};
use super::estate::PageQuery;
use super::wire::{ChainDetail, ChainRow, SessionDetail, SessionRow};
use super::words::Status;
use super::{Answered, Api, Listed};

/// Which sessions are meant. What is absent does not matter.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the session of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
    /// One chain.
    chain: Option<String>,
    /// Where it stands.
    #[param(inline)]
    status: Option<Status>,
    /// One tier.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    tier: Option<Number>,
}

/// Lists sessions.
#[utoipa::path(get, path = "/api/v1/sessions", tag = "sessions", params(SessionsQuery),
    responses((status = OK, body = Listed<SessionRow>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<SessionsQuery>,
) -> Answered<Listed<SessionRow>> {
    let page = page(query.limit, query.after, query.order);
    let tier = query.tier.map(|Number(tier)| tier);
    let status = query.status.map(Status::name);
    let filter = SessionFilter { chain: query.chain, status, tier };
    let sessions = api.ledger.sessions(&filter, page).await?;
    let next = next(page, &sessions, |session| session.number);
    Ok(Json(Listed { items: sessions.into_iter().map(SessionRow::from).collect(), next }))
}

/// Shows a session with its texts and its kin.
#[utoipa::path(get, path = "/api/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "Its name.")),
    responses((status = OK, body = SessionDetail)))]
pub(super) async fn one(State(api): State<Api>, Named(id): Named) -> Answered<SessionDetail> {
    let (session, texts) = api.ledger.session(&id).await?;
    let kin = of_chain(&api.ledger, &session.chain).await?;
    Ok(Json(SessionDetail::new(session, texts, &kin)))
}

/// Lists chains.
#[utoipa::path(get, path = "/api/v1/chains", tag = "sessions", params(PageQuery),
    responses((status = OK, body = Listed<ChainRow>)))]
pub(super) async fn chains(
    State(api): State<Api>,
    Asked(query): Asked<PageQuery>,
) -> Answered<Listed<ChainRow>> {
    let page = query.page();
    let chains = api.ledger.chains(page).await?;
    let next = next(page, &chains, |chain| chain.number);
    Ok(Json(Listed { items: chains.into_iter().map(ChainRow::from).collect(), next }))
}

/// Shows a chain with its sessions.
#[utoipa::path(get, path = "/api/v1/chains/{id}", tag = "sessions",
    params(("id" = String, Path, description = "Its name.")),
    responses((status = OK, body = ChainDetail)))]
pub(super) async fn chain(State(api): State<Api>, Named(id): Named) -> Answered<ChainDetail> {
    let chain = api.ledger.chain(&id).await?;
    let sessions = of_chain(&api.ledger, &chain.id).await?;
    Ok(Json(ChainDetail::new(chain, sessions)))
}

/// Returns every session of a chain: it has one for each tier, and few more.
async fn of_chain(ledger: &Ledger, chain: &str) -> Result<Vec<Session>, StoreError> {
    let filter = SessionFilter { chain: Some(chain.to_owned()), ..SessionFilter::default() };
    let all = Page { limit: PAGE_LIMIT, after: None, order: Order::OldestFirst };
    ledger.sessions(&filter, all).await
}
