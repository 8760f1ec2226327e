//! The loop that does what a run says.
//!
//! A run decides, this performs: it asks the model, runs tools and subagents, keeps time and
//! budgets, and tells an observer what happens. Everything of one run happens on the task that
//! awaits [`Agent::drive`]: dropping that future drops connections, tools and subagents with it.

mod background;
mod batch;
mod conversation;
mod extraction;
mod objection;
mod performance;
mod stage;

use std::sync::Arc;
use std::time::Instant;

use airtight_core::message::ToolSpec;
use airtight_core::run::{EventKind, Report, Run};
use tokio_util::sync::CancellationToken;

use crate::hooks::Hooks;
use crate::journal::Journal;
use crate::provider::{Provider, Retries};
use crate::subagent::Subagents;
use crate::telemetry::{self, Sender};
use crate::toolbox::Toolbox;

pub(crate) use batch::{Allowance, Returned, failed};
pub use extraction::EXTRACTOR;
pub(crate) use performance::{Performance, Scene};

/// One thing that happened, stamped.
#[derive(Debug, Clone)]
pub struct Event {
    /// Counts up from 0 within a run, subagents included.
    pub seq: u64,
    /// Unix time.
    pub at_ms: u64,
    /// The tool call of the subagent it happened in.
    pub parent_call_id: Option<String>,
    /// What happened.
    pub kind: EventKind,
}

/// Sees every event of a run, in order: the output, the recording, the ledger.
pub trait Observer: Send {
    /// Takes an event.
    fn event(&mut self, event: &Event);

    /// Returns who keeps account of the requests, if somebody does.
    fn journal(&self) -> Option<Arc<dyn Journal>> {
        None
    }
}

/// Everything a run needs to be performed. It can perform many at the same time.
#[derive(Debug)]
pub struct Agent {
    /// Where the model is.
    pub provider: Provider,
    /// What it can call.
    pub toolbox: Toolbox,
    /// Who may object.
    pub hooks: Hooks,
    /// Whether, and how, it can send others.
    pub subagents: Option<Subagents>,
    /// Who looks for the answer in text that holds none, if the job names somebody.
    pub extractor: Option<Provider>,
    /// How failed requests are sent again.
    pub retries: Retries,
}

impl Agent {
    /// Makes an agent without subagents and extractor.
    pub fn new(provider: Provider, toolbox: Toolbox, hooks: Hooks) -> Self {
        let (subagents, extractor, retries) = (None, None, Retries::default());
        Self { provider, toolbox, hooks, subagents, extractor, retries }
    }

    /// Returns what the model of a job is told it can call: the toolbox, and `agent` if it may.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.toolbox.specs();
        specs.extend(self.subagents.as_ref().map(Subagents::spec));
        specs
    }

    /// Performs `run` to its end; `interrupt` ends it cleanly.
    ///
    /// The observer's last event is [`EventKind::Ended`], and there is exactly one.
    pub fn drive(
        &self,
        run: impl Into<Box<Run>>,
        observer: &mut dyn Observer,
        interrupt: CancellationToken,
    ) -> impl Future<Output = Report> {
        self.drive_since(Instant::now(), run, observer, interrupt)
    }

    /// Does the same for a run that took some of its time already, since `started`.
    pub fn drive_since(
        &self,
        started: Instant,
        run: impl Into<Box<Run>>,
        observer: &mut dyn Observer,
        interrupt: CancellationToken,
    ) -> impl Future<Output = Report> {
        // A future holds what it is given beside what it makes of it, and so does each one within: of
        // a run that would be kilobytes.
        self.perform(started, run.into(), observer, interrupt)
    }

    async fn perform(
        &self,
        started: Instant,
        run: Box<Run>,
        observer: &mut dyn Observer,
        interrupt: CancellationToken,
    ) -> Report {
        let journal = observer.journal();
        let stage = stage::Live::new(observer);
        self.hooks.begin_run();
        let toolbox = self.toolbox.for_a_run().among(run.tools());
        let scene = Scene {
            agent: self,
            provider: &self.provider,
            stage: &stage,
            journal: journal.as_deref(),
            parent: None,
            toolbox: &toolbox,
        };
        let span = telemetry::run(&self.provider, run.job(), Sender::User);
        let performance = Performance::new(scene, run, interrupt).since(started.into());
        let mut report = performance.perform(span).await;
        report.denials = toolbox.denials();
        scene.emit(EventKind::Ended(Box::new(report.clone())));
        report
    }
}
