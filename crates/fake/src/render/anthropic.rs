//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Event, Occasion, argument_object};
use crate::pace::Load::{Content, Frame};
use crate::turn::{Call, Piece, Say, Stop, Usage};

/// Writes an answer as events.
pub(super) fn events(say: &Say, occasion: &Occasion<'_>) -> Vec<Event> {
    let usage = spent(say);
    let mut start = message(occasion, &json!(null), &json!([]));
    // The count of the output only begins here; `message_delta` has the whole.
    put(&mut start, "usage", tokens(&Usage { output: 1, reasoning: 0, ..usage }));
    let mut events = vec![Event::typed(Frame, json!({"type": "message_start", "message": start}))];
    for (index, piece) in say.pieces.iter().enumerate() {
        block(&mut events, occasion, index, piece);
        if index == 0 {
            // Behind the first `content_block_start`, where it usually comes.
            events.insert(2, Event::typed(Frame, json!({"type": "ping"})));
        }
    }
    let stop = say.stop();
    let mut delta = json!({"stop_reason": reason(&stop), "stop_sequence": null});
    if stop == Stop::Refusal {
        put(&mut delta, "stop_details", refusal_details());
    }
    events.push(Event::typed(
        Frame,
        json!({"type": "message_delta", "delta": delta, "usage": tokens(&usage)}),
    ));
    events.push(Event::typed(Frame, json!({"type": "message_stop"})));
    events
}

fn block(events: &mut Vec<Event>, occasion: &Occasion<'_>, index: usize, piece: &Piece) {
    let (start, deltas, trailer) = match piece {
        Piece::Text { text } | Piece::Refusal { text } => (
            json!({"type": "text", "text": ""}),
            deltas(occasion, text, "text_delta", "text"),
            None,
        ),
        Piece::Thinking { text, signature } => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas(occasion, text, "thinking_delta", "thinking"),
            Some(json!({"type": "signature_delta", "signature": seal(signature.as_deref())})),
        ),
        Piece::Call(call) => (
            json!({
                "type": "tool_use",
                "id": occasion.call_id("toolu_", index, call),
                "name": call.name,
                "input": {},
            }),
            deltas(occasion, &call.arguments, "input_json_delta", "partial_json"),
            None,
        ),
    };
    let delta = |load, delta: Value| {
        Event::typed(load, json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    events.push(Event::typed(
        Frame,
        json!({"type": "content_block_start", "index": index, "content_block": start}),
    ));
    if matches!(piece, Piece::Call(_)) {
        // Arguments always begin with an empty piece.
        events.push(delta(Frame, json!({"type": "input_json_delta", "partial_json": ""})));
    }
    events.extend(deltas.into_iter().map(|content| delta(Content, content)));
    events.extend(trailer.map(|content| delta(Frame, content)));
    events.push(Event::typed(Frame, json!({"type": "content_block_stop", "index": index})));
}

fn deltas(occasion: &Occasion<'_>, text: &str, kind: &str, field: &str) -> Vec<Value> {
    let chunks = occasion.chunks(text).into_iter();
    chunks.map(|chunk| json!({"type": kind, field: chunk})).collect()
}

/// Writes an answer as one document.
pub(super) fn document(say: &Say, occasion: &Occasion<'_>) -> Value {
    let blocks: Vec<Value> = say
        .pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| match piece {
            Piece::Text { text } | Piece::Refusal { text } => json!({"type": "text", "text": text}),
            Piece::Thinking { text, signature } => json!({
                "type": "thinking",
                "thinking": text,
                "signature": seal(signature.as_deref()),
            }),
            Piece::Call(call) => tool_use(occasion, index, call),
        })
        .collect();
    let stop = say.stop();
    let mut message = message(occasion, &json!(reason(&stop)), &Value::Array(blocks));
    if stop == Stop::Refusal {
        put(&mut message, "stop_details", refusal_details());
    }
    put(&mut message, "usage", tokens(&spent(say)));
    message
}

fn tool_use(occasion: &Occasion<'_>, index: usize, call: &Call) -> Value {
    json!({
        "type": "tool_use",
        "id": occasion.call_id("toolu_", index, call),
        "name": call.name,
        "input": argument_object(call).unwrap_or_else(|| json!({})),
    })
}

fn message(occasion: &Occasion<'_>, stop: &Value, content: &Value) -> Value {
    json!({
        "id": occasion.id("msg_", 0),
        "type": "message",
        "role": "assistant",
        "model": occasion.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
    })
}

fn put(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}

fn seal(signature: Option<&str>) -> &str {
    signature.unwrap_or("ZmFrZSBzZWFs")
}

fn refusal_details() -> Value {
    json!({"type": "refusal", "category": null, "explanation": null})
}

fn reason(stop: &Stop) -> &str {
    match stop {
        Stop::EndTurn => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Other(word) => word,
    }
}

/// Returns what the answer cost; this format cannot leave it out.
fn spent(say: &Say) -> Usage {
    say.usage.unwrap_or(Usage { input: 0, output: 0, ..Usage::default() })
}

fn tokens(usage: &Usage) -> Value {
    let mut tokens = json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    });
    if usage.reasoning > 0 {
        put(&mut tokens, "output_tokens_details", json!({"thinking_tokens": usage.reasoning}));
    }
    tokens
}
