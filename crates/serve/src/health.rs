//! Whether the server is there, and its ledger too.

use axum::Json;
use serde::Serialize;

/// What is said of the server.
#[derive(Debug, Serialize)]
pub(crate) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Says that the server is there.
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}
