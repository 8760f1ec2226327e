//! What vendors refuse is refused here, and uses up no turn.

use airtight_fake::{Script, Turn, Wire};
use serde_json::{Value, json};
use test_case::test_case;

use crate::ask::{Manner, WIRES, body, path, post, start};

/// Posts `change` over the smallest body and returns the status and what the error says.
async fn verdict(wire: Wire, change: Value) -> (u16, String) {
    let fake = start(Turn::text("fine")).await;
    let mut asked = body(wire, Manner::Whole, "Hello");
    for (key, value) in change.as_object().unwrap() {
        asked[key] = value.clone();
    }
    let response = post(&fake, wire, Manner::Whole, &asked).send().await.unwrap();
    let status = response.status().as_u16();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(fake.remaining(), usize::from(status != 200));
    (status, answer["error"]["message"].as_str().unwrap_or_default().to_owned())
}

fn anthropic_turns(results: &[Value]) -> Value {
    json!({"messages": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "t", "input": {}},
            {"type": "tool_use", "id": "b", "name": "t", "input": {}},
        ]},
        {"role": "user", "content": results},
    ]})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

#[test_case(json!({}), None; "the smallest body")]
#[test_case(json!({"max_tokens": null}), Some("max_tokens: Field required"); "no limit")]
#[test_case(json!({"messages": []}), Some("messages: a list"); "no messages")]
#[test_case(json!({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}),
    Some("must be non-empty"); "an empty text")]
#[test_case(json!({"messages": [{"role": "system", "content": "x"}]}),
    Some("first message"); "a system message")]
#[test_case(json!({"tools": [{"name": "a b", "input_schema": {}}]}),
    Some("tools.0.name"); "a bad name")]
#[test_case(json!({"tools": [{"name": "a"}]}),
    Some("input_schema: Field required"); "a tool without a schema")]
#[test_case(json!({"tools": [{"name": "a", "input_schema": {}}, {"name": "a", "input_schema": {}}]}),
    Some("unique"); "two tools of one name")]
#[test_case(anthropic_turns(&[result("a"), result("b")]), None; "both results")]
#[test_case(anthropic_turns(&[result("a")]),
    Some("without `tool_result` blocks immediately after: b"); "a result is missing")]
#[test_case(anthropic_turns(&[result("a"), result("b"), result("c")]),
    Some("unexpected `tool_use_id`"); "a result of no call")]
#[test_case(json!({"messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "t", "input": {}},
            {"type": "tool_use", "id": "a", "name": "t", "input": {}},
        ]},
        {"role": "user", "content": [result("a"), result("a")]},
    ]}), Some("ids must be unique"); "two calls of one id")]
#[tokio::test]
async fn anthropic_refuses(change: Value, words: Option<&str>) {
    assert_verdict(verdict(Wire::Anthropic, change).await, words);
}

#[test_case("context-management-2025-06-27", 400; "a beta of something else")]
#[test_case("effort-2025-11-24,per-turn-control-2026-07-01", 200; "control of turns")]
#[test_case("mid-conversation-tool-changes-2026-07-01", 200; "changes on the way")]
#[tokio::test]
async fn anthropic_takes_system_messages_on_the_way_only_as_a_beta(betas: &str, status: u16) {
    let fake = start(Turn::text("fine")).await;
    let mut asked = anthropic_turns(&[result("a"), result("b")]);
    let told = json!({"role": "system", "content": "Be brief."});
    asked["messages"].as_array_mut().unwrap().insert(1, told);
    let mut whole = body(Wire::Anthropic, Manner::Whole, "Hello");
    whole["messages"] = asked["messages"].take();
    let sent = post(&fake, Wire::Anthropic, Manner::Whole, &whole).header("anthropic-beta", betas);
    assert_eq!(sent.send().await.unwrap().status().as_u16(), status);
}

fn chat_turns(answers: &[&str]) -> Value {
    let mut messages = vec![
        json!({"role": "user", "content": "Hello"}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}},
        ]}),
    ];
    messages.extend(
        answers.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": "x"})),
    );
    json!({"messages": messages})
}

