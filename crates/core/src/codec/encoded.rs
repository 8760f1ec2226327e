//! Requests as they leave.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use test_case::test_case;

use super::fixtures::{FOLDERS, read, streams};
use super::{Call, Format, Request, Wire};
use crate::message::{
    Block, Enforcement, Message, Role, Thinking, ToolCall, ToolChoice, ToolResult, ToolSpec,
    ToolStatus,
};

fn assistant(blocks: Vec<Block>) -> Message {
    Message { role: Role::Assistant, blocks }
}

fn user(blocks: Vec<Block>) -> Message {
    Message { role: Role::User, blocks }
}

fn call(id: &str, name: &str, arguments: &str, signature: Option<&str>) -> Block {
    Block::Call(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        signature: signature.map(str::to_owned),
    })
}

fn result(id: &str, name: &str, content: &str, status: ToolStatus) -> Block {
    Block::Result(ToolResult {
        call_id: id.to_owned(),
        name: name.to_owned(),
        content: content.to_owned(),
        status,
    })
}

fn thought(text: &str, signature: Option<&str>) -> Block {
    let signature = signature.map(str::to_owned);
    Block::Thinking(Thinking { text: text.to_owned(), signature })
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"verdict": {"type": "string"}},
        "required": ["verdict"],
        "additionalProperties": false,
    })
}

fn tool(name: &str, enforcement: Enforcement) -> ToolSpec {
    let description = format!("Does {name}.");
    ToolSpec { name: name.to_owned(), description, parameters: schema().into(), enforcement }
}

/// What each provider seals in its own way, and takes from nobody else.
fn seals() -> Vec<Block> {
    vec![
        Block::Opaque(json!({"type": "redacted_thinking", "data": "EmwK"})),
        Block::Opaque(json!({
            "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA",
        })),
        Block::Opaque(json!({"reasoning_details": [{"type": "reasoning.text", "text": "Hm"}]})),
        Block::Opaque(json!({"text": "", "thoughtSignature": "CsMD"})),
    ]
}

/// A conversation with everything in it that can be said.
fn conversation() -> Vec<Message> {
    let mut spoken =
        vec![thought("Not sealed.", None), thought("I should look.", Some("reasoning_content"))];
    spoken.extend(seals());
    spoken.extend([
        Block::Text("Let me look.".to_owned()),
        call("id_a", "read_file", r#"{"path": "a.rs", "limit": 1.0}"#, Some("CtwE")),
        call("call_1", "grep", "not { json", None),
        call("id_c", "now", "", None),
    ]);
    vec![
        Message::user("Review the change."),
        Message::user("Be brief."),
        assistant(spoken),
        user(vec![
            Block::Text("Results follow.".to_owned()),
            result("id_a", "read_file", "fn main() {}", ToolStatus::Done),
            result("call_1", "grep", "bad arguments", ToolStatus::Failed),
        ]),
        user(vec![result("id_c", "now", "", ToolStatus::Failed)]),
        assistant(vec![Block::Text("   ".to_owned()), thought("Cut off.", None)]),
        Message::user("Go on: grüße 🌍."),
    ]
}

fn rich() -> Request {
    Request {
        model: "model-name".to_owned(),
        system: Some("You review code.".to_owned()),
        messages: conversation(),
        tools: vec![
            tool("read_file", Enforcement::Hint),
            tool("structured_output", Enforcement::Strict),
        ],
        choice: ToolChoice::Tool("structured_output".to_owned()),
        format: None,
        examples: Vec::new(),
        max_output_tokens: None,
        temperature: None,
        max_cost: None,
    }
}

fn native() -> Request {
    Request {
        model: "model-name".to_owned(),
        system: None,
        messages: vec![Message::user("Judge it.")],
        tools: Vec::new(),
        choice: ToolChoice::Auto,
        format: Some(Format { name: "verdict".to_owned(), schema: schema().into() }),
        examples: Vec::new(),
        max_output_tokens: Some(1_000),
        temperature: Some(0.5),
        max_cost: None,
    }
}

fn show(call: &Call) -> Value {
    json!({"path": call.path, "headers": call.headers, "body": call.body})
}

#[test]
fn a_rich_conversation_is_sent_as_each_provider_wants_it() {
    for (wire, name) in FOLDERS {
        assert_json_snapshot!(format!("{name}.rich"), show(&wire.encode(&rich())));
    }
}

#[test]
fn native_output_is_asked_for_as_each_provider_wants_it() {
    for (wire, name) in FOLDERS {
        assert_json_snapshot!(format!("{name}.native"), show(&wire.encode(&native())));
    }
}

#[test]
fn what_a_provider_said_goes_back_to_it() {
    for (wire, folder) in FOLDERS {
        for name in ["thinking", "parallel-calls"] {
            let streams = streams(folder);
            let (_, bytes) = streams.iter().find(|(stream, _)| stream == name).unwrap();
            let said = assistant(read(wire, bytes, &[]).reply.blocks);
            let messages = vec![Message::user("Go."), said];
            let request = Request { messages, format: None, ..native() };
            let body = wire.encode(&request).body;
            assert_json_snapshot!(format!("{folder}.replay-{name}"), body);
        }
    }
}

fn body(wire: Wire, request: &Request) -> Value {
    wire.encode(request).body
}

#[test_case("claude-3-haiku-20240307", 4_096)]
#[test_case("claude-3-5-haiku-latest", 8_192)]
#[test_case("claude-opus-4-1", 32_000)]
#[test_case("a-model-of-tomorrow", 32_000)]
fn anthropic_has_a_default_limit_that_the_model_takes(model: &str, expected: u32) {
    let request = Request { model: model.to_owned(), max_output_tokens: None, ..native() };
    assert_eq!(body(Wire::Anthropic, &request)["max_tokens"], expected);
}

#[test_case("gpt-5-mini", "max_completion_tokens")]
#[test_case("o3", "max_completion_tokens")]
#[test_case("gpt-oss:20b", "max_tokens")]
#[test_case("qwen3:8b", "max_tokens")]
fn chat_names_its_limit_as_the_server_knows_it(model: &str, expected: &str) {
    let request = Request { model: model.to_owned(), ..native() };
    assert_eq!(body(Wire::Chat, &request)[expected], 1_000);
}

#[test_case("gpt-5.1", true)]
#[test_case("o4-mini", true)]
#[test_case("gpt-4.1-mini", false)]
#[test_case("gpt-5-chat-latest", false)]
fn sealed_reasoning_is_asked_of_models_that_reason(model: &str, expected: bool) {
    let request = Request { model: model.to_owned(), ..native() };
    assert_eq!(body(Wire::Responses, &request).get("include").is_some(), expected);
}

#[test_case("gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse")]
#[test_case("tunedModels/mine", "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse")]
#[test_case("a?b#c d", "/v1beta/models/a%3Fb%23c%20d:streamGenerateContent?alt=sse")]
fn a_gemini_model_is_part_of_the_path(model: &str, expected: &str) {
    let request = Request { model: model.to_owned(), ..native() };
    assert_eq!(Wire::Gemini.encode(&request).path, expected);
}

#[test]
fn a_single_shot_writes_no_cache() {
    assert!(!body(Wire::Anthropic, &native()).to_string().contains("cache_control"));
}
