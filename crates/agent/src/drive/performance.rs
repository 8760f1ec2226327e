//! One run being performed, a subagent's as well as the user's.

use std::time::Duration;

use airtight_core::message::ToolCall;
use airtight_core::run::{EventKind, Notification, Report, Run, Step};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use super::Agent;
use super::background::Background;
use super::stage::Stage;
use crate::journal::Journal;
use crate::provider::Provider;
use crate::subagent::{AGENT_TOOL, Subagents};
use crate::telemetry;
use crate::toolbox::Toolbox;

/// How long background work may take to end after it was told to: what it says in that time is
/// still part of the record.
const HOLDBACK: Duration = Duration::from_millis(500);

/// What everybody who performs in one run shares.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) agent: &'a Agent,
    /// Who answers.
    pub(crate) provider: &'a Provider,
    pub(crate) stage: &'a dyn Stage,
    /// Who keeps account of the requests.
    pub(crate) journal: Option<&'a dyn Journal>,
    /// The tool call that this is a subagent of.
    pub(crate) parent: Option<&'a str>,
    /// What the model can call.
    pub(crate) toolbox: &'a Toolbox,
}

impl<'a> Scene<'a> {
    /// Returns how `call` is served if it sends a subagent; subagents send none themselves.
    pub(super) fn subagents_for(&self, call: &ToolCall) -> Option<&'a Subagents> {
        let subagents = self.agent.subagents.as_ref()?;
        (self.parent.is_none() && call.name == AGENT_TOOL).then_some(subagents)
    }

    pub(crate) fn emit(&self, kind: EventKind) {
        self.stage.emit(self.parent, kind);
    }
}

/// When to stop, whatever is under way.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) interrupt: CancellationToken,
    pub(super) deadline: Option<Instant>,
}

impl Limit {
    /// Waits until it is time to stop.
    pub(super) async fn reached(&self) {
        let out_of_time = async {
            match self.deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.interrupt.cancelled() => {}
            () = out_of_time => {}
        }
    }

    /// Returns what remains of the wall time.
    pub(super) fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// One run being performed.
pub(crate) struct Performance<'a> {
    pub(super) scene: Scene<'a>,
    pub(super) run: Box<Run>,
    pub(super) limit: Limit,
    /// Cancelled once the run is over, for whatever reason: ends tools and subagents.
    pub(super) work: CancellationToken,
    pub(super) background: Background<'a>,
    /// How often hooks objected to the end.
    pub(super) objections: u8,
    started: Instant,
}

impl<'a> Performance<'a> {
    pub(crate) fn new(scene: Scene<'a>, run: Box<Run>, interrupt: CancellationToken) -> Self {
        let started = Instant::now();
        let deadline = run.wall().and_then(|wall| started.checked_add(wall));
        let work = interrupt.child_token();
        let limit = Limit { interrupt, deadline };
        Self { scene, run, limit, work, background: Background::default(), objections: 0, started }
    }

    /// Counts its time from `started`: a run may have waited for much before its first question.
    pub(super) fn since(mut self, started: Instant) -> Self {
        self.started = started;
        self.limit.deadline = self.run.wall().and_then(|wall| started.checked_add(wall));
        self
    }

    /// Performs the run to its end, seen as `span`.
    pub(crate) async fn perform(self, span: Span) -> Report {
        let report = self.play().instrument(span.clone()).await;
        telemetry::run_ended(&span, &report);
        report
    }

    async fn play(mut self) -> Report {
        loop {
            self.deliver();
            match self.next_step() {
                Step::CallModel(request) => self.converse(*request).await,
                Step::CallTools(calls) => self.call_tools(calls).await,
                Step::Extract(job) => self.extract(*job).await,
                Step::Wait => self.wait().await,
                Step::Done if self.may_end().await.is_break() => break,
                Step::Done => {}
            }
        }
        self.drain().await;
        let elapsed = self.started.elapsed();
        self.run.finish(elapsed)
    }

    /// Tells the run that it was interrupted or has no time left, if so.
    pub(super) fn mind_limit(&mut self) {
        self.run.elapsed(self.started.elapsed());
        if self.limit.interrupt.is_cancelled() {
            self.run.interrupt();
        }
    }

    fn next_step(&mut self) -> Step {
        self.mind_limit();
        let step = self.run.step();
        self.publish();
        step
    }

    /// Shows what the run says has happened.
    pub(super) fn publish(&mut self) {
        for kind in self.run.take_events() {
            self.scene.emit(kind);
        }
    }

    /// Tells the run what background work has said.
    fn deliver(&mut self) {
        for notification in self.background.take_finished() {
            self.run.notified(notification);
        }
        self.publish();
    }

    async fn wait(&mut self) {
        if !self.background.is_working() {
            // Nothing will ever speak again; to wait would be for ever.
            self.run.interrupt();
            return;
        }
        let limit = self.limit.clone();
        tokio::select! {
            biased;
            () = limit.reached() => {}
            () = self.background.advance() => {}
        }
    }

    /// Ends background work, once, and lets it say its last words.
    pub(super) async fn drain(&mut self) {
        self.work.cancel();
        let all_ended = async {
            while self.background.is_working() {
                self.background.advance().await;
            }
        };
        let in_time = timeout(HOLDBACK, all_ended).await.is_ok();
        self.deliver();
        if !in_time {
            for task_id in self.background.abandon() {
                let text = "The task did not end when it was told to.".to_owned();
                let status = "cancelled".to_owned();
                self.run.notified(Notification { task_id, status, text });
            }
            self.publish();
        }
    }
}
