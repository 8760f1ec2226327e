//! A second model that looks for the answer in what the first one wrote.

use std::pin::Pin;

use airtight_core::run::{EventKind, Job, Outcome, Report, Run, RunError};
use tokio_util::sync::CancellationToken;

use super::stage::Stage;
use super::{Performance, Scene};
use crate::telemetry::{self, Sender};

/// Stands where subagents have the call that sent them; only the journal is shown it.
pub const EXTRACTOR: &str = "extractor";

impl Performance<'_> {
    /// Performs the extractor's job by a run of its own, and tells this run what it came to.
    pub(super) async fn extract(&mut self, mut job: Job) {
        let scene = self.scene;
        job.policy.budget.wall = self.limit.left();
        let begun = Run::within(&self.run.household(), job);
        let came = match (&scene.agent.extractor, begun) {
            (None, _) => Err(RunError::new(Outcome::Config, "there is no extractor")),
            (Some(_), Err(error)) => Err(error),
            (Some(provider), Ok(run)) => {
                // It has nothing to call: what it reads may tell it to.
                let toolbox = scene.toolbox.only(|_| false);
                let stage = Aside { stage: scene.stage, parent: scene.parent };
                let (stage, toolbox) = (&stage, &toolbox);
                let scene = Scene { provider, stage, toolbox, parent: Some(EXTRACTOR), ..scene };
                let performed = perform(scene, run, self.limit.interrupt.clone());
                Ok(self.background.alongside(performed).await)
            }
        };
        self.run.extracted(came);
    }
}

/// Performs a run inside a run; boxed, because the future of one would hold itself.
fn perform(
    scene: Scene<'_>,
    run: Run,
    interrupt: CancellationToken,
) -> Pin<Box<dyn Future<Output = Report> + Send + '_>> {
    let span = telemetry::run(scene.provider, run.job(), Sender::Agent);
    Box::pin(Performance::new(scene, Box::new(run), interrupt).perform(span))
}

/// A stage on which an extractor works: what it says is told as the attempt that it comes to, so that
/// nobody takes it for what the model said. Only requests that are sent again are told.
struct Aside<'s> {
    stage: &'s dyn Stage,
    parent: Option<&'s str>,
}

impl Stage for Aside<'_> {
    fn emit(&self, _parent_call_id: Option<&str>, kind: EventKind) {
        if matches!(kind, EventKind::Retried(_)) {
            self.stage.emit(self.parent, kind);
        }
    }

    fn number_task(&self) -> u64 {
        self.stage.number_task()
    }
}
