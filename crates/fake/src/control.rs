//! What a test in another process may ask: gates, turns and the log over HTTP.
//!
//! These paths are not in the log, and no vendor has them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::answer::Shared;
use crate::turn::Turn;

/// Returns the paths.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/fake/gates/{name}", get(reached).post(open))
        .route("/fake/turns", post(push))
        .route("/fake/exchanges", get(exchanges))
}

/// Answers when a stream has reached the gate.
async fn reached(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> StatusCode {
    shared.gates.named(&name).reached().await;
    StatusCode::NO_CONTENT
}

async fn open(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> StatusCode {
    shared.gates.named(&name).open();
    StatusCode::NO_CONTENT
}

async fn push(State(shared): State<Arc<Shared>>, Json(turn): Json<Turn>) -> StatusCode {
    shared.playlist.push(turn);
    StatusCode::NO_CONTENT
}

async fn exchanges(State(shared): State<Arc<Shared>>) -> Json<Value> {
    Json(json!(shared.log.exchanges()))
}
