//! Codex. See `docs/wire/codex.md`.
//!
//! There is no field for a structured answer: it is the text of the last message, or what codex left in
//! its file for that if the stream has none. An `error` line is fatal only if no turn is completed after
//! it, and an item that is an error never is.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::codec::Usage;
use crate::excerpt;
use crate::json::Node;

use super::Program;
use super::category::Evidence;
use super::event::{
    Assistant, AssistantMessage, Block, Event, Finish, Init, Place, Retry, System, Told, User,
    UserMessage, Verbatim, Warning,
};
use super::object::{Fields, Object};
use super::output::Joint;
use super::tally::{Failure, Tally, is_usable};

/// How much of what a command printed is told, in characters.
const COMMAND_OUTPUT_LIMIT_CHARS: usize = 65_536;

/// How many commands may be going on.
const STARTED_LIMIT: usize = 1_000;

/// What codex says before it sends a request again.
const RECONNECTING: &str = "Reconnecting...";

/// Reads lines of codex.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Commands that were begun, by the ids of their items.
    started: BTreeSet<String>,
    /// An error that is fatal unless a turn is completed.
    pending: Option<Failure>,
    /// Whether it was said that the output of a command was cut.
    warned_of_cut: bool,
    /// Whether the stream has a message of the model, also one that was taken back.
    has_message: bool,
    /// What codex left in its file for the last message.
    last_message: Option<String>,
}

impl Reader {
    /// Reads a line; nothing comes of one that is not known.
    pub(super) fn read(&mut self, at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
        let root = object.root();
        match root.text("type") {
            Some("thread.started") => vec![began(at, root, tally)],
            Some("turn.started") => {
                *tally.record.harness_metadata.turn_count.get_or_insert(0) += 1;
                tally.begin_turn();
                vec![other(at, object, "turn.started")]
            }
            Some("turn.completed") => vec![self.completed(at, root, tally)],
            Some("turn.failed") => vec![failed(at, root, tally)],
            Some("error") => vec![self.error(at, root, tally)],
            Some("item.started" | "item.updated" | "item.completed") => {
                self.item(at, object, tally)
            }
            _ => Vec::new(),
        }
    }

    fn completed(&mut self, at: Place, root: Node<'_>, tally: &mut Tally) -> Event {
        // The turn went on after it.
        if let Some(failure) = self.pending.take() {
            tally.warn(&format!("error: {}", failure.message));
        }
        let usage = root.object("usage").map(usage).unwrap_or_default();
        tally.record.usage.replace(&usage);
        tally.record.subtype = Some("turn.completed".to_owned());
        tally.result = tally.output.last();
        tally.end(at);
        Event::Result(Box::new(Finish {
            at,
            subtype: tally.record.subtype.clone(),
            is_error: false,
            error: None,
            result: tally.result.clone(),
            structured_output: None,
            stop_reason: None,
            usage,
        }))
    }

    fn error(&mut self, at: Place, root: Node<'_>, tally: &mut Tally) -> Event {
        let message = root.text("message").unwrap_or_default();
        if message.starts_with(RECONNECTING) {
            tally.record.num_retries += 1;
            tally.take_back();
            let message = Some(message.to_owned());
            let retry = Retry { at, attempt: None, status: None, message, pause_ms: None };
            return Event::System(System::Retry(retry));
        }
        self.pending.get_or_insert_with(|| Failure::new(root.text("message"), Evidence::default()));
        Event::System(System::Warning(Warning { at, message: message.to_owned() }))
    }

    fn item(&mut self, at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
        let kind = object.root().text("type").unwrap_or_default();
        let Some(item) = object.root().object("item") else { return Vec::new() };
        let text = item.text("text").unwrap_or_default();
        match (kind, item.text("type")) {
            ("item.completed", Some("agent_message")) => {
                self.has_message = true;
                tally.output.end_turn();
                tally.output.say(text, Joint::Apart);
                vec![said(at, item, Block::Text { text: text.to_owned() })]
            }
            ("item.completed", Some("reasoning")) => {
                vec![said(at, item, Block::Thinking { thinking: text.to_owned() })]
            }
            ("item.completed", Some("error")) => vec![complaint(at, item, tally)],
            ("item.started", Some("command_execution")) => {
                vec![self.command_started(item, at, object, tally)]
            }
            ("item.completed", Some("command_execution")) => {
                let id = item.text("id").unwrap_or_default();
                let mut events = Vec::new();
                if !self.started.remove(id) {
                    events.push(self.command_started(item, at, object, tally));
                    self.started.remove(id);
                }
                events.push(self.command_ended(item, at, tally));
                events
            }
            (_, Some(name)) => vec![other(at, object, &format!("{kind} {name}"))],
            (_, None) => Vec::new(),
        }
    }

