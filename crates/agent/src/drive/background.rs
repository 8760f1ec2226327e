//! Subagents that the model does not wait for.

use std::collections::BTreeSet;
use std::pin::Pin;

use airtight_core::run::Notification;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

/// The future of a background task, with its last words.
pub(crate) type Task<'a> = Pin<Box<dyn Future<Output = Notification> + Send + 'a>>;

/// All background tasks of one run.
#[derive(Default)]
pub(super) struct Background<'a> {
    working: FuturesUnordered<Task<'a>>,
    ids: BTreeSet<String>,
    finished: Vec<Notification>,
}

impl<'a> Background<'a> {
    pub(super) fn start(&mut self, id: String, task: Task<'a>) {
        self.ids.insert(id);
        self.working.push(task);
    }

    pub(super) fn is_working(&self) -> bool {
        !self.working.is_empty()
    }

    /// Lets all tasks work until one ends.
    pub(super) async fn advance(&mut self) {
        if let Some(finished) = self.working.next().await {
            self.ids.remove(&finished.task_id);
            self.finished.push(finished);
        }
    }

    /// Lets all tasks work while `future` does.
    pub(super) async fn alongside<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                biased;
                output = &mut future => return output,
                () = self.advance(), if self.is_working() => {}
            }
        }
    }

    pub(super) fn take_finished(&mut self) -> Vec<Notification> {
        std::mem::take(&mut self.finished)
    }

    /// Drops what still works and returns its ids.
    pub(super) fn abandon(&mut self) -> BTreeSet<String> {
        self.working.clear();
        std::mem::take(&mut self.ids)
    }
}
