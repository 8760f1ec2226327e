//! The gateway: programs that speak the formats of `OpenAI` or Anthropic get answers that satisfy their
//! schema, from any driver.
//!
//! ```text
//! request ─► wire (what is asked) ─► desk (a run, on record) ─► wire (the vendor's shape)
//! ```
//!
//! The rule it protects: a client sees a whole answer only if the contract accepted it. Of an answer
//! that is streamed it sees beginnings that can still conform, and never their end before the verdict.
//! What a request asks for and cannot have is refused, or named in the header `airtight-ignored`. The
//! watch, which has names of its own among the models, answers in prose.

mod asked;
mod conversation;
mod fields;
mod models;
mod speech;
mod tags;
mod tools;
mod watch;
mod wire;

use std::sync::Arc;

use airtight_store::Ledger;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::body;
use crate::desk::{Desk, Fault, FaultKind, Growth, Question, Record, Reply};
use crate::door::Door;
use crate::key;
use crate::pages::harmless;
use crate::problem::Problem;
use asked::{Asked, Delivery};
use speech::Speech;
use wire::{Told, Wire};

/// The name of the run in the ledger.
const RUN: HeaderName = HeaderName::from_static("airtight-run");
/// How the value was obtained.
const RUNG: HeaderName = HeaderName::from_static("airtight-rung");
/// What the request asked for and did not get.
const IGNORED: HeaderName = HeaderName::from_static("airtight-ignored");
/// That the end of the run is not on record.
const UNRECORDED: HeaderName = HeaderName::from_static("airtight-unrecorded");

/// How much of the names of members is told, of one and of all: clients have limits for headers, too.
const NAME_LIMIT: usize = 100;
const NAMES_LIMIT: usize = 1000;

/// What the gateway works with.
#[derive(Clone)]
pub(crate) struct Gateway {
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) ledger: Ledger,
    /// Ends what would go on for long.
    pub(crate) ending: CancellationToken,
    /// Who follows what was asked of the watch: the server does not end before them.
    pub(crate) followers: TaskTracker,
}

/// Returns the routes of the gateway.
pub(crate) fn routes(gateway: Gateway) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/messages", post(messages))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*name}", get(models::one))
        .with_state(gateway)
}

async fn chat(State(gateway): State<Gateway>, request: Request) -> Response {
    gateway.answer(Wire::Chat, request).await
}

async fn responses(State(gateway): State<Gateway>, request: Request) -> Response {
    gateway.answer(Wire::Responses, request).await
}

async fn messages(State(gateway): State<Gateway>, request: Request) -> Response {
    gateway.answer(Wire::Messages, request).await
}

impl Gateway {
    async fn answer(&self, wire: Wire, request: Request) -> Response {
        match self.try_answer(wire, request).await {
            Ok(response) => response,
            Err(problem) => problem.response(wire.door()),
        }
    }

    async fn try_answer(&self, wire: Wire, request: Request) -> Result<Response, Problem> {
        // Apart: the request as it came in need not be held while a model thinks.
        let (asked, key) = read(wire, request).await?;
        if let Some(tier) = watch::tier_of(&asked.model) {
            return Box::pin(self.ask_watch(wire, tier, asked, key)).await;
        }
        let told = Told {
            run: self.ledger.new_id(),
            model: asked.model.clone(),
            created_at: self.ledger.now_ms().div_euclid(1000),
            form: asked.form.clone(),
            counts: asked.counts,
        };
        let (delivery, ignored) = (asked.delivery, listed(&asked.ignored));
        let question = question(asked, &told, key);
        let mut response = match delivery {
            Delivery::Whole => {
                let reply = self.desk.answer(question, None).await.map_err(|it| problem(&it))?;
                whole(wire, told, &reply)
            }
            Delivery::Stream => {
                let growth = Arc::new(Growth::default());
                let answering = self.desk.answer(question, Some(Arc::clone(&growth)));
                let speech = Speech::begin(wire, told, growth, answering).await;
                streamed(speech.map_err(|it| problem(&it))?)
            }
        };
        note(&mut response, &IGNORED, &ignored);
        Ok(response)
    }
}

/// Reads what is asked, and the key that makes a second request the same.
async fn read(wire: Wire, request: Request) -> Result<(Asked, Option<String>), Problem> {
    let (head, body) = request.into_parts();
    let bytes = body::read(&head.headers, body).await?;
    Ok((wire.read(&bytes)?, key::of(&head.headers)?))
}

