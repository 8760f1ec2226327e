//! Strings that break things, in every place where a client may put one: they come back as they were.

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{Stage, chat};

const CHAT: &str = "/v1/chat/completions";

/// Strings that programs have stumbled over, of our own collection.
fn strings() -> Vec<String> {
    let mut strings: Vec<String> = serde_json::from_str(include_str!("naughty.json")).unwrap();
    strings.push("long ".repeat(2000));
    strings
}

/// A contract that has `text` for its title, for its only member and for the only value of that.
fn contract(text: &str) -> Value {
    json!({
        "title": text,
        "description": text,
        "type": "object",
        "properties": { text: { "enum": [text], "description": text } },
        "required": [text],
        "additionalProperties": false,
    })
}

fn asking(text: &str) -> Value {
    let mut asked = chat("airtight");
    asked["messages"] = json!([
        { "role": "system", "content": text },
        { "role": "user", "content": text },
    ]);
    asked["response_format"]["json_schema"] =
        json!({ "name": name(text), "schema": contract(text) });
    asked
}

/// Returns a name of `text`: no database takes one with a NUL, and ours none of over 400 bytes.
fn name(text: &str) -> String {
    text.chars().filter(|it| *it != '\0').take(100).collect()
}

/// Claims that some string within `value` contains `text`.
fn holds(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(entries) => entries.iter().any(|it| holds(it, text)),
        Value::Object(members) => members.values().any(|it| holds(it, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns `text` as it is written in an address.
fn in_address(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut address, byte| {
        write!(address, "%{byte:02X}").unwrap();
        address
    })
}

#[test]
fn in_prompts_schemas_and_answers_they_come_back_as_they_were() {
    let answers = strings().into_iter().map(|text| json!({ text.clone(): text }));
    let answers: Vec<Turn> = answers.map(|it| Turn::text(it.to_string())).collect();
    let stage = Stage::new(answers);
    for (at, text) in strings().iter().enumerate() {
        let answer = stage.post(CHAT, &asking(text));
        assert_eq!(answer.status, 200, "{text:?}: {}", answer.body);
        let content = answer.body["choices"][0]["message"]["content"].as_str().unwrap();
        let value: Value = serde_json::from_str(content).unwrap();
        assert_eq!(value, json!({ text.clone(): text }), "{text:?}");
        assert!(holds(&stage.fake.requests()[at].body, text), "{text:?}");
        let run = stage.run(answer.header("airtight-run").unwrap());
        assert_eq!((run.prompt.as_ref(), run.system.as_ref()), (Some(text), Some(text)));
    }
}

#[test]
fn in_streams_they_come_back_as_they_were() {
    let answers = strings().into_iter().map(|text| json!({ text.clone(): text }));
    let answers: Vec<Turn> = answers.map(|it| Turn::text(it.to_string()).chunk_chars(3)).collect();
    let stage = Stage::new(answers);
    for text in strings() {
        let asked = json!({
            "model": "airtight",
            "max_tokens": 5000,
            "stream": true,
            "messages": [{ "role": "user", "content": text }],
            "tools": [{ "name": name(&text), "input_schema": contract(&text) }],
            "tool_choice": { "type": "tool", "name": name(&text) },
        });
        let events = crate::streams::events(&stage, "/v1/messages", &asked);
        assert_eq!(events[1]["content_block"]["name"], json!(name(&text)));
        let pieces = events.iter().filter_map(|it| it["delta"]["partial_json"].as_str());
        let value: Value = serde_json::from_str(&pieces.collect::<String>()).unwrap();
        assert_eq!(value, json!({ text.clone(): text }), "{text:?}");
    }
}

#[test]
fn in_violations_they_come_back_as_they_were() {
    let wrong = strings().into_iter().map(|text| json!({ text: "something else" }));
    let wrong = wrong.flat_map(|it| vec![Turn::text(it.to_string()); 3]);
    let stage = Stage::new(wrong.collect::<Vec<_>>());
    for text in strings() {
        let answer = stage.post(CHAT, &asking(&text));
        assert_eq!(answer.problem(), (422, "attempts_exhausted"), "{text:?}");
        let pointer = answer.body["error"]["violations"][0]["pointer"].as_str().unwrap();
        let member = pointer.strip_prefix('/').unwrap().replace("~1", "/").replace("~0", "~");
        assert_eq!(member, text);
    }
}

#[test]
fn as_models_and_keys_they_are_refused_and_nothing_is_asked() {
    let stage = Stage::new([]);
    for text in strings() {
        let (status, code) = {
            let answer = stage.post(CHAT, &chat(&text));
            (answer.status, answer.problem().1.to_owned())
        };
        assert_eq!((status, code.as_str()), (404, "model_not_found"), "{text:?}");
        let path = format!("/v1/models/{}", in_address(&text.chars().take(20).collect::<String>()));
        let status = stage.get(&path, "").status;
        assert!([400, 404].contains(&status), "{text:?}: {status}");
    }
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn a_name_that_no_database_takes_is_the_clients_to_change() {
    let stage = Stage::new([]);
    let mut asked = chat("airtight");
    asked["response_format"]["json_schema"]["name"] = json!("a\0b");
    assert_eq!(stage.post(CHAT, &asked).problem(), (400, "contract_refused"));
    assert_eq!(stage.fake.requests().len(), 0);
}

#[test]
fn as_members_that_nobody_knows_they_are_named() {
    let stage = Stage::new([crate::stage::good().forever()]);
    for text in strings() {
        let mut asked = chat("airtight");
        asked[text.as_str()] = json!(1);
        let answer = stage.post(CHAT, &asked);
        assert_eq!(answer.status, 200, "{text:?}: {}", answer.body);
        let named = answer.header("airtight-ignored").unwrap();
        let begins: String = text.escape_default().take(20).collect();
        assert!(named.contains(begins.trim()), "{text:?}: {named}");
        assert!(named.is_ascii() && named.len() <= 1100, "{named}");
    }
}
