//! `OpenAI` Chat Completions, and the servers compatible with it.

use serde_json::{Map, Value, json};

use super::{CREATED, Event, Occasion};
use crate::pace::Load::{self, Content, Frame};
use crate::turn::{Piece, Say, Stop, Usage};

/// Writes an answer as events.
pub(super) fn events(say: &Say, occasion: &Occasion<'_>) -> Vec<Event> {
    let asked = occasion.body.pointer("/stream_options/include_usage") == Some(&json!(true));
    let usage = say.usage.filter(|_| asked);
    let stream = Stream { occasion, usage };
    let speaks = say.pieces.iter().any(|piece| text_of(piece).is_some());
    let opening = if speaks { json!("") } else { Value::Null };
    let mut events = vec![
        stream.delta(Frame, json!({"role": "assistant", "content": opening, "refusal": null})),
    ];
    let mut calls = 0;
    for piece in &say.pieces {
        match piece {
            Piece::Text { text } => stream.spread(&mut events, text, "content"),
            // OpenAI does not show thoughts here; the servers that do have this field.
            Piece::Thinking { text, .. } => {
                stream.spread(&mut events, text, "reasoning_content");
            }
            Piece::Refusal { text } => stream.spread(&mut events, text, "refusal"),
            Piece::Call(call) => {
                events.push(stream.delta(
                    Frame,
                    json!({"tool_calls": [{
                        "index": calls,
                        "id": occasion.call_id("call_", calls, call),
                        "type": "function",
                        "function": {"name": call.name, "arguments": ""},
                    }]}),
                ));
                events.extend(occasion.chunks(&call.arguments).into_iter().map(|chunk| {
                    stream.delta(
                        Content,
                        json!({"tool_calls": [{"index": calls, "function": {"arguments": chunk}}]}),
                    )
                }));
                calls += 1;
            }
        }
    }
    events.push(stream.chunk(
        Frame,
        json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": reason(say)}]),
        Value::Null,
    ));
    if let Some(usage) = &usage {
        events.push(stream.chunk(Frame, json!([]), tokens(usage)));
    }
    events
}

struct Stream<'a> {
    occasion: &'a Occasion<'a>,
    usage: Option<Usage>,
}

impl Stream<'_> {
    fn spread(&self, events: &mut Vec<Event>, text: &str, field: &str) {
        let chunks = self.occasion.chunks(text).into_iter();
        events.extend(chunks.map(|chunk| self.delta(Content, json!({field: chunk}))));
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write json!({…}) in place")]
    fn delta(&self, load: Load, delta: Value) -> Event {
        self.chunk(
            load,
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]),
            Value::Null,
        )
    }

    fn chunk(&self, load: Load, choices: Value, usage: Value) -> Event {
        let mut fields = envelope(self.occasion, "chat.completion.chunk");
        fields.insert("choices".to_owned(), choices);
        // Whoever asks for the usage gets the field in every chunk, filled in the last.
        if self.usage.is_some() {
            fields.insert("usage".to_owned(), usage);
        }
        Event::nameless(load, Value::Object(fields))
    }
}

/// Writes an answer as one document.
pub(super) fn document(say: &Say, occasion: &Occasion<'_>) -> Value {
    let joined = |pick: fn(&Piece) -> Option<&str>| {
        let parts: Vec<&str> = say.pieces.iter().filter_map(pick).collect();
        if parts.is_empty() { Value::Null } else { Value::String(parts.concat()) }
    };
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), joined(text_of));
    message.insert("refusal".to_owned(), joined(refusal_of));
    let thought = joined(thought_of);
    if !thought.is_null() {
        message.insert("reasoning_content".to_owned(), thought);
    }
    let calls = tool_calls(say, occasion);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    let mut fields = envelope(occasion, "chat.completion");
    fields.insert(
        "choices".to_owned(),
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": reason(say)}]),
    );
    if let Some(usage) = &say.usage {
        fields.insert("usage".to_owned(), tokens(usage));
    }
    Value::Object(fields)
}

fn tool_calls(say: &Say, occasion: &Occasion<'_>) -> Vec<Value> {
    let calls = say.pieces.iter().filter_map(|piece| match piece {
        Piece::Call(call) => Some(call),
        Piece::Text { .. } | Piece::Thinking { .. } | Piece::Refusal { .. } => None,
    });
    calls
        .enumerate()
        .map(|(index, call)| {
            json!({
                "id": occasion.call_id("call_", index, call),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            })
        })
        .collect()
}

fn text_of(piece: &Piece) -> Option<&str> {
    if let Piece::Text { text } = piece { Some(text) } else { None }
}

fn refusal_of(piece: &Piece) -> Option<&str> {
    if let Piece::Refusal { text } = piece { Some(text) } else { None }
}

fn thought_of(piece: &Piece) -> Option<&str> {
    if let Piece::Thinking { text, .. } = piece { Some(text) } else { None }
}

fn envelope(occasion: &Occasion<'_>, object: &str) -> Map<String, Value> {
    let fields = json!({
        "id": occasion.id("chatcmpl-", 0),
        "object": object,
        "created": CREATED,
        "model": occasion.model,
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    });
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

fn reason(say: &Say) -> String {
    match say.stop() {
        Stop::EndTurn => "stop".to_owned(),
        Stop::ToolUse => "tool_calls".to_owned(),
        Stop::MaxTokens => "length".to_owned(),
        // A model that declines in words stops as usual; a filter has a word of its own.
        Stop::Refusal if say.pieces.iter().any(|piece| refusal_of(piece).is_some()) => {
            "stop".to_owned()
        }
        Stop::Refusal => "content_filter".to_owned(),
        Stop::Other(word) => word,
    }
}

fn tokens(usage: &Usage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "prompt_tokens": input,
        "completion_tokens": usage.output,
        "total_tokens": input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
