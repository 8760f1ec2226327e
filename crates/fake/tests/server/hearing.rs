//! What a client understands of an answer, in neutral words: a second, independent reading of each
//! format.

use airtight_fake::{Usage, Wire};
use serde_json::{Value, json};

use crate::ask::Manner;

/// An answer as a client understands it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) refusal: String,
    /// Name and arguments.
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) stop: String,
    pub(crate) usage: Option<Usage>,
    /// Ids of calls, without the formats' own prefixes.
    pub(crate) ids: Vec<String>,
}

/// Splits an event stream into the data of its events; every name must be its data's type.
pub(crate) fn events(stream: &str) -> Vec<String> {
    let mut events = Vec::new();
    for event in stream.replace("\r\n", "\n").split_terminator("\n\n") {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        if let Some(name) = event.lines().find_map(|line| line.strip_prefix("event: ")) {
            let data: Value = serde_json::from_str(data).unwrap();
            assert_eq!(data["type"], name);
        }
        events.push(data.to_owned());
    }
    events
}

pub(crate) fn hear(wire: Wire, manner: Manner, body: &str) -> Heard {
    let mut heard = Heard::default();
    if manner == Manner::Whole {
        let answer: Value = serde_json::from_str(body).unwrap();
        match wire {
            Wire::Anthropic => anthropic_whole(&mut heard, &answer),
            Wire::Responses => responses_whole(&mut heard, &answer),
            Wire::Chat => chat(&mut heard, &answer, "message"),
            Wire::Gemini => gemini(&mut heard, &answer),
        }
        return heard;
    }
    let mut events = events(body);
    if wire == Wire::Chat {
        assert_eq!(events.pop().unwrap(), "[DONE]");
    }
    for (at, event) in events.iter().enumerate() {
        let event: Value = serde_json::from_str(event).unwrap();
        match wire {
            Wire::Anthropic => anthropic(&mut heard, &event),
            Wire::Responses => {
                assert_eq!(event["sequence_number"], json!(at));
                responses(&mut heard, &event);
            }
            Wire::Chat => chat(&mut heard, &event, "delta"),
            Wire::Gemini => gemini(&mut heard, &event),
        }
    }
    heard
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn anthropic(heard: &mut Heard, event: &Value) {
    match string(&event["type"]) {
        "content_block_start" if event["content_block"]["type"] == "tool_use" => {
            let block = &event["content_block"];
            assert_eq!(block["input"], json!({}));
            heard.calls.push((string(&block["name"]).to_owned(), String::new()));
            heard.ids.push(string(&block["id"]).to_owned());
        }
        "content_block_delta" => {
            let delta = &event["delta"];
            heard.text += string(&delta["text"]);
            heard.thinking += string(&delta["thinking"]);
            if let Some(more) = delta["partial_json"].as_str() {
                heard.calls.last_mut().unwrap().1 += more;
            }
        }
        "message_delta" => {
            string(&event["delta"]["stop_reason"]).clone_into(&mut heard.stop);
            heard.usage = Some(anthropic_usage(&event["usage"]));
        }
        _ => {}
    }
}

fn anthropic_whole(heard: &mut Heard, answer: &Value) {
    for block in answer["content"].as_array().unwrap() {
        heard.text += string(&block["text"]);
        heard.thinking += string(&block["thinking"]);
        if block["type"] == "tool_use" {
            heard.calls.push((string(&block["name"]).to_owned(), block["input"].to_string()));
            heard.ids.push(string(&block["id"]).to_owned());
        }
    }
    string(&answer["stop_reason"]).clone_into(&mut heard.stop);
    heard.usage = Some(anthropic_usage(&answer["usage"]));
}

fn anthropic_usage(usage: &Value) -> Usage {
    Usage {
        input: count(&usage["input_tokens"]),
        output: count(&usage["output_tokens"]),
        cache_read: count(&usage["cache_read_input_tokens"]),
        cache_write: count(&usage["cache_creation_input_tokens"]),
        reasoning: count(&usage["output_tokens_details"]["thinking_tokens"]),
    }
}

fn responses(heard: &mut Heard, event: &Value) {
    let delta = string(&event["delta"]);
    match string(&event["type"]) {
        "response.output_text.delta" => heard.text += delta,
        "response.refusal.delta" => heard.refusal += delta,
        "response.reasoning_summary_text.delta" => heard.thinking += delta,
        "response.function_call_arguments.delta" => heard.calls.last_mut().unwrap().1 += delta,
        "response.output_item.added" if event["item"]["type"] == "function_call" => {
            heard.calls.push((string(&event["item"]["name"]).to_owned(), String::new()));
            heard.ids.push(string(&event["item"]["call_id"]).to_owned());
        }
        "response.completed" | "response.incomplete" => {
            let mut whole = Heard::default();
            responses_whole(&mut whole, &event["response"]);
            heard.stop.clone_from(&whole.stop);
            heard.usage = whole.usage;
            assert_eq!(*heard, whole, "the last event repeats the whole answer");
        }
        _ => {}
    }
}

fn responses_whole(heard: &mut Heard, answer: &Value) {
    for item in answer["output"].as_array().unwrap() {
        for part in item["content"].as_array().into_iter().flatten() {
            heard.text += string(&part["text"]);
            heard.refusal += string(&part["refusal"]);
        }
        for part in item["summary"].as_array().into_iter().flatten() {
            heard.thinking += string(&part["text"]);
        }
        if item["type"] == "function_call" {
            let arguments = string(&item["arguments"]).to_owned();
            heard.calls.push((string(&item["name"]).to_owned(), arguments));
            heard.ids.push(string(&item["call_id"]).to_owned());
        }
    }
    let why = answer["incomplete_details"]["reason"].as_str();
    why.unwrap_or(string(&answer["status"])).clone_into(&mut heard.stop);
    let usage = &answer["usage"];
    heard.usage = usage.is_object().then(|| {
        let details = &usage["input_tokens_details"];
        openai_usage(
            (count(&usage["input_tokens"]), details),
            (count(&usage["output_tokens"]), &usage["output_tokens_details"]),
        )
    });
}

fn openai_usage((input, details): (u64, &Value), (output, spent): (u64, &Value)) -> Usage {
    let cache_read = count(&details["cached_tokens"]);
    let cache_write = count(&details["cache_write_tokens"]);
    Usage {
        input: input - cache_read - cache_write,
        output,
        cache_read,
        cache_write,
        reasoning: count(&spent["reasoning_tokens"]),
    }
}

fn chat(heard: &mut Heard, answer: &Value, field: &str) {
    let choice = &answer["choices"][0];
    let said = &choice[field];
    heard.text += string(&said["content"]);
    heard.refusal += string(&said["refusal"]);
    heard.thinking += string(&said["reasoning_content"]);
    for (at, call) in said["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let index = call["index"].as_u64().map_or(at, |index| usize::try_from(index).unwrap());
        if index == heard.calls.len() {
            assert_eq!(call["type"], "function");
            heard.calls.push((string(&call["function"]["name"]).to_owned(), String::new()));
            heard.ids.push(string(&call["id"]).to_owned());
        }
        heard.calls[index].1 += string(&call["function"]["arguments"]);
    }
    heard.stop += string(&choice["finish_reason"]);
    let usage = &answer["usage"];
    if usage.is_object() {
        heard.usage = Some(openai_usage(
            (count(&usage["prompt_tokens"]), &usage["prompt_tokens_details"]),
            (count(&usage["completion_tokens"]), &usage["completion_tokens_details"]),
        ));
    }
}

fn gemini(heard: &mut Heard, answer: &Value) {
    let candidate = &answer["candidates"][0];
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        if part["thought"] == true {
            heard.thinking += string(&part["text"]);
        } else {
            heard.text += string(&part["text"]);
        }
        if let Some(call) = part.get("functionCall") {
            heard.calls.push((string(&call["name"]).to_owned(), call["args"].to_string()));
            heard.ids.extend(call["id"].as_str().map(str::to_owned));
        }
    }
    heard.stop += string(&candidate["finishReason"]);
    heard.refusal += string(&candidate["finishMessage"]);
    let usage = &answer["usageMetadata"];
    heard.usage = usage.is_object().then(|| {
        let cache_read = count(&usage["cachedContentTokenCount"]);
        let reasoning = count(&usage["thoughtsTokenCount"]);
        Usage {
            input: count(&usage["promptTokenCount"]) - cache_read,
            output: count(&usage["candidatesTokenCount"]) + reasoning,
            cache_read,
            cache_write: 0,
            reasoning,
        }
    });
}
