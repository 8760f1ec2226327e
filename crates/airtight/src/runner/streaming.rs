//! An answer while it grows.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use airtight_agent::{Event, Observer, Piece, Spoken};
use airtight_core::run::EventKind;
use airtight_core::{Follower, Plan};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Notify;

use super::Runner;
use crate::answer::{self, Answer, RunFailure};
use crate::typed::Contract;

/// What is new about a run.
#[derive(Debug)]
pub enum Update<T> {
    /// The answer as far as it was said. It has not been judged: it may be rejected, adapted to
    /// the provider's schema, or followed by another attempt. Strings show as far as they have
    /// come, numbers once they are complete.
    Partial(Value),
    /// The end.
    Done(Result<Box<Answer<T>>, RunFailure>),
}

/// A run that is awaited.
type Performed<'r, T> = Pin<Box<dyn Future<Output = Result<Answer<T>, RunFailure>> + Send + 'r>>;

/// A run whose answer can be watched while it grows. Dropping it ends the run.
pub struct Streaming<'r, T> {
    run: Option<Performed<'r, T>>,
    growth: Arc<Growth>,
}

impl<T> std::fmt::Debug for Streaming<'_, T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Streaming").finish_non_exhaustive()
    }
}

/// What was said so far. Whoever listens slowly misses pieces, never the end.
#[derive(Debug, Default)]
struct Growth {
    follower: Mutex<Option<Follower>>,
    grown: Notify,
    /// The member that holds the value where providers want an object.
    wrapper: Option<&'static str>,
}

impl<'r, T: DeserializeOwned + 'r> Streaming<'r, T> {
    pub(super) fn start(runner: &'r Runner, contract: &'r Contract<T>, prompt: String) -> Self {
        let wrapper = runner.wrapper(contract);
        let growth = Arc::new(Growth { wrapper, ..Growth::default() });
        let mut watcher = Watcher { growth: Arc::clone(&growth), spoken: Spoken::default() };
        let run = Box::pin(async move {
            let report = runner.perform(contract, prompt, &mut watcher).await?;
            answer::read(report)
        });
        Self { run: Some(run), growth }
    }

    /// Waits for what is new; nothing follows [`Update::Done`].
    pub async fn next(&mut self) -> Option<Update<T>> {
        let run = self.run.as_mut()?;
        loop {
            tokio::select! {
                biased;
                () = self.growth.grown.notified() => {
                    if let Some(value) = self.growth.value() {
                        return Some(Update::Partial(value));
                    }
                }
                done = run.as_mut() => {
                    self.run = None;
                    return Some(Update::Done(done.map(Box::new)));
                }
            }
        }
    }
}

impl Growth {
    fn value(&self) -> Option<Value> {
        let follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        let value = follower.as_ref()?.growing().to_value()?;
        match (self.wrapper, value) {
            (Some(name), Value::Object(mut wrapped)) => wrapped.remove(name),
            (_, value) => Some(value),
        }
    }
}

/// Follows the pieces that may be the answer.
struct Watcher {
    growth: Arc<Growth>,
    spoken: Spoken,
}

impl Watcher {
    fn push(&self, text: &str) {
        let mut follower = self.growth.follower.lock().unwrap_or_else(PoisonError::into_inner);
        // What the model says follows the provider's schema; the verdict is on the whole.
        follower
            .get_or_insert_with(|| Follower::new(Arc::new(Plan::anything())))
            .push(text.as_bytes());
        drop(follower);
        self.growth.grown.notify_one();
    }

    fn restart(&self) {
        *self.growth.follower.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Observer for Watcher {
    fn event(&mut self, event: &Event) {
        let EventKind::Delta(delta) = &event.kind else { return };
        match self.spoken.hear(delta) {
            Piece::Anew => self.restart(),
            Piece::More(text) => self.push(text),
            Piece::Other => {}
        }
    }
}