#[test_case(json!({}), None; "the smallest body")]
#[test_case(json!({"model": ""}), Some("model: Field required"); "no model")]
#[test_case(json!({"messages": [{"role": "robot"}]}), Some("'robot'"); "a role of its own")]
#[test_case(json!({"tools": [{"type": "function", "function": {"name": "a.b"}}]}),
    Some("tools[0].function.name"); "a bad name")]
#[test_case(chat_turns(&["a"]), None; "the result")]
#[test_case(chat_turns(&[]), Some("did not have response messages: a"); "a result is missing")]
#[test_case(chat_turns(&["a", "b"]), Some("must be a response"); "a result of no call")]
#[tokio::test]
async fn chat_refuses(change: Value, words: Option<&str>) {
    assert_verdict(verdict(Wire::Chat, change).await, words);
}

#[test_case(json!({}), None; "the smallest body")]
#[test_case(json!({"input": []}), Some("input: a list"); "no input")]
#[test_case(json!({"tools": [{"type": "function"}]}), Some("tools[0].name"); "no name")]
#[test_case(json!({"input": [{"type": "function_call", "call_id": "a"}]}),
    Some("No tool output found for function call a."); "a result is missing")]
#[test_case(json!({"input": [{"type": "function_call_output", "call_id": "a"}]}),
    Some("No tool call found for function call output with call_id a."); "a result of no call")]
#[tokio::test]
async fn responses_refuses(change: Value, words: Option<&str>) {
    assert_verdict(verdict(Wire::Responses, change).await, words);
}

fn gemini_turns(results: usize) -> Value {
    let call = json!({"functionCall": {"name": "t", "args": {}}});
    let result = json!({"functionResponse": {"name": "t", "response": {}}});
    let user: Vec<Value> =
        (0..results).map(|_| result.clone()).chain([json!({"text": "and?"})]).collect();
    json!({"contents": [
        {"role": "user", "parts": [{"text": "Hello"}]},
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": user},
    ]})
}

#[test_case(json!({}), None; "the smallest body")]
#[test_case(json!({"contents": []}), Some("contents: a list"); "no contents")]
#[test_case(json!({"contents": [{"role": "user", "parts": []}]}), Some("parts"); "no parts")]
#[test_case(json!({"contents": [{"role": "robot", "parts": [{"text": "x"}]}]}),
    Some("valid role"); "a role of its own")]
#[test_case(gemini_turns(2), None; "both results")]
#[test_case(gemini_turns(1), Some("number of function response parts"); "a result is missing")]
#[tokio::test]
async fn gemini_refuses(change: Value, words: Option<&str>) {
    assert_verdict(verdict(Wire::Gemini, change).await, words);
}

fn assert_verdict((status, message): (u16, String), words: Option<&str>) {
    match words {
        None => assert_eq!((status, message.as_str()), (200, "")),
        Some(words) => {
            assert_eq!(status, 400);
            assert!(message.contains(words), "{message}");
        }
    }
}

#[tokio::test]
async fn a_key_is_demanded_where_no_compatible_server_does_without() {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for wire in WIRES {
        let fake = start(Turn::text("fine")).await;
        let url = format!("{}{}", fake.anthropic_base(), path(wire, Manner::Whole));
        let asked = client.post(url).json(&body(wire, Manner::Whole, "Hello"));
        let status = asked.send().await.unwrap().status();
        assert_eq!(status, if wire == Wire::Chat { 200 } else { 401 }, "{wire:?}");
    }
}

#[tokio::test]
async fn unchecked_scripts_take_anything() {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let fake = start(Script::new([Turn::text("fine")]).unchecked()).await;
    let asked = client.post(format!("{}/v1/messages", fake.anthropic_base())).body("not JSON");
    assert_eq!(asked.send().await.unwrap().status(), 200);
    assert_eq!(
        (&fake.requests()[0].body, &fake.requests()[0].bytes[..]),
        (&Value::Null, &b"not JSON"[..])
    );
}
