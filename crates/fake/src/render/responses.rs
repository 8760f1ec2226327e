//! `OpenAI` Responses.

use serde_json::{Value, json};

use super::{CREATED, Event, Occasion};
use crate::pace::Load::{self, Content, Frame};
use crate::turn::{Call, Piece, Say, Stop, Usage};

/// Writes an answer as events.
pub(super) fn events(say: &Say, occasion: &Occasion<'_>) -> Vec<Event> {
    let mut stream = Stream { occasion, events: Vec::new() };
    let begun = response(occasion, "in_progress", &[], None, &Value::Null);
    stream.push(Frame, json!({"type": "response.created", "response": begun}));
    stream.push(Frame, json!({"type": "response.in_progress", "response": begun}));
    for (index, piece) in say.pieces.iter().enumerate() {
        stream.item(index, piece);
    }
    let done = document(say, occasion);
    let kind = match done.get("status") {
        Some(Value::String(status)) if status == "incomplete" => "response.incomplete",
        _ => "response.completed",
    };
    stream.push(Frame, json!({"type": kind, "response": done}));
    stream.events
}

struct Stream<'a> {
    occasion: &'a Occasion<'a>,
    events: Vec<Event>,
}

impl Stream<'_> {
    /// Adds an event with its place in the sequence.
    fn push(&mut self, load: Load, mut data: Value) {
        if let Value::Object(fields) = &mut data {
            fields.insert("sequence_number".to_owned(), json!(self.events.len()));
        }
        self.events.push(Event::typed(load, data));
    }

    fn item(&mut self, index: usize, piece: &Piece) {
        self.push(
            Frame,
            json!({
                "type": "response.output_item.added",
                "output_index": index,
                "item": begun_item(self.occasion, index, piece),
            }),
        );
        match piece {
            Piece::Text { text } => self.part(index, text, "output_text", "text"),
            Piece::Refusal { text } => self.part(index, text, "refusal", "refusal"),
            Piece::Thinking { text, .. } => self.summary(index, text),
            Piece::Call(call) => self.arguments(index, call),
        }
        self.push(
            Frame,
            json!({
                "type": "response.output_item.done",
                "output_index": index,
                "item": item(self.occasion, index, piece),
            }),
        );
    }

    /// Writes the one content part of a message.
    fn part(&mut self, index: usize, text: &str, kind: &str, field: &str) {
        let id = self.occasion.id("msg_", index);
        let place = |kind: String, key: &str, value: Value| {
            json!({
                "type": kind,
                "item_id": id,
                "output_index": index,
                "content_index": 0,
                key: value,
            })
        };
        let with_logprobs = |mut data: Value| {
            if let (Value::Object(fields), "output_text") = (&mut data, kind) {
                fields.insert("logprobs".to_owned(), json!([]));
            }
            data
        };
        let added = place("response.content_part.added".to_owned(), "part", part(kind, ""));
        self.push(Frame, added);
        for chunk in self.occasion.chunks(text) {
            let delta = place(format!("response.{kind}.delta"), "delta", json!(chunk));
            self.push(Content, with_logprobs(delta));
        }
        let done = place(format!("response.{kind}.done"), field, json!(text));
        self.push(Frame, with_logprobs(done));
        let whole = place("response.content_part.done".to_owned(), "part", part(kind, text));
        self.push(Frame, whole);
    }

    fn summary(&mut self, index: usize, text: &str) {
        let id = self.occasion.id("rs_", index);
        let place = |kind: &str, key: &str, value: Value| {
            json!({
                "type": format!("response.reasoning_summary_{kind}"),
                "item_id": id,
                "output_index": index,
                "summary_index": 0,
                key: value,
            })
        };
        let summary = |text: &str| json!({"type": "summary_text", "text": text});
        self.push(Frame, place("part.added", "part", summary("")));
        for chunk in self.occasion.chunks(text) {
            self.push(Content, place("text.delta", "delta", json!(chunk)));
        }
        self.push(Frame, place("text.done", "text", json!(text)));
        self.push(Frame, place("part.done", "part", summary(text)));
    }

    fn arguments(&mut self, index: usize, call: &Call) {
        let id = self.occasion.id("fc_", index);
        for chunk in self.occasion.chunks(&call.arguments) {
            self.push(
                Content,
                json!({
                    "type": "response.function_call_arguments.delta",
                    "item_id": id,
                    "output_index": index,
                    "delta": chunk,
                }),
            );
        }
        self.push(
            Frame,
            json!({
                "type": "response.function_call_arguments.done",
                "item_id": id,
                "output_index": index,
                "arguments": call.arguments,
            }),
        );
    }
}

