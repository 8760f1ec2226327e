//! From what happened to lines.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use airtight_agent::Event;
use airtight_core::codec::{Reply, Stop, Usage as Spent};
use airtight_core::message::{Block as Said, ToolCall, ToolResult, ToolStatus};
use airtight_core::redact::Redactor;
use airtight_core::run::{Attempt as Tried, EventKind, Retry as Again, Rung};
use serde_json::Value;
use serde_json::value::RawValue;

use super::identity::uuid;
use super::partial::Partial;
use super::shapes::{
    Assistant, AssistantMessage, Attempt, Block, Extracting, Harness, Judged, Line, Notification,
    Piece, Retry, StreamEvent, System, Told, Usage, User, UserMessage, Violation,
};

/// Whether pieces of answers are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    Told,
    LeftOut,
}

/// What was said so far, and what the result must know of it.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) session_id: String,
    pieces: Pieces,
    /// What every call of an agent CLI came to.
    harness: Vec<Value>,
    /// The answers that are coming in, by the subagent's call.
    partials: HashMap<Option<String>, Partial>,
    /// Takes out what must not show.
    redactor: Option<Redactor>,
    /// When the model was last waited for.
    since: Instant,
    waited: Duration,
    seen: Seen,
}

/// What is known of a run that never got to its report.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) turns: u32,
    pub(super) retries: u32,
    pub(super) usage: Spent,
}

impl Seen {
    fn count(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Said { reply, .. } => {
                self.turns += u32::from(event.parent_call_id.is_none());
                self.usage.add(&reply.usage);
            }
            EventKind::Retried(retry) => {
                self.retries += 1;
                self.usage.add(&retry.bill.usage());
            }
            // Nobody else tells what it used.
            EventKind::Judged(tried) if tried.rung == Rung::Extract => {
                self.usage.add(&tried.usage);
            }
            EventKind::Began(_)
            | EventKind::Delta(_)
            | EventKind::Heard(_)
            | EventKind::Judged(_)
            | EventKind::Extracting { .. }
            | EventKind::Witnessed(_)
            | EventKind::Recorded(_)
            | EventKind::Notified(_)
            | EventKind::Ended(_) => {}
        }
    }
}

impl Transcript {
    pub(super) fn new(session_id: String, pieces: Pieces) -> Self {
        Self {
            session_id,
            pieces,
            harness: Vec::new(),
            partials: HashMap::new(),
            redactor: None,
            since: Instant::now(),
            waited: Duration::ZERO,
            seen: Seen::default(),
        }
    }

    /// Says that the model is waited for from now on.
    pub(super) fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Takes secrets out of what is told from now on.
    pub(super) fn mask(&mut self, redactor: Redactor) {
        self.redactor = Some(redactor);
    }

