//! Which names `model` may have.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::{Gateway, watch};
use crate::door::Door;
use crate::problem::Problem;

/// No model here has a day of birth; Anthropic's format demands one.
const EPOCH: &str = "1970-01-01T00:00:00Z";

/// Lists them.
pub(super) async fn list(State(gateway): State<Gateway>, headers: HeaderMap) -> Response {
    let door = Door::of("/v1/models", &headers);
    let names = names(&gateway, door).await;
    let data: Vec<Value> = names.iter().map(|name| card(name, door)).collect();
    let document = match door {
        Door::OpenAi | Door::Api | Door::Page => json!({ "object": "list", "data": data }),
        Door::Anthropic => json!({
            "data": data,
            "has_more": false,
            "first_id": names.first(),
            "last_id": names.last(),
        }),
    };
    Json(document).into_response()
}

/// Shows one.
pub(super) async fn one(
    State(gateway): State<Gateway>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let door = Door::of("/v1/models", &headers);
    if names(&gateway, door).await.contains(&name) {
        return Json(card(&name, door)).into_response();
    }
    let message = "no such model is listed; `GET /v1/models` lists them";
    Problem::new(StatusCode::NOT_FOUND, "model_not_found", message).response(door)
}

/// Returns the names that can be listed; the watch answers in one format alone.
async fn names(gateway: &Gateway, door: Door) -> Vec<String> {
    let mut names = gateway.desk.models().await;
    if door != Door::Anthropic {
        names.extend(watch::NAMES.map(str::to_owned));
    }
    names
}

fn card(name: &str, door: Door) -> Value {
    match door {
        Door::OpenAi | Door::Api | Door::Page => {
            json!({ "id": name, "object": "model", "created": 0, "owned_by": "airtight" })
        }
        Door::Anthropic => {
            json!({
                "type": "model",
                "id": name,
                "display_name": name,
                "created_at": EPOCH,
                "lifecycle": "active",
            })
        }
    }
}
