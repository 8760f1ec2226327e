//! Chat Completions before the watch: another process leads it, on the same ledger.

use std::io::Write as _;

use airtight_fake::Turn;
use serde_json::{Value, json};
use test_case::test_case;

use crate::asked::{Watch, healthy, staged};
use crate::stage::{Answer, Backstage, Stage, TOKEN};
use crate::streams::{Stream, content, events};

const CHAT: &str = "/v1/chat/completions";

/// What is asked here, which no prompt of a tier says.
const ASKED: &str = "Look at the shop";

fn chat(model: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": ASKED }] })
}

fn streaming(model: &str) -> Value {
    let mut asked = chat(model);
    asked["stream"] = json!(true);
    asked
}

fn answered(answer: &Answer) -> &str {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["choices"][0]["message"]["content"].as_str().unwrap()
}

/// Starts a watch, and waits until it has nothing to do.
fn idle(stage: &Stage) -> Watch {
    let mut watch = Watch::start(stage);
    watch.await_notice("chain_ended");
    watch
}

/// Makes a stage whose watch looks once by itself, and then says this.
fn saying(script: Vec<Turn>) -> Stage {
    let asked = script.into_iter().map(|turn| turn.when_contains(ASKED));
    staged([healthy().when_lacks(ASKED)].into_iter().chain(asked).collect(), &[])
}