    fn command_started(
        &mut self,
        item: Node<'_>,
        at: Place,
        object: &Object,
        tally: &mut Tally,
    ) -> Event {
        let id = item.owned("id").unwrap_or_default();
        tally.record.num_tool_calls += 1;
        if self.started.len() < STARTED_LIMIT && is_usable(&id) {
            self.started.insert(id.clone());
        }
        let command = item.member("command").map_or("null", |command| object.exact(command));
        let input = RawValue::from_string(format!("{{\"command\":{command}}}"));
        let input = input.unwrap_or_else(|_| RawValue::NULL.to_owned());
        said(at, item, Block::ToolUse { id, name: "command_execution".to_owned(), input })
    }

    fn command_ended(&mut self, item: Node<'_>, at: Place, tally: &mut Tally) -> Event {
        tally.output.end_turn();
        let output = item.text("aggregated_output").unwrap_or_default();
        let content = excerpt(output, COMMAND_OUTPUT_LIMIT_CHARS, "");
        if content.len() < output.len() && !self.warned_of_cut {
            self.warned_of_cut = true;
            tally.warn(&format!(
                "command-output-truncated: told up to {COMMAND_OUTPUT_LIMIT_CHARS} characters"
            ));
        }
        let result = Told::ToolResult {
            tool_use_id: item.owned("id").unwrap_or_default(),
            content: content.into_owned(),
            is_error: item.text("status") != Some("completed"),
        };
        let message = UserMessage { content: vec![result] };
        Event::User(User { at, parent_tool_use_id: None, message })
    }

    /// Notes what codex left in its file for the last message.
    pub(super) fn note_last_message(&mut self, text: &str) {
        self.last_message = Some(text.to_owned());
    }

    /// Makes what was not followed by a completed turn fatal, and a message that only the file has the
    /// answer of a turn that was completed.
    pub(super) fn finish(&mut self, tally: &mut Tally) {
        if let Some(failure) = self.pending.take() {
            tally.fail(failure);
        }
        let is_done = tally.record.num_results > 0 && tally.failure.is_none();
        let left = self.last_message.take().filter(|text| !text.trim().is_empty());
        if let Some(text) = left.filter(|_| is_done && !self.has_message) {
            tally.output.say(&text, Joint::Apart);
            tally.result = Some(text);
            tally.warn(
                "last-message-empty: the stream has no message; the answer is the one that codex \
                 left in its file",
            );
        }
    }
}

fn began(at: Place, root: Node<'_>, tally: &mut Tally) -> Event {
    let session_id = root.owned("thread_id");
    if tally.record.session_id.is_none() {
        tally.record.session_id.clone_from(&session_id);
    }
    Event::System(System::Init(Box::new(Init {
        at,
        program: Program::Codex,
        program_version: None,
        session_id,
        model: None,
        cwd: None,
        tools: Vec::new(),
        permission_mode: None,
        api_key_source: None,
    })))
}

fn failed(at: Place, root: Node<'_>, tally: &mut Tally) -> Event {
    let message = root.object("error").and_then(|error| error.text("message"));
    let failure = Failure::new(message, Evidence::default());
    tally.record.subtype = Some("turn.failed".to_owned());
    let finish = Finish {
        at,
        subtype: tally.record.subtype.clone(),
        is_error: true,
        error: Some(failure.message.clone()),
        result: tally.output.last(),
        structured_output: None,
        stop_reason: None,
        usage: Usage::default(),
    };
    tally.fail(failure);
    tally.end(at);
    Event::Result(Box::new(finish))
}

fn said(at: Place, item: Node<'_>, block: Block) -> Event {
    let message =
        AssistantMessage { id: item.owned("id"), content: vec![block], ..Default::default() };
    Event::Assistant(Assistant { at, parent_tool_use_id: None, message })
}

fn other(at: Place, object: &Object, kind: &str) -> Event {
    let value = object.verbatim(object.root());
    Event::System(System::Other(Verbatim { at, kind: kind.to_owned(), value }))
}

/// Notes an item that is an error: advisory, but for events that codex says it dropped.
fn complaint(at: Place, item: Node<'_>, tally: &mut Tally) -> Event {
    let message = item.text("message").unwrap_or_default();
    match dropped_events(message) {
        Some(count) => {
            let sum = tally.record.harness_metadata.dropped_events_count.get_or_insert(0);
            *sum = sum.saturating_add(count);
        }
        None => tally.warn(&format!("item-error: {message}")),
    }
    Event::System(System::Warning(Warning { at, message: message.to_owned() }))
}

/// Reads how many events were dropped: `12 events were dropped …`.
fn dropped_events(message: &str) -> Option<u64> {
    let (count, rest) = message.trim_start().split_once(' ')?;
    let is_told = rest.starts_with("event") && rest.contains("dropped");
    count.parse().ok().filter(|_| is_told)
}

fn usage(node: Node<'_>) -> Usage {
    Usage {
        input_tokens: node.count("input_tokens"),
        output_tokens: node.count("output_tokens"),
        cache_read_input_tokens: node.count("cached_input_tokens"),
        cache_creation_input_tokens: node.count("cache_write_input_tokens"),
        reasoning_tokens: node.count("reasoning_output_tokens"),
    }
}
