//! Answers that are sent as they grow.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use airtight_fake::Turn;
use serde_json::{Value, json};

use crate::stage::{BAD, GOOD, Stage, TOKEN, chat, good, review};

/// A stream that is read event by event.
pub(crate) struct Stream {
    reader: BufReader<TcpStream>,
    status: u16,
}

impl Stream {
    /// Posts a question; over HTTP/1.0, so that the answer has no frames but its own.
    pub(crate) fn open(stage: &Stage, path: &str, body: &Value) -> Self {
        let mut stream = stage.connect();
        let body = body.to_string();
        let text = format!(
            "POST {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\n\r\n{body}",
            stage.address,
            body.len()
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self { reader, status }
    }

    /// Returns the data of the next event, if there is one.
    pub(crate) fn next(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(data.trim_end().to_owned());
            }
        }
    }

    pub(crate) fn rest(mut self) -> Vec<Value> {
        let next = || self.next();
        std::iter::from_fn(next).map(|it| serde_json::from_str(&it).unwrap_or(json!(it))).collect()
    }
}

/// Posts a question, and returns all events of its answer.
pub(crate) fn events(stage: &Stage, path: &str, asked: &Value) -> Vec<Value> {
    Stream::open(stage, path, asked).rest()
}

fn streaming(model: &str) -> Value {
    let mut asked = chat(model);
    asked["stream"] = json!(true);
    asked
}

pub(crate) fn content(events: &[Value]) -> String {
    let delta = |event: &Value| {
        event["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
    };
    events.iter().map(delta).collect()
}

#[test]
fn what_can_still_conform_is_sent_and_the_end_waits_for_the_verdict() {
    let stage = Stage::new([Turn::text(GOOD).chunk_chars(7).gate(2, "held").usage(100, 20)]);
    let mut asked = streaming("airtight");
    asked["stream_options"] = json!({ "include_usage": true });
    let mut stream = Stream::open(&stage, "/v1/chat/completions", &asked);
    // Pieces that came in together are sent together.
    let mut before: Vec<Value> = Vec::new();
    while content(&before) != r#"{"summary":"fi"# {
        before.push(serde_json::from_str(&stream.next().unwrap()).unwrap());
    }
    assert_eq!(before[0]["choices"][0]["delta"]["role"], "assistant");
    stage.fake.gate("held").open();
    let after = stream.rest();
    assert_eq!(format!("{}{}", content(&before), content(&after)), GOOD);
    let [.., finish, usage, done] = after.as_slice() else { panic!("{after:?}") };
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert_eq!(usage["usage"]["total_tokens"], 120);
    assert_eq!(done, "[DONE]");
}

#[test]
fn a_doomed_answer_is_never_completed() {
    let stage = Stage::new([Turn::text(BAD).chunk_chars(7).forever()]);
    let stream = Stream::open(&stage, "/v1/chat/completions", &streaming("airtight"));
    let events = stream.rest();
    assert_eq!(content(&events), BAD.strip_suffix('}').unwrap());
    let error = &events.last().unwrap()["error"];
    assert_eq!(error["code"], "attempts_exhausted");
    assert_eq!(error["violations"][0]["pointer"], "/score");
    assert!(!events.contains(&json!("[DONE]")));
}

#[test]
fn a_second_answer_goes_on_where_the_first_could_not() {
    let stage = Stage::new([Turn::text(BAD).chunk_chars(7), good().chunk_chars(5)]);
    let stream = Stream::open(&stage, "/v1/chat/completions", &streaming("airtight"));
    let events = stream.rest();
    // What was shown of the first is no beginning of the second.
    assert_eq!(events.last().unwrap()["error"]["code"], "stream_broken");

    let late = r#"{"summary":"fine","scores":1}"#;
    let stage = Stage::new([Turn::text(late).chunk_chars(7), good().chunk_chars(5)]);
    let stream = Stream::open(&stage, "/v1/chat/completions", &streaming("airtight"));
    assert_eq!(content(&stream.rest()), GOOD);
}

#[test]
fn prose_around_an_answer_is_never_sent() {
    let said = format!("Here you are:\n```json\n{GOOD}\n```");
    let stage = Stage::new([Turn::text(said).chunk_chars(5)]);
    let stream = Stream::open(&stage, "/v1/chat/completions", &streaming("airtight"));
    assert_eq!(content(&stream.rest()), GOOD);
}

#[test]
fn a_failure_before_the_first_word_is_told_by_the_status() {
    let stage = Stage::new([Turn::status(500).forever()]);
    let stream = Stream::open(&stage, "/v1/chat/completions", &streaming("airtight"));
    assert_eq!(stream.status, 502);
}

#[test]
fn an_answer_that_is_adapted_comes_whole() {
    let stage = Stage::new([Turn::text(r#"{"value":[1,2]}"#).chunk_chars(3)]);
    let mut asked = streaming("airtight");
    let list = json!({ "type": "array", "items": { "type": "integer" } });
    asked["response_format"]["json_schema"]["schema"] = list;
    let stream = Stream::open(&stage, "/v1/chat/completions", &asked);
    assert_eq!(content(&stream.rest()), "[1,2]");
}

#[test]
fn messages_are_streamed_in_their_order() {
    let stage = Stage::new([good().chunk_chars(7)]);
    let asked = json!({
        "model": "airtight",
        "max_tokens": 500,
        "stream": true,
        "messages": [{ "role": "user", "content": "Review." }],
        "output_config": { "format": { "type": "json_schema", "schema": review() } },
    });
    let events = Stream::open(&stage, "/v1/messages", &asked).rest();
    let mut kinds: Vec<&str> = events.iter().map(|it| it["type"].as_str().unwrap()).collect();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    let text: String = events.iter().filter_map(|it| it["delta"]["text"].as_str()).collect();
    assert_eq!(text, GOOD);
}

#[test]
fn responses_are_streamed_in_their_order() {
    let stage = Stage::new([good().chunk_chars(7)]);
    let asked = json!({
        "model": "airtight",
        "stream": true,
        "input": [{ "role": "user", "content": "Review." }],
        "text": { "format": { "type": "json_schema", "name": "review", "schema": review() } },
    });
    let events = Stream::open(&stage, "/v1/responses", &asked).rest();
    let numbers: Vec<u64> =
        events.iter().map(|it| it["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let last = &events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][0]["content"][0]["text"], GOOD);
    let text: String = events.iter().filter_map(|it| it["delta"].as_str()).collect();
    assert_eq!(text, GOOD);
}
