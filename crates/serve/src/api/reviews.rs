//! What people decide about runs.

use airtight_store::{Filter, Review};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{Json, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::asked::{Asked, Limit, Named, Number, Sent, next, page, present};
use super::once::{Done, once};
use super::wire::{Json as AnyJson, RunDetail, RunRow};
use super::{Answered, Api, Listed, runs};
use crate::act::{self, Decided, Wanted};
use crate::desk::Proposal;
use crate::problem::Problem;

/// Who decides, unless somebody is named.
const SOMEBODY: &str = "api";

/// Which runs are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ReviewsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the run of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
}

/// Lists the runs that somebody should look at, the newest first.
#[utoipa::path(get, path = "/api/v1/reviews", tag = "reviews", params(ReviewsQuery),
    responses((status = OK, body = Listed<RunRow>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<ReviewsQuery>,
) -> Answered<Listed<RunRow>> {
    let page = page(query.limit, query.after, None);
    let flagged = Filter { review: Some(Review::Flagged), ..Filter::default() };
    let runs = api.ledger.runs(&flagged, page).await?;
    let next = next(page, &runs, |run| run.number);
    Ok(Json(Listed { items: runs.into_iter().map(RunRow::from).collect(), next }))
}

/// What somebody decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// A value is right: that of the request, else the one on record.
    Accept,
    /// Nothing in the run is right.
    Reject,
}

/// A decision about a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewDecision {
    decision: Verdict,
    /// The value that is right; the contract of the run judges it. Absent, the value on record, or what
    /// the contract finds in what the model said.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(default, deserialize_with = "present")]
    value: Option<Box<RawValue>>,
    /// Who decides.
    #[schema(min_length = 1, max_length = 100, pattern = r"\S")]
    by: Option<String>,
    /// Why.
    #[schema(max_length = 10000)]
    note: Option<String>,
}

/// Accepts a value for a run, or rejects it.
#[utoipa::path(post, path = "/api/v1/reviews/{id}", tag = "reviews",
    params(("id" = String, Path, description = "The run.")),
    request_body = NewDecision,
    responses((status = OK, body = RunDetail)))]
pub(super) async fn decide(
    State(api): State<Api>,
    Named(id): Named,
    sent: Sent,
) -> Result<Response, Problem> {
    let NewDecision { decision, value, by, note } = sent.read()?;
    let wanted = match (decision, value) {
        (Verdict::Accept, None) => Wanted::Accept,
        (Verdict::Accept, Some(value)) => Wanted::AcceptValue(value.get().to_owned()),
        (Verdict::Reject, None) => Wanted::Reject,
        (Verdict::Reject, Some(_)) => {
            let message = "whoever rejects has no value: leave `value` out";
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return Err(Problem::new(status, "value_unwanted", message).at("value"));
        }
    };
    let decided = Decided { wanted, who: by.unwrap_or_else(|| SOMEBODY.to_owned()), note };
    once(&api.clone(), &sent, async move {
        let run = act::decide(&api.ledger, api.desk.as_ref(), &id, decided).await?;
        let detail = runs::detail(&api, run.summary.id.as_str()).await;
        Ok(Done::told(StatusCode::OK, detail.map(|Json(detail)| detail)))
    })
    .await
}

/// A value that somebody is not sure of.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    /// The value. Absent, the one on record, or what the contract finds in what the model said.
    #[schema(value_type = AnyJson, required = false)]
    #[serde(default, deserialize_with = "present")]
    value: Option<Box<RawValue>>,
}

/// A value that would be accepted.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Checked {
    /// The exact value that was judged.
    value: AnyJson,
}

/// Judges a value by the contract of a run, and changes nothing.
#[utoipa::path(post, path = "/api/v1/reviews/{id}/check", tag = "reviews",
    params(("id" = String, Path, description = "The run.")),
    request_body = Draft,
    responses((status = OK, body = Checked)))]
pub(super) async fn check(
    State(api): State<Api>,
    Named(id): Named,
    sent: Sent,
) -> Answered<Checked> {
    let Draft { value } = sent.read()?;
    let proposal = value.map_or(Proposal::Found, |value| Proposal::Value(value.get().to_owned()));
    let value = act::judge(&api.ledger, api.desk.as_ref(), &id, proposal).await?;
    Ok(Json(Checked { value: AnyJson::of(value) }))
}
