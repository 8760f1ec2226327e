//! Requests.

use serde_json::{Map, Value, json};

use super::REDACTED;
use crate::codec::fields::Fields;
use crate::codec::object::object;
use crate::codec::replay::{Turn, arguments_object, result_words, turns};
use crate::codec::{Call, Request};
use crate::message::{Block, Enforcement, Role, ToolChoice, ToolResult, ToolSpec, ToolStatus};

/// The version of the format, which every request names.
const VERSION: &str = "2023-06-01";

/// The most tokens of an answer where the caller sets no limit, by the beginning of the model's
/// name: the provider demands a number and refuses one above the model's own limit.
const MAX_TOKENS: [(&str, u32); 4] =
    [("claude-3-5", 8_192), ("claude-3-7", 64_000), ("claude-3", 4_096), ("", 32_000)];

pub(crate) fn encode(request: &Request) -> Call {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("max_tokens".into(), json!(max_tokens(request)));
    body.insert("stream".into(), json!(true));
    let cache = Cache::of(request);
    if let Some(system) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        let mut block = json!({"type": "text", "text": system});
        cache.prefix.apply(&mut block);
        body.insert("system".into(), Value::Array(vec![block]));
    }
    body.insert("messages".into(), messages(request, &cache));
    if !request.tools.is_empty() {
        body.insert("tools".into(), tools(request, &cache));
    }
    if let ToolChoice::Tool(name) = &request.choice {
        body.insert("tool_choice".into(), json!({"type": "tool", "name": name}));
    }
    if let Some(format) = &request.format {
        let format =
            object([("type", json!("json_schema")), ("schema", Value::clone(&format.schema))]);
        body.insert("output_config".into(), object([("format", format)]));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    Call {
        path: "/v1/messages".to_owned(),
        headers: vec![("anthropic-version", VERSION.to_owned())],
        body: Value::Object(body),
    }
}

fn max_tokens(request: &Request) -> u32 {
    let default = MAX_TOKENS.iter().find(|(family, _)| request.model.starts_with(family));
    request.max_output_tokens.or(default.map(|(_, limit)| *limit)).unwrap_or(4_096)
}

/// What the provider is asked to cache: writing costs more than reading plainly, so only what a
/// later turn will read again.
#[derive(Debug)]
struct Cache {
    /// Tools and instructions.
    prefix: Marking,
    /// The conversation up to here.
    conversation: Marking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marking {
    Marked,
    Plain,
}

impl Cache {
    fn of(request: &Request) -> Self {
        let marked = |claim| if claim { Marking::Marked } else { Marking::Plain };
        let has_answer = request.messages.iter().any(|message| message.role == Role::Assistant);
        Self {
            prefix: marked(!request.tools.is_empty()),
            conversation: marked(!request.tools.is_empty() && has_answer),
        }
    }
}

impl Marking {
    fn apply(self, block: &mut Value) {
        if let (Self::Marked, Value::Object(block)) = (self, block) {
            block.insert("cache_control".into(), json!({"type": "ephemeral"}));
        }
    }
}

fn messages(request: &Request, cache: &Cache) -> Value {
    let mut messages: Vec<(Role, Vec<Value>)> = Vec::new();
    for turn in turns(&request.messages) {
        let content = content(&turn);
        match messages.last_mut() {
            // A turn that had nothing to send may have stood between two of one side.
            Some((role, before)) if *role == turn.role => before.extend(content),
            _ if content.is_empty() => {}
            _ => messages.push((turn.role, content)),
        }
    }
    if let Some((Role::User, content)) = messages.last_mut()
        && let Some(block) = content.last_mut()
    {
        cache.conversation.apply(block);
    }
    let message = |(role, content)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        object([("role", json!(role)), ("content", Value::Array(content))])
    };
    messages.into_iter().map(message).collect()
}

fn content(turn: &Turn<'_>) -> Vec<Value> {
    turn.blocks.iter().filter_map(|block| self::block(block)).collect()
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::Thinking(thought) => thought
            .signature
            .as_ref()
            .map(|seal| json!({"type": "thinking", "thinking": thought.text, "signature": seal})),
        Block::Opaque(value) => (value.text("type") == Some(REDACTED)).then(|| value.clone()),
        Block::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": arguments_object(&call.arguments),
        })),
        Block::Result(result) => Some(tool_result(result)),
        Block::Session(_) => None,
    }
}

fn tool_result(result: &ToolResult) -> Value {
    let content = result_words(result);
    let id = &result.call_id;
    match result.status {
        ToolStatus::Done => json!({"type": "tool_result", "tool_use_id": id, "content": content}),
        ToolStatus::Failed | ToolStatus::Skipped => json!({
            "type": "tool_result",
            "tool_use_id": id,
            "content": content,
            "is_error": true,
        }),
    }
}

fn tools(request: &Request, cache: &Cache) -> Value {
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    // Tools come before the instructions in what is cached: a mark on those covers both.
    if request.system.is_none()
        && let Some(last) = tools.last_mut()
    {
        cache.prefix.apply(last);
    }
    Value::Array(tools)
}

fn tool(tool: &ToolSpec) -> Value {
    let mut encoded = object([
        ("name", json!(tool.name)),
        ("description", json!(tool.description)),
        ("input_schema", Value::clone(&tool.parameters)),
    ]);
    if let (Enforcement::Strict, Value::Object(encoded)) = (tool.enforcement, &mut encoded) {
        encoded.insert("strict".into(), json!(true));
    }
    encoded
}
