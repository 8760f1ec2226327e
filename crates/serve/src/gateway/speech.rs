//! An answer that is sent as it grows.

use std::sync::Arc;
use std::time::Duration;

use airtight_store::RunId;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::time::sleep;

use super::problem;
use super::wire::{Frame, Told, Wire};
use crate::desk::{Answering, Fault, Growth, Reply};
use crate::problem::Problem;
use axum::http::StatusCode;

/// How long a failure may still be told by the status of the answer: then the head must leave, before
/// clients and proxies take silence for death.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// How often something is said while there is nothing to say (S5).
pub(super) const HEARTBEAT: Duration = Duration::from_secs(10);

/// A comment, which every reader of such streams passes over.
pub(super) const HEARTBEAT_FRAME: &[u8] = b": waiting\n\n";

/// An answer that is sent as it grows.
pub(super) struct Speech {
    wire: Wire,
    told: Told,
    growth: Arc<Growth>,
    state: State,
    /// How many bytes of the answer were sent.
    sent: usize,
    /// How many frames were sent.
    frames: u64,
}

enum State {
    /// Nothing was sent.
    Silent(Answering),
    /// The answer has begun.
    Speaking(Answering),
    /// The end is known, and nothing was sent.
    Known(Reply),
    /// Everything was sent.
    Over,
}

impl Speech {
    /// Waits until there is something to say; a failure before that is told as such.
    pub(super) async fn begin(
        wire: Wire,
        told: Told,
        growth: Arc<Growth>,
        mut answering: Answering,
    ) -> Result<Self, Fault> {
        let state = tokio::select! {
            biased;
            ended = &mut answering => State::Known(ended?),
            _ = growth.beyond(0) => State::Silent(answering),
            () = sleep(HEAD_PATIENCE) => State::Silent(answering),
        };
        let told = match &state {
            State::Known(reply) => told.of(reply),
            State::Silent(_) | State::Speaking(_) | State::Over => told,
        };
        Ok(Self { wire, told, growth, state, sent: 0, frames: 0 })
    }

    /// Returns the run whose answer it is.
    pub(super) fn run(&self) -> &RunId {
        &self.told.run
    }

    /// Returns the answer, if it was there before anything was sent.
    pub(super) fn known(&self) -> Option<&Reply> {
        match &self.state {
            State::Known(reply) => Some(reply),
            State::Silent(_) | State::Speaking(_) | State::Over => None,
        }
    }

    /// Returns what is sent.
    pub(super) fn frames(self) -> impl Stream<Item = Result<Bytes, std::convert::Infallible>> {
        unfold(self, |mut speech| async move {
            let bytes = speech.next().await?;
            Some((Ok(bytes), speech))
        })
    }

    async fn next(&mut self) -> Option<Bytes> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Over => None,
            State::Silent(answering) => {
                self.state = State::Speaking(answering);
                let frames = self.wire.opening(&self.told);
                Some(self.write(frames))
            }
            State::Known(reply) => {
                let mut frames = self.wire.opening(&self.told);
                frames.extend(self.closing(&reply));
                Some(self.write(frames))
            }
            State::Speaking(answering) => Some(self.go_on(answering).await),
        }
    }

    async fn go_on(&mut self, mut answering: Answering) -> Bytes {
        let growth = Arc::clone(&self.growth);
        tokio::select! {
            biased;
            more = growth.beyond(self.sent) => {
                self.state = State::Speaking(answering);
                self.sent += more.len();
                let frames = self.wire.piece(&self.told, &more);
                self.write(frames)
            }
            ended = &mut answering => {
                let frames = match ended {
                    Ok(reply) => self.closing(&reply),
                    Err(fault) => self.wire.failure(&problem(&fault)),
                };
                self.write(frames)
            }
            () = sleep(HEARTBEAT) => {
                self.state = State::Speaking(answering);
                Bytes::from_static(HEARTBEAT_FRAME)
            }
        }
    }

    /// Sends the rest of what was accepted, if what was sent is its beginning.
    fn closing(&self, reply: &Reply) -> Vec<Frame> {
        let shown = self.growth.so_far();
        let sent = shown.get(..self.sent).unwrap_or_default();
        let Some(rest) = reply.value.strip_prefix(sent) else {
            let message = "the answer that began here broke the contract, and the one that was accepted \
                           begins otherwise: ask again without `stream`, or with the same \
                           `Idempotency-Key`";
            return self.wire.failure(&Problem::new(
                StatusCode::CONFLICT,
                "stream_broken",
                message,
            ));
        };
        let mut frames = Vec::new();
        if !rest.is_empty() {
            frames.extend(self.wire.piece(&self.told, rest));
        }
        frames.extend(self.wire.closing(&self.told, reply));
        frames
    }

    fn write(&mut self, frames: Vec<Frame>) -> Bytes {
        let mut text = String::new();
        for frame in frames {
            frame.write(self.frames, &mut text);
            self.frames += 1;
        }
        Bytes::from(text)
    }
}