    /// Returns `text` without secrets.
    pub(super) fn masked(&self, text: &str) -> String {
        match &self.redactor {
            Some(redactor) => redactor.mask(text).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Returns `value` without secrets.
    pub(super) fn masked_value(&self, mut value: Value) -> Value {
        self.redactor.iter().for_each(|redactor| redactor.mask_value(&mut value));
        value
    }

    /// Returns what is known of a run that never got to its report.
    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// Returns what every call of an agent CLI came to.
    pub(super) fn harness(&self) -> Vec<Value> {
        self.harness.clone()
    }

    /// Returns how long the model was waited for.
    pub(super) fn waited(&self) -> Duration {
        self.waited
    }

    /// Returns the lines that `event` makes.
    pub(super) fn lines(&mut self, event: &Event) -> Vec<Line> {
        let parent = event.parent_call_id.as_ref();
        if let EventKind::Delta(delta) = &event.kind {
            if self.pieces == Pieces::LeftOut {
                return Vec::new();
            }
            let pieces = self.partials.entry(parent.cloned()).or_default().push(delta);
            return self.stream(parent, pieces);
        }
        if let EventKind::Recorded(record) = &event.kind {
            let record = self.record(record);
            self.harness.push(record);
        }
        self.keep_time(event);
        self.seen.count(event);
        let closing = self.partials.get_mut(&parent.cloned()).map(Partial::close);
        let mut lines = self.stream(parent, closing.unwrap_or_default());
        lines.extend(self.whole(event));
        lines
    }

    /// Returns the lines of anything but a delta.
    fn whole(&self, event: &Event) -> Vec<Line> {
        let parent = event.parent_call_id.clone();
        let (uuid, session_id) = (uuid(), self.session_id.clone());
        match &event.kind {
            EventKind::Said { reply, .. } => self.said(parent.as_ref(), reply),
            EventKind::Heard(results) => {
                let content = results.iter().map(|result| self.told(result)).collect();
                let message = UserMessage { role: "user", content };
                vec![Line::User(User { uuid, session_id, parent_tool_use_id: parent, message })]
            }
            EventKind::Judged(tried) => {
                let attempt = self.attempt(tried);
                let judged = Judged { uuid, session_id, parent_tool_use_id: parent, attempt };
                vec![Line::System(System::Attempt(judged))]
            }
            EventKind::Extracting { model } => {
                let model = model.clone();
                let begun = Extracting { uuid, session_id, parent_tool_use_id: parent, model };
                vec![Line::System(System::Extracting(begun))]
            }
            EventKind::Retried(Again { failure, pause, .. }) => {
                vec![Line::System(System::Retry(Retry {
                    uuid,
                    session_id,
                    parent_tool_use_id: parent,
                    status: failure.status,
                    code: failure.code.as_deref().map(|code| self.masked(code)),
                    message: self.masked(&failure.message),
                    pause_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
                }))]
            }
            EventKind::Notified(said) => vec![Line::System(System::Notification(Notification {
                uuid,
                session_id,
                parent_tool_use_id: parent,
                task_id: said.task_id.clone(),
                status: said.status.clone(),
                text: self.masked(&said.text),
            }))],
            EventKind::Witnessed(event) => self.witnessed(event).into_iter().collect(),
            EventKind::Recorded(_) => {
                let record = self.harness.last().cloned().unwrap_or_default();
                vec![Line::System(System::Harness(Harness { uuid, session_id, record }))]
            }
            EventKind::Began(_) | EventKind::Delta(_) | EventKind::Ended(_) => Vec::new(),
        }
    }

    fn stream(&self, parent: Option<&String>, pieces: Vec<Piece>) -> Vec<Line> {
        let line = |event| {
            Line::StreamEvent(StreamEvent {
                uuid: uuid(),
                session_id: self.session_id.clone(),
                parent_tool_use_id: parent.cloned(),
                event,
            })
        };
        pieces.into_iter().map(line).collect()
    }

    /// Returns one message for each run of blocks of one kind.
    fn said(&self, parent: Option<&String>, reply: &Reply) -> Vec<Line> {
        let groups = groups(reply.blocks.iter().filter_map(|block| self.block(block)));
        let last = groups.len().saturating_sub(1);
        let id = reply.id.clone().unwrap_or_else(uuid);
        let line = |(index, content): (usize, Vec<Block>)| {
            let is_last = index == last;
            let all_calls = content.iter().all(|block| matches!(block, Block::ToolUse { .. }));
            let stopped = reply.stop.as_ref().filter(|_| is_last).map(Stop::name);
            let message = AssistantMessage {
                id: id.clone(),
                kind: "message",
                role: "assistant",
                model: reply.model.clone().unwrap_or_default(),
                content,
                stop_reason: match stopped {
                    _ if all_calls => Some(Stop::ToolUse.name().to_owned()),
                    stopped => {
                        stopped.filter(|reason| *reason != Stop::ToolUse.name()).map(str::to_owned)
                    }
                },
                usage: is_last.then(|| Usage::from(&reply.usage)),
            };
            Line::Assistant(Assistant {
                uuid: uuid(),
                session_id: self.session_id.clone(),
                parent_tool_use_id: parent.cloned(),
                message,
            })
        };
        groups.into_iter().enumerate().map(line).collect()
    }

    fn block(&self, block: &Said) -> Option<Block> {
        match block {
            Said::Text(text) => Some(Block::Text { text: self.masked(text) }),
            Said::Thinking(thought) => {
                Some(Block::Thinking { thinking: self.masked(&thought.text) })
            }
            Said::Opaque(value) | Said::Session(value) => {
                Some(Block::Opaque { value: self.masked_value(value.clone()) })
            }
            Said::Call(call) => {
                let (id, name) = (call.id.clone(), call.name.clone());
                Some(Block::ToolUse { id, name, input: self.input(call) })
            }
            Said::Result(_) => None,
        }
    }

    /// Returns the arguments of a call; those of the terminal tool are the answer, told as it is.
    fn input(&self, call: &ToolCall) -> Box<RawValue> {
        let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        self.argument(&call.name, text)
    }

    fn told(&self, result: &ToolResult) -> Told {
        Told::ToolResult {
            tool_use_id: result.call_id.clone(),
            content: self.masked(&result.content),
            is_error: result.status != ToolStatus::Done,
        }
    }

    /// Returns what is told of an attempt; its raw text is in the assistant's messages.
    pub(super) fn attempt(&self, tried: &Tried) -> Attempt {
        let violation = |violation: &airtight_core::Violation| Violation {
            pointer: self.masked(violation.pointer.as_str()),
            keyword: violation.keyword.clone(),
            message: self.masked(&violation.message),
        };
        Attempt {
            ending: tried.ending.clone(),
            model: tried.model.clone(),
            rung: tried.rung,
            violations: tried.violations.list.iter().map(violation).collect(),
            more_violations: tried.violations.more,
            usage: Usage::from(&tried.usage),
            claim: tried.claim,
        }
    }

    /// Counts the time from the last thing that happened to an answer; subagents wait in parallel.
    fn keep_time(&mut self, event: &Event) {
        if event.parent_call_id.is_some() {
            return;
        }
        let now = Instant::now();
        match &event.kind {
            EventKind::Said { .. } | EventKind::Retried(_) => {
                self.waited += now.duration_since(self.since);
            }
            EventKind::Judged(tried) if tried.rung == Rung::Extract => {
                self.waited += now.duration_since(self.since);
            }
            EventKind::Began(_)
            | EventKind::Delta(_)
            | EventKind::Heard(_)
            | EventKind::Judged(_)
            | EventKind::Extracting { .. }
            | EventKind::Notified(_)
            | EventKind::Ended(_) => {}
            // An agent CLI is waited for until its answer is told.
            EventKind::Witnessed(_) | EventKind::Recorded(_) => return,
        }
        self.since = now;
    }
}

/// Splits blocks where their kind changes; texts that follow each other become one.
fn groups(blocks: impl Iterator<Item = Block>) -> Vec<Vec<Block>> {
    let mut groups = Vec::new();
    blocks.for_each(|block| push(&mut groups, block));
    groups
}

fn push(groups: &mut Vec<Vec<Block>>, next: Block) {
    let same = |last: &Block| std::mem::discriminant(last) == std::mem::discriminant(&next);
    let Some(group) = groups.last_mut().filter(|group| group.last().is_some_and(same)) else {
        groups.push(vec![next]);
        return;
    };
    match (group.last_mut(), next) {
        (Some(Block::Text { text }), Block::Text { text: more }) => text.push_str(&more),
        (_, next) => group.push(next),
    }
}
