//! Gemini `generateContent`.

use serde_json::{Map, Value, json};

use super::{Event, Occasion, argument_object};
use crate::pace::Load::{Content, Frame};
use crate::turn::{Call, Piece, Say, Stop, Usage};

/// Writes an answer as events. Calls are not streamed in pieces: each comes whole.
pub(super) fn events(say: &Say, occasion: &Occasion<'_>) -> Vec<Event> {
    let chunk = |load, candidate: Value, usage: Option<Value>| {
        Event::nameless(load, envelope(occasion, &candidate, usage))
    };
    // Until the end only the input is counted.
    let so_far = say.usage.map(|usage| tokens(&Usage { output: 0, reasoning: 0, ..usage }));
    let mut events = Vec::new();
    for piece in &say.pieces {
        for part in parts(piece, Some(occasion)) {
            let content = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
            events.push(chunk(Content, content, so_far.clone()));
        }
    }
    let mut last = json!({"content": {"parts": [{"text": ""}], "role": "model"}});
    finish(&mut last, say);
    events.push(chunk(Frame, last, say.usage.as_ref().map(tokens)));
    events
}

/// Writes an answer as one document.
pub(super) fn document(say: &Say, occasion: &Occasion<'_>) -> Value {
    let parts: Vec<Value> = say.pieces.iter().flat_map(|piece| parts(piece, None)).collect();
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}});
    finish(&mut candidate, say);
    envelope(occasion, &candidate, say.usage.as_ref().map(tokens))
}

/// Writes the parts of a piece, cut into chunks if there is a stream.
fn parts(piece: &Piece, stream: Option<&Occasion<'_>>) -> Vec<Value> {
    let cut = |text| stream.map_or_else(|| vec![text], |occasion| occasion.chunks(text));
    match piece {
        Piece::Text { text } => {
            cut(text.as_str()).into_iter().map(|chunk| json!({"text": chunk})).collect()
        }
        Piece::Thinking { text, signature } => {
            let chunks = cut(text.as_str()).into_iter();
            let mut parts: Vec<Value> =
                chunks.map(|chunk| json!({"text": chunk, "thought": true})).collect();
            if let (Some(Value::Object(last)), Some(seal)) = (parts.last_mut(), signature) {
                last.insert("thoughtSignature".to_owned(), json!(seal));
            }
            parts
        }
        Piece::Call(call) => function_call(call).into_iter().collect(),
        // Whoever is filtered gets no words, only a finish reason.
        Piece::Refusal { .. } => Vec::new(),
    }
}

/// Writes a call; `None` if its arguments are no object, which this format cannot say.
fn function_call(call: &Call) -> Option<Value> {
    let mut function = Map::new();
    if let Some(id) = &call.id {
        function.insert("id".to_owned(), json!(id));
    }
    function.insert("name".to_owned(), json!(call.name));
    function.insert("args".to_owned(), argument_object(call)?);
    let mut part = Map::new();
    part.insert("functionCall".to_owned(), Value::Object(function));
    if let Some(seal) = &call.signature {
        part.insert("thoughtSignature".to_owned(), json!(seal));
    }
    Some(Value::Object(part))
}

fn finish(candidate: &mut Value, say: &Say) {
    let Value::Object(fields) = candidate else { return };
    let malformed = say
        .pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Call(call) if argument_object(call).is_none()));
    let reason = match say.stop() {
        Stop::EndTurn | Stop::ToolUse if malformed => "MALFORMED_FUNCTION_CALL".to_owned(),
        Stop::EndTurn | Stop::ToolUse => "STOP".to_owned(),
        Stop::MaxTokens => "MAX_TOKENS".to_owned(),
        Stop::Refusal => "SAFETY".to_owned(),
        Stop::Other(word) => word,
    };
    fields.insert("finishReason".to_owned(), json!(reason));
    fields.insert("index".to_owned(), json!(0));
    let words = say.pieces.iter().find_map(|piece| match piece {
        Piece::Refusal { text } => Some(text),
        Piece::Text { .. } | Piece::Thinking { .. } | Piece::Call(_) => None,
    });
    if let Some(words) = words {
        fields.insert("finishMessage".to_owned(), json!(words));
    }
}

fn envelope(occasion: &Occasion<'_>, candidate: &Value, usage: Option<Value>) -> Value {
    let mut envelope = Map::new();
    envelope.insert("candidates".to_owned(), json!([candidate]));
    if let Some(usage) = usage {
        envelope.insert("usageMetadata".to_owned(), usage);
    }
    envelope.insert("modelVersion".to_owned(), json!(occasion.model));
    envelope.insert("responseId".to_owned(), json!(occasion.id("", 0)));
    Value::Object(envelope)
}

fn tokens(usage: &Usage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    let mut tokens = Map::new();
    tokens.insert("promptTokenCount".to_owned(), json!(input));
    let said = usage.output.saturating_sub(usage.reasoning);
    if said > 0 {
        tokens.insert("candidatesTokenCount".to_owned(), json!(said));
    }
    tokens.insert("totalTokenCount".to_owned(), json!(input + usage.output));
    if usage.cache_read > 0 {
        tokens.insert("cachedContentTokenCount".to_owned(), json!(usage.cache_read));
    }
    if usage.reasoning > 0 {
        tokens.insert("thoughtsTokenCount".to_owned(), json!(usage.reasoning));
    }
    Value::Object(tokens)
}
