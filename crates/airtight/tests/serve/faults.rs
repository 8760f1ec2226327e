//! Requests that cannot be answered, and answers that do not conform.

use airtight_fake::Turn;
use serde_json::{Value, json};
use test_case::test_case;

use crate::stage::{BAD, Stage, chat, good};

const CHAT: &str = "/v1/chat/completions";

#[test]
fn an_answer_that_breaks_the_schema_is_an_error_with_what_is_wrong() {
    let stage = Stage::new([Turn::text(BAD).forever()]);
    let answer = stage.post(CHAT, &chat("airtight"));
    assert_eq!(answer.problem(), (422, "attempts_exhausted"));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let error = &answer.body["error"];
    assert_eq!(error["type"], "invalid_request_error");
    assert_eq!(error["violations"][0]["pointer"], "/score");
    let run = stage.run(error["run"].as_str().unwrap());
    assert_eq!(run.summary.outcome.as_deref(), Some("attempts_exhausted"));
    assert_eq!(stage.fake.requests().len(), 3);
}

#[test]
fn a_second_answer_may_do() {
    let stage = Stage::new([Turn::text(BAD), good()]);
    let answer = stage.post(CHAT, &chat("airtight"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("airtight-rung"), Some("re-ask"));
}

#[test]
fn errors_have_the_shape_of_the_vendor() {
    let stage = Stage::new([Turn::text(BAD).forever()]);
    let answer = stage.post(
        "/v1/messages",
        &json!({
            "model": "review",
            "max_tokens": 500,
            "messages": [{ "role": "user", "content": "Review." }],
        }),
    );
    assert_eq!(answer.body["type"], "error");
    assert_eq!(answer.problem(), (422, "attempts_exhausted"));
    assert_eq!(answer.body["error"]["type"], "invalid_request_error");
}

#[test]
fn a_provider_that_fails_is_not_the_clients_fault() {
    let stage = Stage::new([Turn::status(500).forever()]);
    assert_eq!(stage.post(CHAT, &chat("airtight")).problem(), (502, "provider"));
    let stage = Stage::new([Turn::status(401).forever()]);
    let answer = stage.post(CHAT, &chat("airtight"));
    assert_eq!(answer.problem(), (502, "auth"));
    assert!(!answer.body.to_string().contains("key-of-the-test"));
}

#[test]
fn a_schema_that_nothing_satisfies_is_refused_before_anything_is_spent() {
    let stage = Stage::new([good().forever()]);
    let mut asked = chat("airtight");
    asked["response_format"]["json_schema"]["schema"] =
        json!({ "type": "object", "propertees": {} });
    let answer = stage.post(CHAT, &asked);
    assert_eq!(answer.problem(), (400, "contract_refused"));
    assert_eq!(answer.body["error"]["violations"][0]["pointer"], "/propertees");
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test_case("nothing-like-that"; "no contract of that name")]
#[test_case("../review"; "a path")]
#[test_case("@contracts/review.json"; "a file")]
#[test_case("{\"type\":\"object\"}"; "a contract in place")]
#[test_case("embedded:/etc/passwd"; "weights by a path")]
#[test_case(""; "nothing")]
#[test_case("nobody:gpt"; "no such provider")]
#[test_case("qwen-cli:--mcp-config=evil.json"; "a flag of a program")]
fn models_that_are_not_here_are_not_found(model: &str) {
    let stage = Stage::new([good().forever()]);
    assert_eq!(stage.post(CHAT, &chat(model)).problem(), (404, "model_not_found"));
}

#[test]
fn a_model_without_a_key_says_what_to_set_up() {
    let stage = Stage::new([]);
    let answer = stage.post(CHAT, &chat("openai:gpt-5"));
    assert_eq!(answer.problem(), (503, "not_set_up"));
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("there is no key for `openai`"), "{message}");
}

/// Whoever asks a server types no flags.
#[test_case("opencode-cli", "or name it by `AIRTIGHT_VIA_PATH`"; "an agent CLI that is not installed")]
#[test_case("openai-compatible:m", "name it by `providers.openai-compatible.base_url`"; "no address")]
#[test_case("embedded", "name another model by `\"model\": \"PROVIDER:NAME\"`"; "no weights")]
fn what_is_not_set_up_is_told_by_members_variables_and_settings(model: &str, words: &str) {
    let stage = Stage::new([]);
    let answer = stage.post(CHAT, &chat(model));
    assert_eq!(answer.problem(), (503, "not_set_up"));
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.contains(words) && !message.contains("`--"), "{message}");
}

