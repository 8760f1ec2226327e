//! The API of our own, `/api/v1`: everything that the ledger has, and every change that people make.
//!
//! The rules it protects: an error is always `{"error": {"code", "message"}}` with a stable code; nothing
//! that was asked is silently left out, so unknown parameters are refused; lists are pages by number,
//! whose cost does not depend on how far they are; what changes something is done once for each
//! `Idempotency-Key`. The `OpenAPI` document is made from the same functions that answer.

mod asked;
mod contracts;
mod document;
mod estate;
mod events;
mod memories;
mod once;
mod reviews;
mod runs;
mod sessions;
mod settings;
mod stats;
mod watch;
mod wire;
mod words;

use std::sync::Arc;

use airtight_store::Ledger;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::Json;
use axum::routing::get;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::desk::Desk;
use crate::health;
use crate::live::Hub;
use crate::problem::Problem;

/// What the API works with.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) ledger: Ledger,
    pub(crate) hub: Hub,
    /// Who puts alerts in a few sentences, if anybody does.
    pub(crate) alert_model: Option<String>,
}

/// What is answered: JSON, or why not.
type Answered<T> = Result<Json<T>, Problem>;

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
struct Listed<T> {
    items: Vec<T>,
    /// What the next page goes on `after`; absent on the last one.
    next: Option<i64>,
}

/// Returns the routes of the API, with the document that describes them.
pub(crate) fn routes(api: Api) -> Router {
    let (router, described) = operations().split_for_parts();
    // As a tree it would take a megabyte for as long as the server runs.
    let text = document::text(&document::complete(described));
    let show = move || {
        let text = text.clone();
        async move { ([(CONTENT_TYPE, "application/json")], text) }
    };
    router.route(document::PATH, get(show)).with_state(api)
}

/// Returns every operation.
fn operations() -> OpenApiRouter<Api> {
    OpenApiRouter::with_openapi(document::blank())
        .routes(routes!(health::health))
        .routes(routes!(runs::list))
        .routes(routes!(runs::one))
        .routes(routes!(runs::stream))
        .routes(routes!(runs::events))
        .routes(routes!(reviews::list))
        .routes(routes!(reviews::decide))
        .routes(routes!(reviews::check))
        .routes(routes!(contracts::list))
        .routes(routes!(contracts::one))
        .routes(routes!(events::list))
        .routes(routes!(events::stream))
        .routes(routes!(memories::list, memories::add))
        .routes(routes!(memories::one, memories::edit, memories::delete))
        .routes(routes!(estate::services))
        .routes(routes!(estate::service))
        .routes(routes!(estate::cooldowns))
        .routes(routes!(estate::notifications))
        .routes(routes!(estate::escalations))
        .routes(routes!(estate::answer))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::one))
        .routes(routes!(sessions::chains))
        .routes(routes!(sessions::chain))
        .routes(routes!(watch::standing))
        .routes(routes!(watch::trigger))
        .routes(routes!(watch::stop))
        .routes(routes!(watch::webhook))
        .routes(routes!(stats::stats))
        .routes(routes!(settings::settings))
}
