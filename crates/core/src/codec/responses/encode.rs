//! Requests.

use serde_json::{Map, Value, json};

use super::{ENCRYPTED_CONTENT, REASONING};
use crate::codec::fields::Fields;
use crate::codec::object::object;
use crate::codec::replay::{Turn, arguments_text, marked_result, turns};
use crate::codec::{Call, Request};
use crate::message::{Block, Enforcement, Role, ToolChoice, ToolSpec};

/// The beginnings of the names of models that do not reason, and refuse to be asked for its seal.
const WITHOUT_REASONING: [&str; 4] = ["gpt-3.5", "gpt-4", "chatgpt-", "gpt-5-chat"];

pub(crate) fn encode(request: &Request) -> Call {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    if let Some(system) = request.system.as_ref().filter(|text| !text.is_empty()) {
        body.insert("instructions".into(), json!(system));
    }
    body.insert("input".into(), turns(&request.messages).iter().flat_map(items).collect());
    body.insert("stream".into(), json!(true));
    body.insert("store".into(), json!(false));
    if !WITHOUT_REASONING.iter().any(|family| request.model.starts_with(family)) {
        body.insert("include".into(), json!([format!("{REASONING}.{ENCRYPTED_CONTENT}")]));
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    if let ToolChoice::Tool(name) = &request.choice {
        body.insert("tool_choice".into(), json!({"type": "function", "name": name}));
    }
    if let Some(format) = &request.format {
        let format = object([
            ("type", json!("json_schema")),
            ("name", json!(format.name)),
            ("schema", Value::clone(&format.schema)),
            ("strict", json!(true)),
        ]);
        body.insert("text".into(), object([("format", format)]));
    }
    if let Some(limit) = request.max_output_tokens {
        body.insert("max_output_tokens".into(), json!(limit));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), json!(temperature));
    }
    Call { path: "/responses".to_owned(), headers: Vec::new(), body: Value::Object(body) }
}

fn items(turn: &Turn<'_>) -> Vec<Value> {
    let is_spoken = |block: &&Block| matches!(block, Block::Text(_) | Block::Call(_));
    let last_spoken = turn.blocks.iter().rposition(is_spoken).unwrap_or(0);
    turn.blocks
        .iter()
        .enumerate()
        .filter_map(|(at, block)| match block {
            Block::Opaque(value) => (at < last_spoken && is_sealed(value)).then(|| value.clone()),
            Block::Text(text) if text.is_empty() => None,
            Block::Text(text) => Some(message(turn.role, text)),
            Block::Thinking(_) | Block::Session(_) => None,
            Block::Call(call) => Some(json!({
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": arguments_text(&call.arguments),
            })),
            Block::Result(result) => Some(json!({
                "type": "function_call_output",
                "call_id": result.call_id,
                "output": marked_result(result),
            })),
        })
        .collect()
}

fn message(role: Role, text: &str) -> Value {
    let (role, kind) = match role {
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn is_sealed(item: &Value) -> bool {
    item.text("type") == Some(REASONING) && item.words(ENCRYPTED_CONTENT).is_some()
}

fn tool(tool: &ToolSpec) -> Value {
    object([
        ("type", json!("function")),
        ("name", json!(tool.name)),
        ("description", json!(tool.description)),
        ("parameters", Value::clone(&tool.parameters)),
        // Left out, it would mean strict.
        ("strict", json!(tool.enforcement == Enforcement::Strict)),
    ])
}
