//! Events of the estate, and the stream of everything.

use airtight_store::EventFilter;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{Json, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::asked::{Asked, Limit, Number, Ordering, next, page};
use super::runs::StreamQuery;
use super::wire::WatchEventRow;
use super::words::Level;
use super::{Answered, Api, Listed};
use crate::live::{self, Subject};
use crate::problem::Problem;

/// Which events are meant. What is absent does not matter.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct WatchEventsQuery {
    /// How many.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Go on after the event of this number.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<Number>,
    /// Which come first.
    #[param(inline)]
    order: Option<Ordering>,
    /// How much it matters.
    #[param(inline)]
    level: Option<Level>,
    /// One service.
    service: Option<String>,
    /// One session.
    session: Option<String>,
    /// Told at this time or later, in Unix milliseconds.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    since: Option<Number>,
}

/// Lists events of the estate.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", params(WatchEventsQuery),
    responses((status = OK, body = Listed<WatchEventRow>)))]
pub(super) async fn list(
    State(api): State<Api>,
    Asked(query): Asked<WatchEventsQuery>,
) -> Answered<Listed<WatchEventRow>> {
    let page = page(query.limit, query.after, query.order);
    let since = query.since.map(|Number(ms)| ms);
    let WatchEventsQuery { level, service, session, .. } = query;
    let level = level.map(Level::name);
    let filter = EventFilter { level, service, session, since };
    let events = api.ledger.watch_events(&filter, page).await?;
    let next = next(page, &events, |event| event.number);
    Ok(Json(Listed { items: events.into_iter().map(WatchEventRow::from).collect(), next }))
}

/// Streams everything: which runs begin and end, and the events of the estate.
///
/// `snapshot` tells which runs are under way, `run` what became of one, and `watch` is an event of the
/// estate, with its number as `id`. `gap` says how many messages a viewer missed that was too slow, and a
/// `snapshot` follows. The stream does not end.
#[utoipa::path(get, path = "/api/v1/events/stream", tag = "events", params(StreamQuery),
    responses((status = OK, body = String, content_type = "text/event-stream")))]
pub(super) async fn stream(
    State(api): State<Api>,
    Asked(query): Asked<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = live::goes_on_after(&headers, query.after.map(|Number(after)| after))?;
    live::stream(&api.hub, Subject::Everything, after).await
}
