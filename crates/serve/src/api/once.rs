//! A change is made once for each `Idempotency-Key`: asked again, the API answers the same.

use airtight_store::KnownAnswer;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::Api;
use super::asked::Sent;
use crate::problem::Problem;

/// Says that an answer was given before.
const REPEATED: HeaderName = HeaderName::from_static("airtight-repeated");

/// The longest key.
const KEY_LIMIT: usize = 255;

/// A change that was made, as it is answered.
#[derive(Debug)]
pub(super) struct Done {
    status: StatusCode,
    /// Empty, or JSON.
    body: String,
}

impl Done {
    /// Answers with a document.
    pub(super) fn with(status: StatusCode, document: &impl Serialize) -> Result<Self, Problem> {
        let unwritable = |_| {
            let message = "the answer cannot be written; the change is made";
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "mistake", message)
        };
        let body = serde_json::to_string(document).map_err(unwritable)?;
        Ok(Self { status, body })
    }

    fn response(self) -> Response {
        let mut response = (self.status, self.body.clone()).into_response();
        if !self.body.is_empty() {
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
        }
        response
    }
}

/// Makes a change, unless its key has an answer already. It is made to its end even if the client leaves.
pub(super) async fn once(
    api: &Api,
    sent: &Sent,
    change: impl Future<Output = Result<Done, Problem>> + Send + 'static,
) -> Result<Response, Problem> {
    let Some(key) = key(&sent.headers)? else {
        return joined(change).await.map(Done::response);
    };
    let token = match api.ledger.known_answer(&key, &digest(sent)).await? {
        KnownAnswer::None(token) => token,
        KnownAnswer::Given { status, body } => return Ok(repeated(status, body)),
        KnownAnswer::Busy => {
            let message = "a request with this `Idempotency-Key` is under way";
            return Err(Problem::new(StatusCode::CONFLICT, "busy", message));
        }
        KnownAnswer::Other => {
            let message = "this `Idempotency-Key` belongs to another request: choose another key";
            return Err(Problem::new(StatusCode::CONFLICT, "key_of_another", message));
        }
    };
    let ledger = api.ledger.clone();
    joined(async move {
        let done = change.await;
        let kept = match &done {
            Ok(done) => {
                let status = i64::from(done.status.as_u16());
                ledger.keep_answer(token, status, &done.body).await
            }
            // What was refused changed nothing, and may be asked again.
            Err(_) => ledger.release_answer(token).await,
        };
        if let Err(error) = kept {
            tracing::warn!(%error, "the answer of a key is not kept");
        }
        done
    })
    .await
    .map(Done::response)
}

/// Has work done to its end, whoever waits for it.
async fn joined(
    work: impl Future<Output = Result<Done, Problem>> + Send + 'static,
) -> Result<Done, Problem> {
    tokio::spawn(work).await.unwrap_or_else(|_| {
        let message = "airtight made a mistake";
        Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "mistake", message))
    })
}

fn repeated(status: i64, body: String) -> Response {
    let status = u16::try_from(status).ok().and_then(|it| StatusCode::from_u16(it).ok());
    let mut response = Done { status: status.unwrap_or(StatusCode::OK), body }.response();
    response.headers_mut().insert(REPEATED, HeaderValue::from_static("true"));
    response
}

/// Returns what makes a second request the same, if the client says so.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let is_plain = |key: &&str| key.bytes().all(|byte| byte.is_ascii_graphic());
    match value.to_str().ok().filter(is_plain) {
        Some(key) if !key.is_empty() && key.len() <= KEY_LIMIT => Ok(Some(key.to_owned())),
        Some(_) | None => {
            let message = format!(
                "`Idempotency-Key` has 1 to {KEY_LIMIT} characters of ASCII, and no spaces"
            );
            Err(Problem::request(message))
        }
    }
}

fn digest(sent: &Sent) -> String {
    let digest = Sha256::new().chain_update(&sent.what).chain_update([0]).chain_update(&sent.bytes);
    let digits: Vec<String> = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}
