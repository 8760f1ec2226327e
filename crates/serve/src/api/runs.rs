//! Runs, and what happens in them.

#![expect(clippy::large_stack_arrays, reason = "what `IntoParams` writes, once at the start")]

use airtight_store::{Filter, RunId, Validity};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{Json, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::asked::{Asked, Limit, Named, Number, Ordering, limit, next, page};
use super::wire::{EventRow, Reviewed, RunDetail, RunRow, State as RunState};
use super::words::{Obtained, Outcome};
use super::{Answered, Api, Listed};
use crate::live::{self, Subject};
use crate::problem::Problem;

/// Which runs are meant. What is absent does not matter.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RunsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the run of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
    /// Began at this time or later, in Unix milliseconds.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    since: Option<Number>,
    /// Began before this time, in Unix milliseconds.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    until: Option<Number>,
    /// The name of the contract, or the beginning of its fingerprint (12 digits or more).
    contract: Option<String>,
    /// The version of the contract.
    contract_version: Option<String>,
    /// What drove the model.
    driver: Option<String>,
    /// Who served the model.
    provider: Option<String>,
    /// The model.
    model: Option<String>,
    /// How it ended.
    #[param(inline)]
    outcome: Option<Outcome>,
    /// How the value was obtained.
    #[param(inline)]
    rung: Option<Obtained>,
    /// Whether the output satisfies the contract.
    valid: Option<bool>,
    /// Whether it is over.
    #[param(inline)]
    state: Option<RunState>,
    /// Whether a person looked at it, or should.
    #[param(inline)]
    review: Option<Reviewed>,
    /// The batch.
    batch: Option<String>,
    /// The run that it belongs to.
    parent: Option<String>,
    /// The beginning of its name.
    id: Option<String>,
    /// What occurs in its name, or in that of its contract, provider, model or batch.
    search: Option<String>,
}

impl RunsQuery {
    fn filter(self) -> Filter {
        let ms = |number: Option<Number>| number.map(|Number(ms)| ms);
        let validity = |valid| if valid { Validity::Valid } else { Validity::Invalid };
        Filter {
            since: ms(self.since),
            until: ms(self.until),
            contract: self.contract,
            contract_version: self.contract_version,
            driver: self.driver,
            provider: self.provider,
            model: self.model,
            outcome: self.outcome.map(Outcome::name),
            rung: self.rung.map(Obtained::name),
            valid: self.valid.map(validity),
            state: self.state.map(Into::into),
            review: self.review.map(Into::into),
            batch: self.batch,
            parent: self.parent,
            id: self.id,
            search: self.search,
        }
    }
}

/// Lists runs.
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", params(RunsQuery),
    responses((status = OK, body = Listed<RunRow>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<RunsQuery>,
) -> Answered<Listed<RunRow>> {
    let page = page(query.limit, query.after, query.order);
    let runs = api.ledger.runs(&query.filter(), page).await?;
    let next = next(page, &runs, |run| run.number);
    Ok(Json(Listed { items: runs.into_iter().map(RunRow::from).collect(), next }))
}

/// Shows a run with its texts, its requests and what people decided.
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "Its name, the beginning of it, or its number.")),
    responses((status = OK, body = RunDetail)))]
pub(super) async fn one(State(api): State<Api>, Named(id): Named) -> Answered<RunDetail> {
    detail(&api, &id).await
}

/// Returns everything about a run.
pub(super) async fn detail(api: &Api, id: &str) -> Answered<RunDetail> {
    let run = api.ledger.run(id).await?;
    let attempts = api.ledger.attempts(&run.summary.id).await?;
    let decisions = api.ledger.decisions(&run.summary.id).await?;
    Ok(Json(RunDetail::new(run, attempts, decisions)))
}

/// Which events are meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the event of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
}

/// Lists the events of a run, the first one first.
#[utoipa::path(get, path = "/api/v1/runs/{id}/events/list", tag = "runs",
    params(("id" = String, Path, description = "The run."), EventsQuery),
    responses((status = OK, body = Listed<EventRow>)))]
pub(super) async fn events(
    State(api): State<Api>,
    Named(id): Named,
    Asked(query): Asked<EventsQuery>,
) -> Answered<Listed<EventRow>> {
    let run = api.ledger.summary(&id).await?;
    let after = query.after.map_or(0, |Number(after)| after);
    let limit = limit(query.limit);
    let events = api.ledger.events(&run.id, after, limit).await?;
    let is_full = u32::try_from(events.len()).is_ok_and(|length| length >= limit);
    let next = events.last().filter(|_| is_full).map(|event| event.number);
    Ok(Json(Listed { items: events.into_iter().map(EventRow::from).collect(), next }))
}

/// Where a stream goes on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    /// Go on after the event of this number; `Last-Event-ID` counts more.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub(super) after: Option<Number>,
}

/// Streams the events of a run: those on record, then each as it happens.
///
/// A message without a name is an event, as `/events/list` has it; a body over 64 KiB is left out, and its
/// length is in `bodyBytes`. `state` says that the run is in another state, `gap` which numbers a viewer
/// missed that was too slow, and `end` that the run is over and on record; then the stream closes.
#[utoipa::path(get, path = "/api/v1/runs/{id}/events", tag = "runs",
    params(("id" = String, Path, description = "The run."), StreamQuery),
    responses((status = OK, body = String, content_type = "text/event-stream")))]
pub(super) async fn stream(
    State(api): State<Api>,
    Named(id): Named,
    Asked(query): Asked<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::goes_on_after(&headers, query.after.map(|Number(after)| after))?;
    live::stream(&api.hub, Subject::Run(RunId::from(id)), after).await
}
