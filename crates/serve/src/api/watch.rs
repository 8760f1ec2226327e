//! What is asked of the watch: to look now, to look into an alert, to stop. CO-105, CO-107, CO-110.

use airtight_core::watch::{Alert, Tier};
use airtight_store::{Order, Page, WISHES_WAITING};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{Json, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asked::Sent;
use super::once::{Done, once};
use super::wire::{ChainRow, WishRow};
use super::{Answered, Api};
use crate::act::{self, REQUEST_LIMIT};
use crate::problem::Problem;

/// The largest alert: what a model is to read, and no more.
const ALERT_LIMIT_BYTES: usize = 64 * 1024;

/// How the watch stands.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Standing {
    /// The process that leads: host and number. Absent, nobody watches.
    leader: Option<String>,
    /// The chain that goes on.
    chain: Option<ChainRow>,
    /// What was asked for and has not begun.
    waiting: Vec<WishRow>,
}

/// Shows how the watch stands.
#[utoipa::path(get, path = "/api/v1/watch", tag = "watch",
    responses((status = OK, body = Standing)))]
pub(super) async fn standing(State(api): State<Api>) -> Answered<Standing> {
    let all = Page { limit: WISHES_WAITING, after: None, order: Order::OldestFirst };
    let waiting = api.ledger.waiting_wishes(all).await?.into_iter().map(WishRow::from).collect();
    let now_ms = api.ledger.now_ms();
    let leader = api.ledger.leader().await?.filter(|leader| leader.leased_until > now_ms);
    let chain = api.ledger.open_chain().await?.map(ChainRow::from);
    Ok(Json(Standing { leader: leader.map(|leader| leader.owner), chain, waiting }))
}

/// What the watch is to look at now.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewWish {
    /// The tier that begins; 1 if absent. One that the watch may never start is the highest that it may.
    #[schema(value_type = Option<i64>, minimum = 1, maximum = 3)]
    tier: Option<f64>,
    /// What to do, in your words.
    #[schema(min_length = 1, max_length = 10000, pattern = r"\S")]
    prompt: Option<String>,
}

/// Has the watch begin a chain now; refused while one goes on.
#[utoipa::path(post, path = "/api/v1/watch/trigger", tag = "watch",
    request_body = NewWish,
    responses((status = CREATED, body = WishRow)))]
pub(super) async fn trigger(State(api): State<Api>, sent: Sent) -> Result<Response, Problem> {
    let NewWish { tier, prompt } = sent.read()?;
    let no_tier = || Problem::request("`tier` is 1, 2 or 3").at("tier");
    let tier = tier.map_or(Some(Tier::Observe), tier_of).ok_or_else(no_tier)?;
    let is_fit = |it: &String| !it.trim().is_empty() && it.chars().count() <= REQUEST_LIMIT;
    if prompt.as_ref().is_some_and(|prompt| !is_fit(prompt)) {
        let message = format!("`prompt` has 1 to {REQUEST_LIMIT} characters");
        return Err(Problem::request(message).at("prompt"));
    }
    once(&api.clone(), &sent, async move {
        let wish = act::look_now(&api.ledger, tier, prompt).await?;
        Ok(Done::with(StatusCode::CREATED, &WishRow::from(wish)))
    })
    .await
}

/// Returns the tier of a number, which JSON may write as `3.0`.
fn tier_of(number: f64) -> Option<Tier> {
    Tier::ALL.into_iter().find(|tier| f64::from(tier.number()).total_cmp(&number).is_eq())
}

/// An alert in words.
#[derive(ToSchema)]
#[schema(pattern = r"\S")]
#[expect(dead_code, reason = "only described")]
struct AlertText(String);

/// Stops what the watch does now; refused if nothing goes on.
#[utoipa::path(post, path = "/api/v1/watch/stop", tag = "watch",
    responses((status = NO_CONTENT)))]
pub(super) async fn stop(State(api): State<Api>) -> Result<StatusCode, Problem> {
    act::stop_chain(&api.ledger).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes an alert of any shape, and has the watch look into it when what goes on is over.
///
/// A member `tier` of a JSON object says which tier begins. Everything else is told to it as data.
#[utoipa::path(post, path = "/api/v1/webhook", tag = "watch",
    request_body(content((AlertText = "text/plain"), (serde_json::Value = "application/json"))),
    responses((status = ACCEPTED, body = WishRow), (status = BAD_GATEWAY, body = super::wire::Failure,
        description = "No model put it in a few sentences: `no_brief`. Send it again.")))]
pub(super) async fn webhook(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    let sent = Sent::whatever(request, ALERT_LIMIT_BYTES).await?;
    let alert = Alert::read(&String::from_utf8_lossy(&sent.bytes));
    let empty = || Problem::request("the alert says nothing: send a text, or JSON");
    let alert = alert.ok_or_else(empty)?;
    once(&api.clone(), &sent, async move {
        let model = api.alert_model.as_deref();
        let wish = act::look_into(&api.ledger, api.desk.as_ref(), model, alert).await?;
        Ok(Done::with(StatusCode::ACCEPTED, &WishRow::from(wish)))
    })
    .await
}