fn question(asked: Asked, told: &Told, key: Option<String>) -> Question {
    let Asked { model, system, prompt, demand, max_output_tokens, temperature, .. } = asked;
    let run = told.run.clone();
    Question { run, model, system, prompt, demand, max_output_tokens, temperature, key }
}

fn whole(wire: Wire, told: Told, reply: &Reply) -> Response {
    let json = HeaderValue::from_static("application/json");
    let document = wire.document(&told.of(reply), reply);
    let mut response = ([(CONTENT_TYPE, json)], document).into_response();
    note(&mut response, &RUN, reply.run.as_str());
    vouch(&mut response, reply);
    response
}

/// Says how the value was obtained, and whether that is on record.
fn vouch(response: &mut Response, reply: &Reply) {
    note(response, &RUNG, reply.rung.as_deref().unwrap_or_default());
    if reply.record == Record::Missing {
        note(response, &UNRECORDED, "true");
    }
}

fn streamed(speech: Speech) -> Response {
    let (run, known) = (speech.run().clone(), speech.known().cloned());
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    let mut response = ([(CONTENT_TYPE, kind)], Body::from_stream(speech.frames())).into_response();
    // Proxies that collect an answer before they pass it on would undo the streaming.
    note(&mut response, &HeaderName::from_static("x-accel-buffering"), "no");
    note(&mut response, &RUN, run.as_str());
    // Of an answer that is still to come, nobody knows that when the head leaves.
    if let Some(reply) = &known {
        vouch(&mut response, reply);
    }
    response
}

/// Lists names so that a header can hold them: in ASCII, and within limits.
fn listed(names: &[String]) -> String {
    let mut list = String::new();
    for (at, name) in names.iter().enumerate() {
        let name: String = name.escape_default().take(NAME_LIMIT).collect();
        if list.len() + name.len() > NAMES_LIMIT {
            let more = format!(", and {} more", names.len() - at);
            list.push_str(&more);
            break;
        }
        let separator = if list.is_empty() { "" } else { ", " };
        list.push_str(separator);
        list.push_str(&name);
    }
    list
}

/// Adds a header, if there is something to say.
fn note(response: &mut Response, name: &HeaderName, text: &str) {
    if let (false, Ok(value)) = (text.is_empty(), HeaderValue::from_str(text)) {
        response.headers_mut().insert(name, value);
    }
}

/// Says what a fault means to the client.
fn problem(fault: &Fault) -> Problem {
    let (status, code) = match fault.kind {
        FaultKind::UnknownModel => (StatusCode::NOT_FOUND, "model_not_found"),
        FaultKind::Contract => (StatusCode::BAD_REQUEST, "contract_refused"),
        FaultKind::NotMet(outcome) => (StatusCode::UNPROCESSABLE_ENTITY, outcome),
        FaultKind::Provider(outcome) => (StatusCode::BAD_GATEWAY, outcome),
        FaultKind::Setup => (StatusCode::SERVICE_UNAVAILABLE, "not_set_up"),
        FaultKind::Busy => (StatusCode::CONFLICT, "busy"),
        FaultKind::KeyTaken => (StatusCode::CONFLICT, "key_of_another"),
        FaultKind::Unkept => (StatusCode::CONFLICT, "not_kept"),
        FaultKind::Ledger => (StatusCode::SERVICE_UNAVAILABLE, "ledger"),
        FaultKind::Stopped => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
        FaultKind::Mistake => (StatusCode::INTERNAL_SERVER_ERROR, "mistake"),
    };
    // Both may quote what the model said, and end on a terminal.
    let mut problem = Problem::new(status, code, harmless(&fault.message));
    if !fault.violations.is_empty() {
        let violations: Vec<Value> = fault.violations.iter().cloned().map(without_tricks).collect();
        problem = problem.with("violations", Value::from(violations));
    }
    match &fault.run {
        Some(run) => problem.with("run", json!(run.as_str())),
        None => problem,
    }
}

/// Spells out what does not show in the message of a violation.
fn without_tricks(mut violation: Value) -> Value {
    if let Some(Value::String(message)) = violation.get_mut("message") {
        *message = harmless(message).into_owned();
    }
    violation
}

impl Wire {
    fn door(self) -> Door {
        match self {
            Self::Chat | Self::Responses => Door::OpenAi,
            Self::Messages => Door::Anthropic,
        }
    }
}