/// CO-106: role, text and calls as the session goes on, its summary, and the end.
#[test]
fn co_106_what_a_session_says_and_does_is_streamed() {
    let command = json!({ "command": "true" });
    let looks = Turn::text("I am on it.").then_call("run_shell_command", command);
    let stage = saying(vec![looks, healthy().gate(0, "asked")]);
    let _watch = idle(&stage);
    let mut stream = Stream::open(&stage, CHAT, &streaming("watch-tier1"));
    let mut before: Vec<Value> = Vec::new();
    let call = loop {
        before.push(serde_json::from_str(&stream.next().unwrap()).unwrap());
        let call = &before.last().unwrap()["choices"][0]["delta"]["tool_calls"][0];
        if !call.is_null() {
            break call.clone();
        }
    };
    assert_eq!(before[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(content(&before), "I am on it.");
    assert_eq!((&call["index"], &call["type"]), (&json!(0), &json!("function")));
    let function = json!({ "name": "run_shell_command", "arguments": r#"{"command":"true"}"# });
    assert_eq!(call["function"], function);
    stage.fake.gate("asked").open();
    let after = stream.rest();
    assert_eq!(content(&after), "\n\nall is well");
    let [.., finish, done] = after.as_slice() else { panic!("{after:?}") };
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert_eq!(done, "[DONE]");
}

/// CO-106: what the user said last is all that is asked, at the tier that the model names.
#[test]
fn co_106_the_last_message_of_the_user_is_answered_whole() {
    let stage = saying(vec![healthy()]);
    let mut watch = idle(&stage);
    let mut asked = chat("airtight-watch-tier2");
    asked["temperature"] = json!(0.5);
    asked["messages"] = json!([
        { "role": "system", "content": "Answer in verse." },
        { "role": "user", "content": "Sing of autumn" },
        { "role": "user", "content": ASKED },
        { "role": "assistant", "content": "Well" },
    ]);
    let answer = stage.post(CHAT, &asked);
    assert_eq!(answered(&answer), "all is well");
    assert_eq!(answer.body["object"], "chat.completion");
    assert_eq!(answer.body["model"], "airtight-watch-tier2");
    assert_eq!(answer.body["usage"]["total_tokens"], 0);
    assert_eq!(answer.header("airtight-ignored"), Some("messages, temperature"));
    assert_eq!(watch.await_notice("chain_began")["trigger"], "api");
    assert_eq!(watch.await_notice("session_began")["tier"], 2);
    let told = stage.fake.requests()[1].body.to_string();
    assert!(!told.contains("verse") && !told.contains("autumn"), "{told}");
}

/// CO-106, CO-77: no tier begins that may never be started, and the answer says so.
#[test]
fn co_106_a_tier_that_is_never_started_is_told() {
    let file = "max_tier = 1\nlogs = \"logs\"\n[tiers.1]\nmodel = \"anthropic:fake\"\n";
    let arguments = ["serve", "--bind", "127.0.0.1:0", "--token-file", "token.txt"];
    let stage = Backstage::new([healthy(), healthy()]).with("watch.toml", file).serve(&arguments);
    let _watch = idle(&stage);
    let answer = stage.post(CHAT, &chat("watch-tier3"));
    let words = "(tier 3 was asked for: this watch starts none above tier 1.)\n\nall is well";
    assert_eq!(answered(&answer), words);
}

/// CO-106: what a model repeats is told once, and what the watch has to say of a chain stands at its end.
#[test]
fn co_106_what_the_watch_has_to_say_is_told() {
    let stage = saying(vec![Turn::text("I looked.").forever()]);
    let _watch = idle(&stage);
    let answer = stage.post(CHAT, &chat("watch"));
    let words = "I looked.\n\n- warning: tier 1 ended without an answer";
    assert!(answered(&answer).starts_with(words), "{answer:?}");
}

/// CO-106, CO-4: who asks while a chain goes on is told so, and nothing of it is done later.
#[test]
fn co_106_a_watch_that_is_busy_says_so_and_begins_nothing_later() {
    let stage = staged(vec![healthy().gate(0, "asked")], &[]);
    let mut watch = Watch::start(&stage);
    watch.await_notice("session_began");
    let answer = stage.post(CHAT, &chat("watch-tier1"));
    let words = answered(&answer);
    assert!(words.contains("busy") && words.contains("/api/v1/watch/stop"), "{words}");
    let streamed = events(&stage, CHAT, &streaming("watch-tier1"));
    assert_eq!(content(&streamed), words);
    assert_eq!(streamed.last().unwrap(), "[DONE]");
    assert_eq!(stage.get("/api/v1/watch", "").body["waiting"], json!([]));
    stage.fake.gate("asked").open();
    watch.await_notice("waiting");
    assert_eq!(stage.fake.requests().len(), 1);
}

/// CO-106: where nobody watches, that is the answer, and whoever leads next finds nothing to do.
#[test]
fn co_106_where_nobody_watches_that_is_the_answer() {
    let stage = staged(Vec::new(), &[]);
    let answer = stage.post(CHAT, &chat("watch"));
    assert!(answered(&answer).contains("Nobody leads a watch"), "{answer:?}");
    assert_eq!(stage.get("/api/v1/watch", "").body["waiting"], json!([]));
}

/// CO-106: who hangs up stops no chain.
#[test]
fn co_106_a_chain_outlives_its_client() {
    let stage = saying(vec![healthy().gate(0, "asked")]);
    let mut watch = idle(&stage);
    let headers = format!("Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n");
    let mut client = stage.connect();
    let text = stage.posting(CHAT, &headers, &streaming("watch-tier1").to_string());
    client.write_all(text.as_bytes()).unwrap();
    watch.await_notice("session_began");
    drop(client);
    stage.fake.gate("asked").open();
    assert_eq!(watch.await_notice("session_ended")["status"], "completed");
}

/// CO-106: what the watch cannot be asked is refused in the shape of the format, and nothing begins.
#[test_case("messages", &json!([]), "messages"; "no message")]
#[test_case("messages", &json!([{ "role": "assistant", "content": "Hm" }]), "messages"; "none of the user")]
#[test_case("messages", &json!([{ "role": "tool", "content": "Hm" }]), "messages"; "the result of a tool")]
#[test_case("messages", &json!([{ "role": "user", "content": " " }]), "messages"; "nothing to do")]
#[test_case("messages", &json!([{ "role": "user", "content": "x".repeat(10_001) }]), "messages"; "too much to do")]
#[test_case("response_format", &json!({ "type": "json_object" }), "response_format"; "an object")]
#[test_case("response_format", &json!({ "type": "json_schema", "json_schema": { "schema": {} } }), "response_format"; "a contract")]
fn co_106_what_the_watch_cannot_be_asked_is_refused(member: &str, value: &Value, blamed: &str) {
    let stage = staged(Vec::new(), &[]);
    let mut asked = chat("watch-tier1");
    asked[member] = value.clone();
    let answer = stage.post(CHAT, &asked);
    assert_eq!(answer.problem(), (400, "invalid_request"), "{answer:?}");
    let error = &answer.body["error"];
    assert_eq!(error["type"], "invalid_request_error");
    assert_eq!(error["param"], blamed);
}

/// CO-106: the watch has one format, and a format of text is none of the answer.
#[test]
fn co_106_the_watch_answers_chat_completions_alone() {
    let stage = staged(Vec::new(), &[]);
    let asked = json!({ "model": "watch", "input": ASKED });
    let answer = stage.post("/v1/responses", &asked);
    assert_eq!(answer.problem(), (400, "invalid_request"), "{answer:?}");
    let mut asked = chat("watch");
    asked["response_format"] = json!({ "type": "text" });
    assert_eq!(stage.post(CHAT, &asked).status, 200);
}
