//! Requests.

use serde_json::{Map, Value, json};

use super::{REASONING_CONTENT, REASONING_DETAILS};
use crate::codec::fields::Fields;
use crate::codec::object::object;
use crate::codec::replay::{Turn, arguments_text, marked_result, turns};
use crate::codec::{Call, Request};
use crate::message::{Block, Enforcement, Role, ToolChoice, ToolSpec};

/// The beginnings of the names of `OpenAI`'s own models, whose limit has another name than that of
/// the compatible servers.
const OPENAI_FAMILIES: [&str; 6] = ["gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"];

/// `OpenAI`'s open models run on compatible servers.
const OPEN_FAMILY: &str = "gpt-oss";

pub(crate) fn encode(request: &Request) -> Call {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), messages(request));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    if let ToolChoice::Tool(name) = &request.choice {
        body.insert("tool_choice".into(), json!({"type": "function", "function": {"name": name}}));
    }
    if let Some(format) = &request.format {
        let schema = object([
            ("name", json!(format.name)),
            ("schema", Value::clone(&format.schema)),
            ("strict", json!(true)),
        ]);
        let format = object([("type", json!("json_schema")), ("json_schema", schema)]);
        body.insert("response_format".into(), format);
    }
    if let Some(limit) = request.max_output_tokens {
        body.insert(limit_name(&request.model).into(), json!(limit));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    Call { path: "/chat/completions".to_owned(), headers: Vec::new(), body: Value::Object(body) }
}

fn limit_name(model: &str) -> &'static str {
    let is_openai = OPENAI_FAMILIES.iter().any(|family| model.starts_with(family));
    if is_openai && !model.starts_with(OPEN_FAMILY) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    }
}

fn messages(request: &Request) -> Value {
    let mut messages = Vec::new();
    if let Some(system) = request.system.as_ref().filter(|text| !text.is_empty()) {
        messages.push(json!({"role": "system", "content": system}));
    }
    for turn in turns(&request.messages) {
        match turn.role {
            Role::User => user(&turn, &mut messages),
            Role::Assistant => messages.extend(assistant(&turn)),
        }
    }
    Value::Array(messages)
}

fn user(turn: &Turn<'_>, messages: &mut Vec<Value>) {
    for block in &turn.blocks {
        if let Block::Result(result) = block {
            messages.push(json!({
                "role": "tool",
                "tool_call_id": result.call_id,
                "content": marked_result(result),
            }));
        }
    }
    if let Some(text) = text(turn) {
        messages.push(json!({"role": "user", "content": text}));
    }
}

fn assistant(turn: &Turn<'_>) -> Option<Value> {
    let calls: Vec<Value> = turn.blocks.iter().filter_map(|block| call(block)).collect();
    let text = text(turn);
    if calls.is_empty() && text.is_none() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), json!(text));
    if !calls.is_empty() {
        // Servers that want their thoughts back want them with calls; some refuse them elsewhere.
        if let Some(thoughts) = thoughts(turn) {
            message.insert(REASONING_CONTENT.into(), json!(thoughts));
        }
        message.insert("tool_calls".into(), json!(calls));
    }
    let details: Vec<&Value> =
        turn.blocks.iter().filter_map(|block| details(block)).flatten().collect();
    if !details.is_empty() {
        message.insert(REASONING_DETAILS.into(), json!(details));
    }
    Some(Value::Object(message))
}

fn text(turn: &Turn<'_>) -> Option<String> {
    let texts: Vec<&str> = turn
        .blocks
        .iter()
        .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn thoughts(turn: &Turn<'_>) -> Option<String> {
    let texts: Vec<&str> = turn
        .blocks
        .iter()
        .filter_map(|block| if let Block::Thinking(thought) = block { Some(thought) } else { None })
        .filter(|thought| thought.signature.as_deref() == Some(REASONING_CONTENT))
        .map(|thought| thought.text.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn details(block: &Block) -> Option<&[Value]> {
    let Block::Opaque(value) = block else { return None };
    Some(value.items(REASONING_DETAILS)).filter(|items| !items.is_empty())
}

fn call(block: &Block) -> Option<Value> {
    let Block::Call(call) = block else { return None };
    Some(json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments_text(&call.arguments)},
    }))
}

fn tool(tool: &ToolSpec) -> Value {
    let mut function = object([
        ("name", json!(tool.name)),
        ("description", json!(tool.description)),
        ("parameters", Value::clone(&tool.parameters)),
    ]);
    if let (Enforcement::Strict, Value::Object(function)) = (tool.enforcement, &mut function) {
        function.insert("strict".into(), json!(true));
    }
    object([("type", json!("function")), ("function", function)])
}