#[test_case(Turn::text(BAD), "raise `AIRTIGHT_REASKS` of the server"; "no answer conforms")]
#[test_case(Turn::status(404), "check the `model` of the request"; "the provider has no such model")]
#[test_case(Turn::status(401), "set another key where the server runs"; "the key is refused")]
fn what_to_do_about_a_failed_run_is_told_by_members_variables_and_settings(
    turn: Turn,
    words: &str,
) {
    let stage = Stage::new([turn.forever()]);
    let answer = stage.post(CHAT, &chat("airtight"));
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.contains(words) && !message.contains("`--"), "{message}");
}

#[test]
fn what_a_model_said_reaches_no_terminal_by_a_message() {
    let stage = Stage::new([Turn::text("\u{1b}cIt is \u{202e}evil.\u{7}").forever()]);
    let answer = stage.post(CHAT, &chat("airtight"));
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("It is ⟨U+202E⟩evil."), "{message}");
    assert!(!message.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{message:?}");
}

#[test]
fn the_parameters_of_a_forced_tool_are_an_object() {
    let stage = Stage::new([]);
    let mut asked = chat("airtight");
    asked.as_object_mut().unwrap().remove("response_format");
    let function = json!({ "name": "list", "parameters": { "type": "array" } });
    asked["tools"] = json!([{ "type": "function", "function": function }]);
    asked["tool_choice"] = json!("required");
    let answer = stage.post(CHAT, &asked);
    assert_eq!(answer.problem(), (400, "invalid_request"));
    assert_eq!(answer.body["error"]["param"], "tools");
}

#[test]
fn a_pattern_that_is_refused_is_to_be_written_otherwise() {
    let stage = Stage::new([]);
    let mut asked = chat("airtight");
    asked["response_format"]["json_schema"]["schema"]["properties"]["summary"]["pattern"] =
        json!("(?=a)");
    let answer = stage.post(CHAT, &asked);
    assert_eq!(answer.problem(), (400, "contract_refused"));
    assert_eq!(answer.body["error"]["violations"][0]["hint"], "rewrite it");
}

fn changed(name: &str, value: Value) -> Value {
    let mut asked = chat("airtight");
    asked[name] = value;
    asked
}

#[test]
fn requests_that_make_no_sense_are_refused_with_their_member() {
    let stage = Stage::new([good().forever()]);
    let picture =
        json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": {} }] }]);
    let tool = json!([{ "type": "function", "function": { "name": "look", "parameters": {} } }]);
    let named =
        |name| json!({ "type": "function", "function": { "name": name, "parameters": {} } });
    for (asked, parameter) in [
        (changed("n", json!(2)), "n"),
        (changed("messages", json!("hello")), "messages"),
        (changed("messages", json!([{ "role": "wizard", "content": "a" }])), "messages"),
        (changed("messages", picture), "messages"),
        (changed("tools", tool), "tools"),
        (changed("tools", json!([named("a"), named("a")])), "tools"),
        (changed("tool_choice", json!("required")), "tool_choice"),
        (changed("tool_choice", json!("banana")), "tool_choice"),
        (changed("response_format", json!("json_object")), "response_format"),
        (changed("temperature", json!("warm")), "temperature"),
        (changed("model", json!(null)), "model"),
        (changed("response_format", json!({ "type": "xml" })), "response_format"),
        (changed("response_format", json!({ "type": "json_schema" })), "response_format"),
    ] {
        let answer = stage.post(CHAT, &asked);
        assert_eq!(answer.problem(), (400, "invalid_request"), "{asked}");
        assert_eq!(answer.body["error"]["param"], parameter, "{asked}");
    }
    for asked in [changed("messages", json!([])), json!([]), json!("text")] {
        assert_eq!(stage.post(CHAT, &asked).problem(), (400, "invalid_request"), "{asked}");
    }
    let asked = changed("response_format", json!({ "type": "text" }));
    assert_eq!(stage.post(CHAT, &asked).problem(), (400, "contract_refused"));
    assert_eq!(stage.fake.requests().len(), 0);
}
