//! The body of a response, within limits of size and time.

use std::time::Duration;

use airtight_core::codec::ProviderFailure;
use airtight_core::wire::sse;
use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::failure;

/// The longest stream of one answer: many times what the largest output of any model takes with
/// every token in an event of its own.
const STREAM_LIMIT_BYTES: usize = 256 * 1024 * 1024;
/// How much of an error answer is read: real ones have a few hundred bytes, pages of proxies more.
const ERROR_LIMIT_BYTES: usize = 64 * 1024;

/// A streamed body.
#[derive(Debug)]
pub(super) struct Body {
    response: Response,
    decoder: sse::Decoder,
    left_bytes: usize,
    idle: Duration,
    deadline: Instant,
    broken: Option<ProviderFailure>,
}

impl Body {
    pub(super) fn new(response: Response, idle: Duration, deadline: Instant) -> Self {
        let decoder = sse::Decoder::default();
        Self { response, decoder, left_bytes: STREAM_LIMIT_BYTES, idle, deadline, broken: None }
    }

    /// Waits no longer than this for the rest.
    pub(super) fn expect_end_within(&mut self, trail: Duration) {
        self.deadline = self.deadline.min(Instant::now() + trail);
    }

    /// Returns the events that the next bytes complete, perhaps none; `None` at the end.
    ///
    /// Events before a broken one are returned first.
    pub(super) async fn events(&mut self) -> Result<Option<Vec<sse::Event>>, ProviderFailure> {
        if let Some(failure) = self.broken.take() {
            return Err(failure);
        }
        let Some(bytes) = chunk(&mut self.response, self.idle, self.deadline).await? else {
            return Ok(None);
        };
        self.left_bytes = self
            .left_bytes
            .checked_sub(bytes.len())
            .ok_or_else(|| failure::endless(STREAM_LIMIT_BYTES))?;
        let mut events = Vec::new();
        for event in self.decoder.push(&bytes) {
            match event {
                Ok(event) => events.push(event),
                Err(error) => {
                    self.broken = Some(failure::unreadable(&error));
                    break;
                }
            }
        }
        Ok(Some(events))
    }
}

/// Reads an error answer as far as the limit, a failure or the end.
pub(super) async fn read_error(
    mut response: Response,
    idle: Duration,
    deadline: Instant,
) -> Vec<u8> {
    let mut text = Vec::new();
    while let Ok(Some(bytes)) = chunk(&mut response, idle, deadline).await {
        let room = ERROR_LIMIT_BYTES.saturating_sub(text.len());
        text.extend(bytes.iter().take(room));
        if text.len() >= ERROR_LIMIT_BYTES {
            break;
        }
    }
    text
}

async fn chunk(
    response: &mut Response,
    idle: Duration,
    deadline: Instant,
) -> Result<Option<bytes::Bytes>, ProviderFailure> {
    let silent = Instant::now() + idle;
    match timeout_at(silent.min(deadline), response.chunk()).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(failure::of_transport(error, response.url())),
        Err(_) if silent <= deadline => Err(failure::stalled("more of the answer")),
        Err(_) => Err(failure::too_slow()),
    }
}
