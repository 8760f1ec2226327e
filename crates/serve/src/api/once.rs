//! A change is made once for each `Idempotency-Key`: asked again, the API answers the same.
//!
//! The key is reserved before the change and has its answer after it, in two writes: if the process dies
//! between them, nobody knows whether the change was made. Such a key is busy for two minutes, and then the
//! same request makes the change, perhaps again.

use airtight_store::KnownAnswer;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::Api;
use super::asked::Sent;
use crate::door::Door;
use crate::key;
use crate::problem::Problem;

/// Says that an answer was given before.
const REPEATED: HeaderName = HeaderName::from_static("airtight-repeated");

/// A change that was made, as it is answered.
#[derive(Debug)]
pub(super) struct Done {
    status: StatusCode,
    /// Empty, or JSON.
    body: String,
}

impl Done {
    /// Answers with a document.
    pub(super) fn with(status: StatusCode, document: &impl Serialize) -> Self {
        let Ok(body) = serde_json::to_string(document) else {
            let message = "airtight made a mistake";
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return Self::untold(Problem::new(status, "mistake", message));
        };
        Self { status, body }
    }

    /// Answers with what there is to tell of a change, or with why it cannot be told.
    pub(super) fn told(status: StatusCode, document: Result<impl Serialize, Problem>) -> Self {
        match document {
            Ok(document) => Self::with(status, &document),
            Err(problem) => Self::untold(problem),
        }
    }

    /// Answers that the change is made and cannot be shown: its key must not make it again.
    fn untold(problem: Problem) -> Self {
        let message = format!("the change is made, and cannot be shown: {}", problem.message);
        let told = Problem { message, ..problem };
        Self { status: told.status, body: told.body(Door::Api).to_string() }
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
/// A change that fails must not have changed anything.
pub(super) async fn once(
    api: &Api,
    sent: &Sent,
    change: impl Future<Output = Result<Done, Problem>> + Send + 'static,
) -> Result<Response, Problem> {
    let Some(key) = key::of(&sent.headers)? else {
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

fn digest(sent: &Sent) -> String {
    let digest = Sha256::new().chain_update(&sent.what).chain_update([0]).chain_update(&sent.bytes);
    let digits: Vec<String> = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use airtight_store::{Ledger, Location};
    use axum::http::HeaderMap;
    use bytes::Bytes;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::desk::nobody::Nobody;
    use crate::live::Hub;

    fn sent() -> Sent {
        let key = ("idempotency-key".parse().unwrap(), HeaderValue::from_static("k"));
        let headers = HeaderMap::from_iter([key]);
        Sent { headers, what: "POST /a".to_owned(), bytes: Bytes::from_static(b"{}") }
    }

    #[tokio::test]
    async fn a_change_that_is_made_keeps_its_key_even_if_it_cannot_be_shown() {
        let folder = tempfile::tempdir().unwrap();
        let place = Location::Sqlite(folder.path().join("ledger.db"));
        let ledger = Ledger::open(&place).await.unwrap();
        let hub = Hub::new(ledger.clone(), CancellationToken::new());
        let api = Api { desk: Arc::new(Nobody), ledger, hub, alert_model: None };
        let unreadable = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "ledger", "it is locked");

        let refused = once(&api, &sent(), async move { Err(unreadable()) }).await;
        assert_eq!(refused.unwrap_err(), unreadable(), "nothing was changed");

        let untold = Err::<(), _>(unreadable());
        let made = async { Ok(Done::told(StatusCode::OK, untold)) };
        let made = once(&api, &sent(), made).await.unwrap();
        assert_eq!((made.status(), made.headers().get(REPEATED)), (unreadable().status, None));
        let not_again = async { Err(Problem::request("it is made")) };
        let again = once(&api, &sent(), not_again).await.unwrap();
        assert_eq!(again.status(), unreadable().status);
        assert!(again.headers().contains_key(REPEATED));
        let body = axum::body::to_bytes(again.into_body(), 1_000).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["code"], "ledger");
        let message = "the change is made, and cannot be shown: it is locked";
        assert_eq!(body["error"]["message"], message);
    }
}
