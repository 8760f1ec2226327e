//! The formats of vendors: how requests are read, and how answers are written.

mod chat;
mod messages;
mod responses;

use airtight_core::codec::Usage;
use airtight_store::RunId;
use serde_json::Value;

use super::asked::{Asked, Counts, Form};
use crate::desk::Reply;
use crate::door::Door;
use crate::problem::Problem;

pub(super) use chat::call_made;

/// A vendor's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// `OpenAI` Chat Completions.
    Chat,
    /// `OpenAI` Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

/// What is told of an answer besides its value.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) run: RunId,
    /// As the client calls it.
    pub(super) model: String,
    /// In Unix seconds.
    pub(super) created_at: i64,
    pub(super) form: Form,
    pub(super) counts: Counts,
}

impl Told {
    /// Tells of the run that `reply` is of: a key may have the answer of an earlier one.
    pub(super) fn of(self, reply: &Reply) -> Self {
        Self { run: reply.run.clone(), ..self }
    }

    /// Returns an id that begins as the vendor's do and holds the name of the run.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.run.as_str().replace('-', ""))
    }
}

/// One event of a stream.
#[derive(Debug)]
pub(super) struct Frame {
    event: Option<&'static str>,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Json(Value),
    /// The same, with its place in the stream as `sequence_number`.
    Numbered(Value),
    Text(&'static str),
}

impl Frame {
    fn data(data: Value) -> Self {
        Self { event: None, data: Data::Json(data) }
    }

    fn named(event: &'static str, data: Value) -> Self {
        Self { event: Some(event), data: Data::Json(data) }
    }

    fn numbered(event: &'static str, data: Value) -> Self {
        Self { event: Some(event), data: Data::Numbered(data) }
    }

    fn text(text: &'static str) -> Self {
        Self { event: None, data: Data::Text(text) }
    }

    /// Writes it as the frame with this number.
    pub(super) fn write(self, number: u64, out: &mut String) {
        let data = match self.data {
            Data::Json(value) => value.to_string(),
            Data::Text(text) => text.to_owned(),
            Data::Numbered(mut value) => {
                if let Value::Object(members) = &mut value {
                    members.insert("sequence_number".to_owned(), Value::from(number));
                }
                value.to_string()
            }
        };
        if let Some(event) = self.event {
            out.push_str("event: ");
            out.push_str(event);
            out.push('\n');
        }
        // JSON on one line has no line ends to break it up.
        out.push_str("data: ");
        out.push_str(&data);
        out.push_str("\n\n");
    }
}

impl Wire {
    /// Reads a request.
    pub(super) fn read(self, bytes: &[u8]) -> Result<Asked, Problem> {
        match self {
            Self::Chat => chat::read(bytes),
            Self::Responses => responses::read(bytes),
            Self::Messages => messages::read(bytes),
        }
    }

    /// Writes a whole answer.
    pub(super) fn document(self, told: &Told, reply: &Reply) -> String {
        match self {
            Self::Chat => chat::document(told, reply).to_string(),
            Self::Responses => responses::document(told, reply).to_string(),
            Self::Messages => messages::document(told, reply),
        }
    }

    /// Writes what a stream begins with.
    pub(super) fn opening(self, told: &Told) -> Vec<Frame> {
        match self {
            Self::Chat => chat::opening(told),
            Self::Responses => responses::opening(told),
            Self::Messages => messages::opening(told),
        }
    }

    /// Writes more of the answer.
    pub(super) fn piece(self, told: &Told, text: &str) -> Vec<Frame> {
        match self {
            Self::Chat => chat::piece(told, text),
            Self::Responses => responses::piece(told, text),
            Self::Messages => messages::piece(told, text),
        }
    }

    /// Writes the end of an answer that was accepted.
    pub(super) fn closing(self, told: &Told, reply: &Reply) -> Vec<Frame> {
        match self {
            Self::Chat => chat::closing(told, reply),
            Self::Responses => responses::closing(told, reply),
            Self::Messages => messages::closing(told, reply),
        }
    }

    /// Writes the end of one that was not.
    pub(super) fn failure(self, problem: &Problem) -> Vec<Frame> {
        match self {
            Self::Chat => vec![Frame::data(problem.body(Door::OpenAi))],
            Self::Responses => responses::failure(problem),
            Self::Messages => vec![Frame::named("error", problem.body(Door::Anthropic))],
        }
    }
}

/// Tokens, with 0 where nobody counted: the formats have no other word for that.
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    reasoning: u64,
}

impl Tokens {
    fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or(0),
            output: usage.output_tokens.unwrap_or(0),
            cache_read: usage.cache_read_input_tokens.unwrap_or(0),
            cache_write: usage.cache_creation_input_tokens.unwrap_or(0),
            reasoning: usage.reasoning_tokens.unwrap_or(0),
        }
    }
}
