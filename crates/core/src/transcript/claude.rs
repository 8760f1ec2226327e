//! Claude Code, and Qwen Code, whose lines differ in a few names. See `docs/wire/claude.md` and
//! `docs/wire/qwen.md`.
//!
//! Each line holds some blocks of a message; those of one `message.id` are one answer. The order of
//! members is free: in newer versions a result does not begin with its `type`.

mod finish;
mod system;

use crate::codec::Usage;
use crate::json::{Kind, Node};
use crate::message::ToolStatus;

use super::delivery::Winner;
use super::event::{
    Assistant, AssistantMessage, Block, Event, Place, Told, User, UserMessage, Verbatim,
};
use super::object::{Fields, Object};
use super::output::Joint;
use super::record::Payload;
use super::tally::Tally;
use super::{Audience, Program};

/// What claude and qwen call the tool that delivers a structured answer.
pub(super) const TERMINAL_TOOLS: [&str; 2] = ["StructuredOutput", "structured_output"];

/// What they call the tool that asks the user.
const ASKING_TOOLS: [&str; 2] = ["AskUserQuestion", "ask_user_question"];

/// What they call the tool that sends a subagent.
const TASK_TOOLS: [&str; 3] = ["Task", "Agent", "agent"];

/// Reads a line; `None` if it is not known. What `audience` does not hear is not told.
pub(super) fn read(
    program: Program,
    at: Place,
    object: &Object,
    tally: &mut Tally,
    audience: Audience,
) -> Option<Vec<Event>> {
    let tell = |event: fn(Place, &Object) -> Event| match audience {
        Audience::Somebody => vec![event(at, object)],
        Audience::Nobody => Vec::new(),
    };
    match object.root().text("type")? {
        "system" => Some(system::read(program, at, object, tally)),
        "assistant" => {
            note_said(at, object, tally);
            Some(tell(said))
        }
        "user" => {
            note_told(program, object, tally);
            Some(tell(told))
        }
        "result" => Some(vec![finish::read(at, object, tally)]),
        "stream_event" => Some(tell(streamed)),
        _ => None,
    }
}

fn streamed(at: Place, object: &Object) -> Event {
    let root = object.root();
    let kind = root.object("event").and_then(|event| event.owned("type"));
    let kind = kind.unwrap_or_default();
    Event::StreamEvent(Verbatim { at, kind, value: object.verbatim(root) })
}

fn said(at: Place, object: &Object) -> Event {
    let root = object.root();
    let message = root.object("message");
    let field = |key: &str| message.and_then(|message| message.owned(key));
    let message = AssistantMessage {
        id: field("id"),
        model: field("model"),
        content: match plain(root) {
            Some(text) => vec![Block::Text { text: text.to_owned() }],
            None => blocks(root).map(|item| block(item, object)).collect(),
        },
        stop_reason: field("stop_reason"),
        usage: message.and_then(|message| message.object("usage")).map(usage),
    };
    let parent_tool_use_id = root.owned("parent_tool_use_id");
    Event::Assistant(Assistant { at, parent_tool_use_id, message })
}

/// Returns the words of a message that has them without blocks.
fn plain(root: Node<'_>) -> Option<&str> {
    root.object("message").and_then(|message| message.text("content"))
}

/// Claims that a message says something that is neither words nor a list of blocks.
fn has_strange_content(root: Node<'_>) -> bool {
    let content = root.object("message").and_then(|message| message.given("content"));
    content.is_some_and(|content| {
        content.kind() != Kind::Array || content.items().any(|item| item.kind() != Kind::Object)
    })
}

/// Returns the blocks of a message, if it has such.
fn blocks(root: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let content = root.object("message").and_then(|message| message.member("content"));
    content.filter(|content| content.kind() == Kind::Array).into_iter().flat_map(Node::items)
}

/// Claims that a line is of the main session: what a subagent says is told to the model that sent it,
/// not to the user.
fn is_of_main_session(root: Node<'_>) -> bool {
    root.text("parent_tool_use_id").is_none()
}

fn note_said(at: Place, object: &Object, tally: &mut Tally) {
    let root = object.root();
    let is_main = is_of_main_session(root);
    let message = root.object("message");
    if let Some(used) = message.and_then(|message| message.object("usage")) {
        tally.meter.note(message.and_then(|message| message.text("id")), &usage(used));
    }
    for item in blocks(root) {
        tally.record.num_tool_calls += u64::from(item.text("type") == Some("tool_use"));
        if is_main {
            note(at, item, object, tally);
        }
    }
    if is_main {
        match plain(root) {
            Some(text) => tally.output.say(text, Joint::Apart),
            None if has_strange_content(root) => tally.output.miss(),
            None => {}
        }
        tally.error_word = root.owned("error").or_else(|| tally.error_word.take());
        let stop = message.and_then(|message| message.owned("stop_reason"));
        tally.record.stop_reason = stop.or_else(|| tally.record.stop_reason.take());
    }
}

/// Notes what a block of the main session means.
fn note(at: Place, item: Node<'_>, object: &Object, tally: &mut Tally) {
    match item.text("type") {
        Some("text") => {
            let text = item.text("text");
            tally.output.say(text.unwrap_or_default(), Joint::Apart);
            if text.is_none() && item.given("text").is_some() {
                tally.output.miss();
            }
        }
        Some("tool_use") => {
            let (id, name) = (item.text("id").unwrap_or_default(), item.text("name"));
            let name = name.unwrap_or_default();
            // A call without arguments delivers nothing.
            if TERMINAL_TOOLS.contains(&name)
                && let Some(input) = item.given("input")
            {
                tally.delivery.call(id, Payload::of_call(at, object.verbatim(input)));
            }
            tally.asked_user |= ASKING_TOOLS.contains(&name);
            if TASK_TOOLS.contains(&name) && runs_in_background(item) {
                tally.launch(id);
            }
        }
        _ => {}
    }
}

/// Claims that the arguments of a task say `"run_in_background": true`, literally.
fn runs_in_background(item: Node<'_>) -> bool {
    item.object("input").and_then(|input| input.flag("run_in_background")) == Some(true)
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

fn told(at: Place, object: &Object) -> Event {
    let root = object.root();
    let content = match plain(root) {
        Some(text) => vec![Told::Text { text: text.to_owned() }],
        None => blocks(root).map(|item| told_block(item, object)).collect(),
    };
    let parent_tool_use_id = root.owned("parent_tool_use_id");
    Event::User(User { at, parent_tool_use_id, message: UserMessage { content } })
}

fn note_told(program: Program, object: &Object, tally: &mut Tally) {
    let root = object.root();
    if !is_of_main_session(root) {
        return;
    }
    tally.output.end_turn();
    let winner = if program == Program::Qwen { Winner::First } else { Winner::Last };
    for item in blocks(root).filter(|item| item.text("type") == Some("tool_result")) {
        let status = if is_error(item) { ToolStatus::Failed } else { ToolStatus::Done };
        tally.delivery.settle(item.text("tool_use_id").unwrap_or_default(), status, winner);
    }
}

/// Claims that a tool failed: only a literal `true` says so.
fn is_error(item: Node<'_>) -> bool {
    item.flag("is_error") == Some(true)
}

fn told_block(item: Node<'_>, object: &Object) -> Told {
    match item.text("type") {
        Some("text") => Told::Text { text: item.owned("text").unwrap_or_default() },
        Some("tool_result") => Told::ToolResult {
            tool_use_id: item.owned("tool_use_id").unwrap_or_default(),
            content: item.member("content").map(|it| flat(it, object)).unwrap_or_default(),
            is_error: is_error(item),
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
