//! Requests.

use serde_json::{Map, Value, json};

use super::SIGNATURE;
use crate::codec::fields::Fields;
use crate::codec::made_up::is_made_up;
use crate::codec::object::object;
use crate::codec::replay::{Turn, arguments_object, result_words, turns};
use crate::codec::{Call, Request};
use crate::message::{
    Block, Enforcement, Role, ToolCall, ToolChoice, ToolResult, ToolSpec, ToolStatus,
};

pub(crate) fn encode(request: &Request) -> Call {
    let mut body = Map::new();
    if let Some(system) = request.system.as_ref().filter(|text| !text.is_empty()) {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": system}]}));
    }
    body.insert("contents".into(), contents(request));
    if !request.tools.is_empty() {
        let declarations = request.tools.iter().map(tool).collect();
        let tools = object([("functionDeclarations", Value::Array(declarations))]);
        body.insert("tools".into(), Value::Array(vec![tools]));
    }
    if let Some(calling) = calling(request) {
        body.insert("toolConfig".into(), json!({"functionCallingConfig": calling}));
    }
    let generation = generation(request);
    if !generation.is_empty() {
        body.insert("generationConfig".into(), Value::Object(generation));
    }
    Call { path: path(&request.model), headers: Vec::new(), body: Value::Object(body) }
}

/// Returns the path for `model`, which may bring its own collection (`tunedModels/…`).
fn path(model: &str) -> String {
    let mut path = String::from("/v1beta/");
    if !model.contains('/') {
        path.push_str("models/");
    }
    for byte in model.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => {
                path.push(char::from(byte));
            }
            _ => path.extend(format!("%{byte:02X}").chars()),
        }
    }
    path.push_str(":streamGenerateContent?alt=sse");
    path
}

fn contents(request: &Request) -> Value {
    let mut contents: Vec<(Role, Vec<Value>)> = Vec::new();
    for turn in turns(&request.messages) {
        let parts = parts(&turn);
        match contents.last_mut() {
            // A turn that had nothing to send may have stood between two of one side.
            Some((role, before)) if *role == turn.role => before.extend(parts),
            _ if parts.is_empty() => {}
            _ => contents.push((turn.role, parts)),
        }
    }
    let content = |(role, parts)| {
        let role = match role {
            Role::User => "user",
            Role::Assistant => "model",
        };
        object([("role", json!(role)), ("parts", Value::Array(parts))])
    };
    contents.into_iter().map(content).collect()
}

fn parts(turn: &Turn<'_>) -> Vec<Value> {
    turn.blocks.iter().filter_map(|block| part(block)).collect()
}

fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) if text.is_empty() => None,
        Block::Text(text) => Some(json!({"text": text})),
        Block::Thinking(thought) => thought
            .signature
            .as_ref()
            .map(|seal| json!({"text": thought.text, "thought": true, SIGNATURE: seal})),
        Block::Opaque(value) => value.words(SIGNATURE).is_some().then(|| value.clone()),
        Block::Call(call) => Some(function_call(call)),
        Block::Result(result) => Some(function_response(result)),
        Block::Session(_) => None,
    }
}

fn function_call(call: &ToolCall) -> Value {
    let mut function = json!({"name": call.name, "args": arguments_object(&call.arguments)});
    add_id(&mut function, &call.id);
    match &call.signature {
        Some(seal) => json!({"functionCall": function, SIGNATURE: seal}),
        None => json!({"functionCall": function}),
    }
}

fn function_response(result: &ToolResult) -> Value {
    let key = match result.status {
        ToolStatus::Done => "output",
        ToolStatus::Failed | ToolStatus::Skipped => "error",
    };
    let mut function = json!({"name": result.name, "response": {key: result_words(result)}});
    add_id(&mut function, &result.call_id);
    json!({"functionResponse": function})
}

/// Gives an id back to the provider, unless it had none and this codec made it up.
fn add_id(function: &mut Value, id: &str) {
    if let (false, Value::Object(function)) = (is_made_up(id), function) {
        function.insert("id".into(), json!(id));
    }
}

fn tool(tool: &ToolSpec) -> Value {
    object([
        ("name", json!(tool.name)),
        ("description", json!(tool.description)),
        ("parametersJsonSchema", Value::clone(&tool.parameters)),
    ])
}

fn calling(request: &Request) -> Option<Value> {
    let is_strict = |tool: &ToolSpec| tool.enforcement == Enforcement::Strict;
    match &request.choice {
        ToolChoice::Tool(name) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
        // The only way to hold the model to the schemas and leave it the choice.
        ToolChoice::Auto if request.tools.iter().any(is_strict) => {
            Some(json!({"mode": "VALIDATED"}))
        }
        ToolChoice::Auto => None,
    }
}

fn generation(request: &Request) -> Map<String, Value> {
    let mut generation = Map::new();
    if let Some(limit) = request.max_output_tokens {
        generation.insert("maxOutputTokens".into(), json!(limit));
    }
    if let Some(temperature) = request.temperature {
        generation.insert("temperature".into(), json!(temperature));
    }
    if let Some(format) = &request.format {
        generation.insert("responseMimeType".into(), json!("application/json"));
        generation.insert("responseJsonSchema".into(), Value::clone(&format.schema));
    }
    generation
}
