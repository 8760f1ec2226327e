//! From a request to its response.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::check::{self, Refusal};
use crate::endpoint::{Delivery, Endpoint, Wire};
use crate::gate::Gates;
use crate::log::{Log, Witness};
use crate::pace::{self, Load, Step};
use crate::render::{self, Occasion};
use crate::script::{Checks, Playlist};
use crate::turn::{Reply, Turn};
use crate::vendor_error;
use crate::weave::{raw_bytes, weave};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) playlist: Playlist,
    pub(crate) gates: Gates,
    pub(crate) log: Arc<Log>,
    pub(crate) checks: Checks,
}

impl Shared {
    fn check(
        &self,
        wire: Wire,
        (headers, uri): (&HeaderMap, &Uri),
        body: &Value,
    ) -> Result<(), Refusal> {
        match self.checks {
            Checks::Vendor => check::check(wire, headers, uri, body),
            Checks::Off => Ok(()),
        }
    }
}

/// Answers any request.
pub(crate) async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let endpoint = Endpoint::of(&method, &uri, &headers, &body);
    let recorded =
        shared.log.record((&method, &uri, &headers), endpoint.wire(), (bytes, body.clone()));
    let request = match recorded {
        Ok(request) => request,
        Err(error) => return fault(Wire::Chat, &format!("log not writable: {error}")),
    };
    let mut witness = Witness::new(Arc::clone(&shared.log), request);
    let Endpoint::Generate { wire, model, delivery } = endpoint else {
        witness.complete();
        return aside(endpoint, &method, &uri);
    };
    if let Err(refusal) = shared.check(wire, (&headers, &uri), &body) {
        witness.complete();
        let body = vendor_error::body(wire, refusal.status.as_u16(), Some(&refusal.message));
        return document(refusal.status, &body);
    }
    let Some(turn) = shared.playlist.take(wire, &model, &body) else {
        witness.complete();
        return fault(wire, &format!("script exhausted: no turn for request {request}"));
    };
    // A sleep of nothing takes until the next tick of tokio's clock, a millisecond.
    if turn.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(turn.delay_ms)).await;
    }
    let occasion = Occasion { model: &model, body: &body, request, chunk_chars: turn.chunk_chars };
    respond(&shared.gates, &turn, (wire, delivery), &occasion, witness)
}

/// Answers what is not a question to the model.
fn aside(endpoint: Endpoint, method: &Method, uri: &Uri) -> Response {
    let body = match endpoint {
        Endpoint::CountTokens(Wire::Gemini) => json!({"totalTokens": 10}),
        Endpoint::CountTokens(_) => json!({"input_tokens": 10}),
        Endpoint::Models(Wire::Gemini) => {
            json!({"models": [model_card(Wire::Gemini, "fake-model")]})
        }
        Endpoint::Models(wire @ Wire::Anthropic) => json!({
            "data": [model_card(wire, "fake-model")],
            "has_more": false,
            "first_id": "fake-model",
            "last_id": "fake-model",
        }),
        Endpoint::Models(wire) => {
            json!({"object": "list", "data": [model_card(wire, "fake-model")]})
        }
        Endpoint::Model(wire, name) => model_card(wire, &name),
        Endpoint::Root => json!({"name": "airtight-fake"}),
        Endpoint::Unknown | Endpoint::Generate { .. } => {
            let message = format!("no such endpoint: {method} {}", uri.path());
            let body = vendor_error::body(Wire::Chat, 404, Some(&message));
            return document(StatusCode::NOT_FOUND, &body);
        }
    };
    document(StatusCode::OK, &body)
}

fn model_card(wire: Wire, name: &str) -> Value {
    match wire {
        Wire::Anthropic => json!({
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2025-10-09T08:53:20Z",
        }),
        Wire::Responses | Wire::Chat => json!({
            "id": name,
            "object": "model",
            "created": 1_760_000_000,
            "owned_by": "airtight-fake",
        }),
        Wire::Gemini => json!({
            "name": format!("models/{name}"),
            "displayName": name,
            "inputTokenLimit": 1_000_000,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }),
    }
}

fn respond(
    gates: &Gates,
    turn: &Turn,
    (wire, delivery): (Wire, Delivery),
    occasion: &Occasion<'_>,
    mut witness: Witness,
) -> Response {
    let mut response = match &turn.reply {
        Reply::Status { status, message } => {
            witness.complete();
            let Ok(code) = StatusCode::from_u16(*status) else {
                return fault(wire, &format!("the script's status {status} is none"));
            };
            document(code, &vendor_error::body(wire, *status, message.as_deref()))
        }
        Reply::Raw { chunks } => {
            let sends = chunks.iter().map(|raw| Step::Send(raw_bytes(raw), Load::Content));
            let steps = weave(sends.collect(), &turn.points, wire, gates);
            streamed("text/event-stream", steps, turn.write_bytes, witness)
        }
        Reply::Say(say) => {
            let (kind, sends) = match delivery {
                Delivery::Events => {
                    let events = render::events(wire, say, occasion);
                    let sends =
                        events.iter().map(|event| Step::Send(event.to_bytes(wire), event.load));
                    let mark = render::end_mark(wire).map(|mark| Step::Send(mark, Load::Frame));
                    ("text/event-stream", sends.chain(mark).collect())
                }
                Delivery::Document => {
                    let body = render::document(wire, say, occasion).to_string();
                    ("application/json", vec![Step::Send(body.into(), Load::Content)])
                }
                Delivery::Array => {
                    let events = render::events(wire, say, occasion).into_iter();
                    let body = Value::Array(events.map(|event| event.data).collect());
                    let bytes = body.to_string().into();
                    ("application/json", vec![Step::Send(bytes, Load::Content)])
                }
            };
            let steps = weave(sends, &turn.points, wire, gates);
            streamed(kind, steps, turn.write_bytes, witness)
        }
    };
    let headers = response.headers_mut();
    for (name, value) in &turn.headers {
        match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            (Ok(name), Ok(value)) => drop(headers.insert(name, value)),
            _ => return fault(wire, &format!("the script's header {name:?} is none")),
        }
    }
    response
}

fn streamed(
    kind: &'static str,
    steps: Vec<Step>,
    write_bytes: Option<usize>,
    witness: Witness,
) -> Response {
    let body = Body::from_stream(pace::play(steps, write_bytes, witness));
    ([("content-type", kind), ("cache-control", "no-cache")], body).into_response()
}

fn document(status: StatusCode, body: &Value) -> Response {
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

/// Answers that the test itself is wrong. Clients that know the header do not try again.
fn fault(wire: Wire, message: &str) -> Response {
    let body = vendor_error::body(wire, 500, Some(message));
    let mut response = document(StatusCode::INTERNAL_SERVER_ERROR, &body);
    response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    response
}