/// Writes an answer as one document.
pub(super) fn document(say: &Say, occasion: &Occasion<'_>) -> Value {
    let items: Vec<Value> =
        say.pieces.iter().enumerate().map(|(index, piece)| item(occasion, index, piece)).collect();
    let incomplete = |reason: &str| ("incomplete", json!({"reason": reason}));
    let (status, details) = match say.stop() {
        Stop::EndTurn | Stop::ToolUse => ("completed", Value::Null),
        Stop::MaxTokens => incomplete("max_output_tokens"),
        // A model that declines in words completes its answer; a filter does not.
        Stop::Refusal if say.pieces.iter().any(|piece| matches!(piece, Piece::Refusal { .. })) => {
            ("completed", Value::Null)
        }
        Stop::Refusal => incomplete("content_filter"),
        Stop::Other(word) => incomplete(&word),
    };
    response(occasion, status, &items, say.usage.as_ref(), &details)
}

fn response(
    occasion: &Occasion<'_>,
    status: &str,
    output: &[Value],
    usage: Option<&Usage>,
    incomplete: &Value,
) -> Value {
    let asked = |key: &str| occasion.body.get(key).cloned().unwrap_or(Value::Null);
    let or = |value: Value, usual: Value| if value.is_null() { usual } else { value };
    json!({
        "id": occasion.id("resp_", 0),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": incomplete,
        "instructions": asked("instructions"),
        "max_output_tokens": asked("max_output_tokens"),
        "model": occasion.model,
        "output": output,
        "parallel_tool_calls": or(asked("parallel_tool_calls"), json!(true)),
        "previous_response_id": asked("previous_response_id"),
        "reasoning": or(asked("reasoning"), json!({"effort": null, "summary": null})),
        "service_tier": "default",
        "temperature": or(asked("temperature"), json!(1.0)),
        "text": or(asked("text"), json!({"format": {"type": "text"}})),
        "tool_choice": or(asked("tool_choice"), json!("auto")),
        "tools": or(asked("tools"), json!([])),
        "top_p": or(asked("top_p"), json!(1.0)),
        "truncation": "disabled",
        "usage": usage.map(tokens),
        "user": null,
        "metadata": {},
    })
}

fn begun_item(occasion: &Occasion<'_>, index: usize, piece: &Piece) -> Value {
    match piece {
        Piece::Text { .. } | Piece::Refusal { .. } => message(occasion, index, "in_progress", None),
        Piece::Thinking { .. } => {
            json!({"id": occasion.id("rs_", index), "type": "reasoning", "summary": []})
        }
        Piece::Call(call) => function_call(occasion, index, call, ("in_progress", "")),
    }
}

fn item(occasion: &Occasion<'_>, index: usize, piece: &Piece) -> Value {
    match piece {
        Piece::Text { text } => {
            message(occasion, index, "completed", Some(part("output_text", text)))
        }
        Piece::Refusal { text } => {
            message(occasion, index, "completed", Some(part("refusal", text)))
        }
        Piece::Thinking { text, signature } => {
            let mut item = json!({
                "id": occasion.id("rs_", index),
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": text}],
            });
            if let (Value::Object(fields), Some(seal)) = (&mut item, signature) {
                fields.insert("encrypted_content".to_owned(), json!(seal));
            }
            item
        }
        Piece::Call(call) => function_call(occasion, index, call, ("completed", &call.arguments)),
    }
}

fn message(occasion: &Occasion<'_>, index: usize, status: &str, part: Option<Value>) -> Value {
    json!({
        "id": occasion.id("msg_", index),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": Vec::from_iter(part),
    })
}

fn function_call(
    occasion: &Occasion<'_>,
    index: usize,
    call: &Call,
    (status, arguments): (&str, &str),
) -> Value {
    json!({
        "id": occasion.id("fc_", index),
        "type": "function_call",
        "status": status,
        "call_id": occasion.call_id("call_", index, call),
        "name": call.name,
        "arguments": arguments,
    })
}

fn part(kind: &str, text: &str) -> Value {
    match kind {
        "refusal" => json!({"type": "refusal", "refusal": text}),
        _ => json!({"type": kind, "annotations": [], "logprobs": [], "text": text}),
    }
}

fn tokens(usage: &Usage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "input_tokens": input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": input + usage.output,
    })
}
