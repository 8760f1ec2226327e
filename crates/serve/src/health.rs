//! Whether the server is there.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// What is said of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The version of the program.
    version: &'static str,
}

/// Says that the server is there.
#[utoipa::path(get, path = "/api/v1/health", tag = "health",
    responses((status = OK, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}
