//! What is in force, and who said so.

use axum::extract::State;
use axum::response::Json;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Answered, Api};
use crate::desk::Setting;

/// What is in force.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Settings {
    /// Every setting that somebody made.
    items: Vec<Setting>,
    /// The names that `model` may have in the gateway, as far as they can be listed.
    models: Vec<String>,
    /// The version of the program.
    version: &'static str,
}

/// Shows the settings of the server, each with where it comes from.
#[utoipa::path(get, path = "/api/v1/settings", tag = "settings",
    responses((status = OK, body = Settings)))]
pub(super) async fn settings(State(api): State<Api>) -> Answered<Settings> {
    let (items, models) = (api.desk.settings(), api.desk.models().await);
    Ok(Json(Settings { items, models, version: env!("CARGO_PKG_VERSION") }))
}
