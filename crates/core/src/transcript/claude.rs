//! Claude Code, and Qwen Code, whose lines differ in a few names. See `docs/wire/claude.md` and
//! `docs/wire/qwen.md`.
//!
//! Each line holds some blocks of a message; those of one `message.id` are one answer. The order of
//! members is free: in newer versions a result does not begin with its `type`.

mod finish;
mod system;

use serde_json::value::RawValue;

use crate::codec::Usage;
use crate::json::{Kind, Node};
use crate::message::ToolStatus;

use super::Program;
use super::delivery::Winner;
use super::event::{
    Assistant, AssistantMessage, Block, Event, Place, Told, User, UserMessage, Verbatim,
};
use super::object::{Fields, Object};
use super::output::Joint;
use super::record::Payload;
use super::tally::Tally;

/// What claude and qwen call the tool that delivers a structured answer.
pub(super) const TERMINAL_TOOLS: [&str; 2] = ["StructuredOutput", "structured_output"];

/// What they call the tool that asks the user.
const ASKING_TOOLS: [&str; 2] = ["AskUserQuestion", "ask_user_question"];

/// What they call the tool that sends a subagent.
const TASK_TOOLS: [&str; 3] = ["Task", "Agent", "agent"];

/// Reads a line; nothing comes of one that is not known.
pub(super) fn read(program: Program, at: Place, object: &Object, tally: &mut Tally) -> Vec<Event> {
    let root = object.root();
    match root.text("type") {
        Some("system") => system::read(program, at, object, tally),
        Some("assistant") => vec![said(at, object, tally)],
        Some("user") => vec![told(program, at, object, tally)],
        Some("result") => vec![finish::read(at, object, tally)],
        Some("stream_event") => {
            let kind = root.object("event").and_then(|event| event.owned("type"));
            let kind = kind.unwrap_or_default();
            vec![Event::StreamEvent(Verbatim { at, kind, value: object.verbatim(root) })]
        }
        _ => Vec::new(),
    }
}

fn said(at: Place, object: &Object, tally: &mut Tally) -> Event {
    let root = object.root();
    let parent_tool_use_id = root.owned("parent_tool_use_id");
    let message = root.object("message");
    let field = |key: &str| message.and_then(|message| message.owned(key));
    let items = message.and_then(|message| message.list("content")).unwrap_or_default();
    let content: Vec<Block> = items.into_iter().map(|item| block(item, object)).collect();
    for block in &content {
        tally.record.num_tool_calls += u64::from(matches!(block, Block::ToolUse { .. }));
        // What a subagent says is told to the model that sent it, not to the user.
        if parent_tool_use_id.is_none() {
            note(at, block, tally);
        }
    }
    let message = AssistantMessage {
        id: field("id"),
        model: field("model"),
        content,
        stop_reason: field("stop_reason"),
        usage: message.and_then(|message| message.object("usage")).map(usage),
    };
    if let Some(usage) = &message.usage {
        tally.meter.note(message.id.as_deref(), usage);
    }
    if parent_tool_use_id.is_none() {
        tally.error_word = root.owned("error").or_else(|| tally.error_word.take());
        let stop = message.stop_reason.clone();
        tally.record.stop_reason = stop.or_else(|| tally.record.stop_reason.take());
    }
    Event::Assistant(Assistant { at, parent_tool_use_id, message })
}

/// Notes what a block of the main session means.
fn note(at: Place, block: &Block, tally: &mut Tally) {
    match block {
        Block::Text { text } => tally.output.say(text, Joint::Apart),
        Block::ToolUse { id, name, input } => {
            // A call without arguments delivers nothing.
            if TERMINAL_TOOLS.contains(&name.as_str()) && input.get() != RawValue::NULL.get() {
                tally.delivery.call(id, Payload::of_call(at, input.clone()));
            }
            tally.asked_user |= ASKING_TOOLS.contains(&name.as_str());
            if TASK_TOOLS.contains(&name.as_str()) && runs_in_background(input.get()) {
                tally.launch(id);
            }
        }
        Block::Thinking { .. } | Block::Opaque { .. } => {}
    }
}

