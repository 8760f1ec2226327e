//! Sends an answer step by step: chunks, gates, and what goes wrong.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream;

use crate::gate::Gate;
use crate::log::Witness;

/// One write of filler, so that an event of 50 MB does not need 50 MB.
pub(crate) const FILLER_BYTES: usize = 64 << 10;

/// What one chunk is to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// Text, thought, refusal or arguments.
    Content,
    /// What the format has around them.
    Frame,
}

/// One step of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Send(Bytes, Load),
    /// Waits for the test.
    Wait(Gate),
    /// Waits.
    Pause(Duration),
    /// Breaks the connection.
    Cut,
    /// Sends nothing any more.
    Stall,
}

/// Why a body breaks off.
#[derive(Debug, thiserror::Error)]
#[error("the script cuts the connection here")]
pub(crate) struct Broken;

struct Player {
    steps: VecDeque<Step>,
    witness: Witness,
}

/// Makes a body of steps. `write_bytes` cuts it into network writes of that size.
pub(crate) fn play(
    steps: Vec<Step>,
    write_bytes: Option<usize>,
    witness: Witness,
) -> impl Stream<Item = Result<Bytes, Broken>> {
    let steps = match write_bytes {
        Some(size) => steps.into_iter().flat_map(|step| cut_up(step, size.max(1))).collect(),
        None => steps.into(),
    };
    stream::unfold(Player { steps, witness }, |mut player| async {
        let next = player.next().await;
        next.map(|chunk| (chunk, player))
    })
}

fn cut_up(step: Step, size: usize) -> Vec<Step> {
    let Step::Send(mut bytes, load) = step else { return vec![step] };
    let mut parts = Vec::new();
    while bytes.len() > size {
        parts.push(Step::Send(bytes.split_to(size), Load::Frame));
    }
    // The chunk counts when it is whole.
    parts.push(Step::Send(bytes, load));
    parts
}

impl Player {
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        loop {
            match self.steps.pop_front() {
                None => {
                    self.witness.complete();
                    return None;
                }
                Some(Step::Send(bytes, load)) => {
                    if load == Load::Content {
                        self.witness.count();
                    }
                    // A client that has the last byte may hang up at once: that is no cancel.
                    if self.steps.is_empty() {
                        self.witness.complete();
                    }
                    return Some(Ok(bytes));
                }
                Some(Step::Wait(gate)) => gate.pass().await,
                Some(Step::Pause(time)) => tokio::time::sleep(time).await,
                Some(Step::Stall) => {
                    let never: Infallible = future::pending().await;
                    match never {}
                }
                Some(Step::Cut) => {
                    self.witness.cut();
                    // What was sent leaves the buffers while this is pending.
                    tokio::task::yield_now().await;
                    return Some(Err(Broken));
                }
            }
        }
    }
}
