//! Neutral answers in each vendor's words.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::endpoint::Wire;
use crate::pace::Load;
use crate::turn::{Call, Say};
use crate::vendor_error;

/// Vendors stamp their answers; a fixed time keeps tests alike from run to run.
const CREATED: u64 = 1_760_000_000;

/// What an answer has to know of its request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occasion<'a> {
    /// The model that is asked.
    pub(crate) model: &'a str,
    /// The request.
    pub(crate) body: &'a Value,
    /// The number of the request, from which ids are made.
    pub(crate) request: usize,
    /// How many characters one chunk holds.
    pub(crate) chunk_chars: usize,
}

impl Occasion<'_> {
    /// Makes an id that no other answer of this server has.
    fn id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}fake{:08}{index:04}", self.request)
    }

    /// Returns the id of a call, as scripted or made up.
    fn call_id(&self, prefix: &str, index: usize, call: &Call) -> String {
        call.id.clone().unwrap_or_else(|| self.id(prefix, index))
    }

    /// Cuts text into chunks.
    fn chunks<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut chunks = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end =
                rest.char_indices().nth(self.chunk_chars.max(1)).map_or(rest.len(), |at| at.0);
            let (chunk, behind) = rest.split_at(end);
            chunks.push(chunk);
            rest = behind;
        }
        chunks
    }
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// Its name, where the vendor names events.
    name: Option<String>,
    /// What it carries.
    pub(crate) data: Value,
    /// What it is to the answer.
    pub(crate) load: Load,
}

impl Event {
    /// Makes an event that is named as its data's `type`.
    fn typed(load: Load, data: Value) -> Self {
        Self { name: data.get("type").and_then(Value::as_str).map(str::to_owned), data, load }
    }

    /// Makes an event without a name.
    fn nameless(load: Load, data: Value) -> Self {
        Self { name: None, data, load }
    }

    /// Writes the event as this vendor does.
    pub(crate) fn to_bytes(&self, wire: Wire) -> Bytes {
        let Self { name, data, .. } = self;
        Bytes::from(match (name, wire) {
            (Some(name), _) => format!("event: {name}\ndata: {data}\n\n"),
            (None, Wire::Gemini) => format!("data: {}\r\n\r\n", as_google_writes(data)),
            (None, Wire::Anthropic | Wire::Responses | Wire::Chat) => format!("data: {data}\n\n"),
        })
    }
}

/// Escapes what Google escapes, and what its own client takes for the end of an event otherwise.
fn as_google_writes(data: &Value) -> String {
    data.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Writes an answer as events.
pub(crate) fn events(wire: Wire, say: &Say, occasion: &Occasion<'_>) -> Vec<Event> {
    match wire {
        Wire::Anthropic => anthropic::events(say, occasion),
        Wire::Responses => responses::events(say, occasion),
        Wire::Chat => chat::events(say, occasion),
        Wire::Gemini => gemini::events(say, occasion),
    }
}

/// Returns what stands behind all events.
pub(crate) fn end_mark(wire: Wire) -> Option<Bytes> {
    match wire {
        Wire::Chat => Some(Bytes::from_static(b"data: [DONE]\n\n")),
        Wire::Anthropic | Wire::Responses | Wire::Gemini => None,
    }
}

/// Writes an answer as one document.
pub(crate) fn document(wire: Wire, say: &Say, occasion: &Occasion<'_>) -> Value {
    match wire {
        Wire::Anthropic => anthropic::document(say, occasion),
        Wire::Responses => responses::document(say, occasion),
        Wire::Chat => chat::document(say, occasion),
        Wire::Gemini => gemini::document(say, occasion),
    }
}

/// Writes an error within a stream.
pub(crate) fn failure(wire: Wire, status: u16, message: Option<&str>, sequence: usize) -> Event {
    let data = vendor_error::event(wire, status, message, sequence);
    match wire {
        Wire::Anthropic | Wire::Responses => Event::typed(Load::Frame, data),
        Wire::Chat | Wire::Gemini => Event::nameless(Load::Frame, data),
    }
}

/// Writes the two ends of an event that says nothing but may be of any size in between.
pub(crate) fn filler(wire: Wire) -> (&'static str, &'static str) {
    match wire {
        Wire::Anthropic => ("event: ping\ndata: {\"type\":\"ping\",\"filler\":\"", "\"}\n\n"),
        Wire::Responses => {
            ("event: response.filler\ndata: {\"type\":\"response.filler\",\"filler\":\"", "\"}\n\n")
        }
        Wire::Chat => ("data: {\"choices\":[],\"filler\":\"", "\"}\n\n"),
        Wire::Gemini => ("data: {\"candidates\":[],\"filler\":\"", "\"}\r\n\r\n"),
    }
}

/// Reads arguments as the object that they should be; `None` if they are not.
fn argument_object(call: &Call) -> Option<Value> {
    if call.arguments.is_empty() {
        return Some(json!({}));
    }
    serde_json::from_str(&call.arguments).ok().filter(Value::is_object)
}
