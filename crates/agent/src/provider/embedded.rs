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
mod tests {
    use std::future::pending;
    use std::thread;

    use airtight_core::codec::Format;
    use airtight_core::message::{Message, ToolChoice};
    use serde_json::json;
    use tokio::runtime;
    use tokio::time::timeout;

    use super::*;
    use crate::provider::Provider;

    /// Longer than anything here takes.
    const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

    fn tiny() -> Embedded {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/local/tiny.gguf");
        Embedded::open(&path).unwrap()
    }

    fn request() -> Request {
        let schema = json!({"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2});
        Request {
            model: "tiny".to_owned(),
            system: None,
            messages: vec![Message::user("Go.")],
            tools: Vec::new(),
            choice: ToolChoice::Auto,
            format: Some(Format { name: "answer".to_owned(), schema }),
            examples: Vec::new(),
            max_output_tokens: Some(100),
            temperature: None,
            max_cost: None,
        }
    }

    async fn ask(model: &Embedded) -> End {
        let provider = Provider::Embedded(model.clone());
        provider.send(&request(), &mut |_| ControlFlow::Continue(()), pending()).await.end
    }

    #[test]
    fn who_waits_for_the_model_holds_no_thread() {
        let runtime =
            runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build();
        runtime.unwrap().block_on(async {
            let model = tiny();
            let taken = Arc::clone(&model.turn).acquire_owned().await.unwrap();
            let waiting: Vec<_> = (0..3)
                .map(|_| {
                    let model = model.clone();
                    tokio::spawn(async move { ask(&model).await })
                })
                .collect();
            tokio::task::yield_now().await;
            let other = timeout(PATIENCE, spawn_blocking(|| 7)).await;
            assert_eq!(other.unwrap().unwrap(), 7);
            drop(taken);
            for answered in waiting {
                assert_eq!(answered.await.unwrap(), End::Whole);
            }
        });
    }

    #[tokio::test]
    async fn a_model_that_broke_down_once_answers_again() {
        let model = tiny();
        assert_eq!(ask(&model).await, End::Whole);
        let broken = Arc::clone(&model.model);
        let breaking = thread::spawn(move || {
            let _model = broken.lock();
            panic!("the model breaks down");
        });
        assert!(breaking.join().is_err() && model.model.is_poisoned());
        assert_eq!(ask(&model).await, End::Whole);
        assert!(!model.model.is_poisoned());
    }
}