/// Claims that arguments of a task say `"run_in_background": true`, literally.
fn runs_in_background(input: &str) -> bool {
    let input = Object::read(input.as_bytes());
    input.is_ok_and(|input| input.root().flag("run_in_background") == Some(true))
}

fn block(item: Node<'_>, object: &Object) -> Block {
    let text = |key: &str| item.owned(key).unwrap_or_default();
    match item.text("type") {
        Some("text") => Block::Text { text: text("text") },
        Some("thinking") => Block::Thinking { thinking: text("thinking") },
        Some("tool_use") => Block::ToolUse {
            id: text("id"),
            name: text("name"),
            input: object.verbatim_member(item, "input"),
        },
        _ => Block::Opaque { value: object.verbatim(item) },
    }
}

fn told(program: Program, at: Place, object: &Object, tally: &mut Tally) -> Event {
    let root = object.root();
    let parent_tool_use_id = root.owned("parent_tool_use_id");
    let content = root.object("message").and_then(|message| message.member("content"));
    let content: Vec<Told> = match content.map(Node::kind) {
        Some(Kind::String) => {
            let text = content.and_then(Node::as_str).unwrap_or_default().to_owned();
            vec![Told::Text { text }]
        }
        Some(Kind::Array) => {
            content.into_iter().flat_map(Node::items).map(|item| told_block(item, object)).collect()
        }
        Some(Kind::Null | Kind::Boolean | Kind::Number | Kind::Object) | None => Vec::new(),
    };
    if parent_tool_use_id.is_none() {
        tally.output.end_turn();
        for block in &content {
            settle(program, block, tally);
        }
    }
    Event::User(User { at, parent_tool_use_id, message: UserMessage { content } })
}

fn settle(program: Program, block: &Told, tally: &mut Tally) {
    let winner = if program == Program::Qwen { Winner::First } else { Winner::Last };
    if let Told::ToolResult { tool_use_id, is_error, .. } = block {
        let status = if *is_error { ToolStatus::Failed } else { ToolStatus::Done };
        tally.delivery.settle(tool_use_id, status, winner);
    }
}

fn told_block(item: Node<'_>, object: &Object) -> Told {
    match item.text("type") {
        Some("text") => Told::Text { text: item.owned("text").unwrap_or_default() },
        Some("tool_result") => Told::ToolResult {
            tool_use_id: item.owned("tool_use_id").unwrap_or_default(),
            content: item.member("content").map(|it| flat(it, object)).unwrap_or_default(),
            is_error: item.flag("is_error") == Some(true),
        },
        _ => Told::Opaque { value: object.verbatim(item) },
    }
}

/// Returns what a tool answered as one text; as JSON if there is more than text in it.
fn flat(content: Node<'_>, object: &Object) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let text = |item: Node<'_>| item.owned("text").filter(|_| item.text("type") == Some("text"));
    let texts: Option<Vec<String>> = content.items().map(text).collect();
    match texts.filter(|_| content.kind() == Kind::Array) {
        Some(texts) => texts.join("\n"),
        None => object.exact(content).to_owned(),
    }
}

/// Reads tokens. What Anthropic read from its cache comes on top of the input; qwen counts it in.
fn usage(node: Node<'_>) -> Usage {
    let cached = node.count("cache_read_input_tokens");
    let written = node.count("cache_creation_input_tokens");
    let details = node.object("output_tokens_details");
    let is_inclusive = node.member("total_tokens").is_some();
    let cache = cached.unwrap_or(0).saturating_add(written.unwrap_or(0));
    let beyond = if is_inclusive { 0 } else { cache };
    Usage {
        input_tokens: node.count("input_tokens").map(|input| input.saturating_add(beyond)),
        output_tokens: node.count("output_tokens"),
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: written,
        reasoning_tokens: details.and_then(|details| details.count("thinking_tokens")),
    }
}
