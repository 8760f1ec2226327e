//! What hooks say to answers and endings: those that no toolbox asks them about.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

use airtight_core::codec::Reply;
use airtight_core::message::{ToolResult, ToolStatus};
use airtight_core::run::{EventKind, TERMINAL_TOOL};

use tokio::time::sleep;

use super::Performance;
use crate::hooks::Veto;

/// How often hooks can send a model back to work: one that always objects must not go on for ever.
const OBJECTIONS: u8 = 5;

/// How long hooks may take to hear of an end that time or the user brought about.
const LAST_WORD: Duration = Duration::from_secs(5);

impl Performance<'_> {
    /// Gives the whole answer to the run, and calls of the terminal tool to the hooks first.
    ///
    /// An answer that was whole when time was up is judged: an agent CLI may have delivered it and
    /// still be there. Only one that a hook had no time for is not.
    pub(super) async fn take(&mut self, reply: Reply) {
        let calls = self.run.terminal_calls(&reply);
        let hooks = &self.scene.agent.hooks;
        for (position, call) in &calls {
            let asked = Box::pin(hooks.before(call));
            let said = if hooks.start_before(call) {
                self.ask(asked).await
            } else {
                Some(self.background.alongside(asked).await)
            };
            match said {
                Some(Ok(())) => {}
                Some(Err(veto)) => {
                    self.scene.toolbox.deny_by_hook(call);
                    self.run.veto(*position, veto);
                }
                None => self.mind_limit(),
            }
        }
        self.run.answered(reply);
        let told = self.publish_and_keep_results();
        for ((_, call), result) in calls.iter().zip(&told) {
            self.ask(Box::pin(hooks.after(call, result))).await;
        }
    }

    /// Shows what has happened and returns what tried calls of the terminal tool were told.
    fn publish_and_keep_results(&mut self) -> Vec<ToolResult> {
        let mut told = Vec::new();
        for kind in self.run.take_events() {
            if let EventKind::Heard(results) = &kind {
                let tried = results.iter().filter(|result| {
                    result.name == TERMINAL_TOOL && result.status != ToolStatus::Skipped
                });
                told.extend(tried.cloned());
            }
            self.scene.emit(kind);
        }
        told
    }

    /// Asks the hooks whether the user's run may end here; breaks if it may. Only an end in text is
    /// theirs to refuse, any other they are told of.
    pub(super) async fn may_end(&mut self) -> ControlFlow<()> {
        if self.scene.parent.is_some() {
            return ControlFlow::Break(());
        }
        if self.objections >= OBJECTIONS || !self.run.ends_in_text() {
            self.drain().await;
            self.tell_end().await;
            return ControlFlow::Break(());
        }
        let hooks = &self.scene.agent.hooks;
        let Some(Err(Veto { why, .. })) = self.ask(Box::pin(hooks.stop())).await else {
            return ControlFlow::Break(());
        };
        self.objections += 1;
        self.run.object(why);
        ControlFlow::Continue(())
    }

    /// Tells the hooks of an end that is final.
    async fn tell_end(&mut self) {
        let limit = self.limit.clone();
        let hooks = &self.scene.agent.hooks;
        let overdue = async {
            limit.reached().await;
            sleep(LAST_WORD).await;
        };
        tokio::select! {
            biased;
            told = Box::pin(hooks.stop()) => {
                if told.is_err() {
                    tracing::debug!("a hook objects to an end that is final");
                }
            }
            () = overdue => tracing::warn!("the hooks did not hear of the end in time"),
        }
    }

    /// Waits for hooks, no longer than the run may take. Boxed: most runs have none, and the future
    /// of a process is large.
    async fn ask<T>(&mut self, asked: Pin<Box<impl Future<Output = T>>>) -> Option<T> {
        let limit = self.limit.clone();
        let asked = async {
            tokio::select! {
                biased;
                () = limit.reached() => None,
                said = asked => Some(said),
            }
        };
        self.background.alongside(asked).await
    }
}
