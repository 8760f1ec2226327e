//! One request, one streamed answer.
//!
//! Everything that a server sends has a limit in bytes and in time. Stopping drops the connection
//! at once, so that the provider stops too. Redirects are not followed: the key would go along.

mod body;
mod client;
mod failure;

use std::time::Duration;

use airtight_core::codec::{Assembler, Call, Delta, ProviderFailure, Request};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response};
use tokio::time::{Instant, timeout_at};

use super::{End, Endpoint, EndpointError, Heard, Listen};
use body::Body;

/// How long a server may take to accept a connection, TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may take until the head of its response, the connection included.
const HEAD: Duration = Duration::from_secs(310);
/// How long a server may be silent. Models that think send nothing for minutes.
const IDLE: Duration = Duration::from_mins(5);
/// How long an answer may take in all: longer than any real one.
const TOTAL: Duration = Duration::from_mins(30);

/// How long after the end mark the connection is kept: its real end makes it usable again, and
/// some servers send the usage last.
const TRAIL: Duration = Duration::from_secs(1);

/// How long a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To accept a connection, TLS included.
    pub connect: Duration,
    /// To send the head of its response, the connection included.
    pub head: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// From the request to the end of the answer.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: CONNECT, head: HEAD, idle: IDLE, total: TOTAL }
    }
}

/// A model that is served over HTTP. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Service {
    endpoint: Endpoint,
    headers: HeaderMap,
    client: Client,
    timeouts: Timeouts,
}

impl Service {
    /// Takes the model at `endpoint`, with the process's connections where possible.
    pub(super) fn new(endpoint: Endpoint, timeouts: Timeouts) -> Result<Self, EndpointError> {
        let client = client::shared(&endpoint, timeouts.connect)?;
        let headers = endpoint.header_map()?;
        Ok(Self { endpoint, headers, client, timeouts })
    }

    /// Returns where the model is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends `request` and hears its answer to the end, or until `listen` breaks.
    pub(super) async fn exchange(
        &self,
        request: &Request,
        listen: Listen<'_>,
        assembler: &mut Assembler,
    ) -> End {
        match self.hear(request, listen, assembler).await {
            End::Failed(failure) => End::Failed(self.told(failure)),
            end @ (End::Whole | End::Stopped) => end,
        }
    }

    async fn hear(&self, request: &Request, listen: Listen<'_>, assembler: &mut Assembler) -> End {
        let deadline = Instant::now() + self.timeouts.total;
        let response = match self.open(self.endpoint.wire.encode(request), deadline).await {
            Ok(response) => response,
            Err(failure) => return End::Failed(failure),
        };
        let mut body = Body::new(response, self.timeouts.idle, deadline);
        let mut decoder = self.endpoint.wire.decoder();
        loop {
            if decoder.is_complete() {
                body.expect_end_within(TRAIL);
            }
            let events = match body.events().await {
                Ok(Some(events)) => events,
                Ok(None) if decoder.is_complete() => return End::Whole,
                Ok(None) => return End::Failed(failure::cut()),
                // What follows the end mark is of no interest, nor is how it ends.
                Err(_) if decoder.is_complete() => return End::Whole,
                Err(failure) => return End::Failed(failure),
            };
            for event in events {
                for delta in decoder.push(&event) {
                    let delta = self.masked_delta(delta);
                    let flow = listen(Heard::Delta(&delta));
                    if let Err(failure) = assembler.push(delta) {
                        return End::Failed(failure);
                    }
                    if flow.is_break() {
                        return End::Stopped;
                    }
                }
            }
        }
    }

    /// Sends the request and reads the head of the response; an error answer is read as far as the
    /// limit.
    async fn open(&self, call: Call, deadline: Instant) -> Result<Response, ProviderFailure> {
        let late = Instant::now() + self.timeouts.head;
        let url = self.endpoint.url_of(&call.path);
        let sent = self.client.post(url.clone()).headers(self.head(&call));
        let sent = sent.json(&call.body).send();
        // As text it leaves; as a tree it takes several times the room, while a model thinks.
        drop(call);
        let response = match timeout_at(late.min(deadline), sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(failure::of_transport(error, &url)),
            Err(_) => return Err(failure::stalled("the head of the response")),
        };
        if let Some(failure) = failure::of_head(&response) {
            return Err(failure);
        }
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let asked = failure::asked_pause(response.headers());
        let text = body::read_error(response, self.timeouts.idle, deadline).await;
        Err(ProviderFailure::from_response(status, &text, asked))
    }

    /// Puts the headers together, strongest last.
    fn head(&self, call: &Call) -> HeaderMap {
        let mut map = self.headers.clone();
        map.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &call.headers {
            if let Ok(value) = HeaderValue::from_str(value) {
                map.insert(HeaderName::from_static(name), value);
            }
        }
        map
    }

    /// Says whose failure it is, and what its status was.
    fn told(&self, failure: ProviderFailure) -> ProviderFailure {
        let mut failure = self.masked(failure);
        let code = failure.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        let who = self.endpoint.vendor.prefix();
        failure.message = match failure.status {
            Some(status) => format!("{who} answered {status}{code}: {}", failure.message),
            None => format!("{who}{code}: {}", failure.message),
        };
        failure
    }

    fn masked(&self, mut failure: ProviderFailure) -> ProviderFailure {
        self.endpoint.mask(&mut failure.message);
        if let Some(code) = &mut failure.code {
            self.endpoint.mask(code);
        }
        failure
    }

    fn masked_delta(&self, delta: Delta) -> Delta {
        if let Delta::Failed(failure) = delta { Delta::Failed(self.masked(failure)) } else { delta }
    }
}
