//! A model in this process, as a provider like any other.

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use airtight_core::codec::{Assembler, FailureKind, ProviderFailure, Request};
use airtight_local::EmbeddedError;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::channel;
use tokio::task::spawn_blocking;

use super::{End, Heard, Listen};

/// How many pieces of an answer may wait for their listener.
const PIECES: usize = 64;

/// The most threads that are worth it: beyond, the memory is what is waited for.
const THREAD_LIMIT: usize = 8;

/// A model in this process. Clones share its weights and what it has read, and take turns.
#[derive(Clone)]
pub struct Embedded {
    name: String,
    model: Arc<Mutex<airtight_local::Embedded>>,
    /// Whose turn it is: who waits must not hold a thread, of which there are only so many.
    turn: Arc<Semaphore>,
    /// Where chance begins, if that was decided.
    seed: Option<u64>,
}

impl fmt::Debug for Embedded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Embedded").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Embedded {
    /// Loads a model from a GGUF file. This takes as long as it takes to read the file.
    pub fn open(path: &Path) -> Result<Self, EmbeddedError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let model = airtight_local::Embedded::open(path, threads.min(THREAD_LIMIT))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let turn = Arc::new(Semaphore::new(1));
        Ok(Self { name, model: Arc::new(Mutex::new(model)), turn, seed: None })
    }

    /// Decides where chance begins, so that the same requests have the same answers.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Returns what the model is called: by its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Has `request` answered on a thread of its own, which ends soon after this future is dropped.
    pub(super) async fn exchange(
        &self,
        request: &Request,
        listen: Listen<'_>,
        assembler: &mut Assembler,
    ) -> End {
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else {
            return End::Failed(broken());
        };
        let (say, mut heard) = channel(PIECES);
        let (model, request) = (Arc::clone(&self.model), request.clone());
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
        let speaking = spawn_blocking(move || {
            let answered = sound(&model).respond(&request, seed, &mut |delta| {
                let is_heard = match delta {
                    Some(delta) => say.blocking_send(delta).is_ok(),
                    None => !say.is_closed(),
                };
                if is_heard { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            drop(turn);
            answered.map_err(|error| refused(&error))
        });
        while let Some(delta) = heard.recv().await {
            let flow = listen(Heard::Delta(&delta));
            if let Err(failure) = assembler.push(delta) {
                return End::Failed(failure);
            }
            if flow.is_break() {
                return End::Stopped;
            }
        }
        match speaking.await {
            Ok(Ok(())) => End::Whole,
            Ok(Err(failure)) => End::Failed(failure),
            Err(_) => End::Failed(broken()),
        }
    }
}

/// Returns the model for whoever has the turn.
fn sound(model: &Mutex<airtight_local::Embedded>) -> MutexGuard<'_, airtight_local::Embedded> {
    model.lock().unwrap_or_else(|poisoned| {
        // What a model has read is unknown once it broke down: it reads everything again.
        let mut broken = poisoned.into_inner();
        broken.forget();
        model.clear_poison();
        broken
    })
}

/// What is asked is more than the model can do; to ask again would not help.
fn refused(error: &EmbeddedError) -> ProviderFailure {
    // The word that others have for it, so that it has the same consequences.
    let code = error.is_too_long().then(|| "context_length_exceeded".to_owned());
    ProviderFailure { code, ..failure(&error.to_string()) }
}

fn broken() -> ProviderFailure {
    failure("the model broke down, which is a bug")
}

fn failure(message: &str) -> ProviderFailure {
    ProviderFailure {
        kind: FailureKind::Request,
        status: None,
        code: None,
        message: format!("embedded: {message}"),
        retry_after: None,
    }
}

#[cfg(test)]
mod tests;
