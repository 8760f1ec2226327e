//! What the server says to one request, whatever format the request came in.

mod build;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::when::When;

/// About two tokens, so that even a short answer comes in several chunks.
const CHUNK_CHARS: usize = 8;

/// What the server says to one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Which requests it is for; all of them if nothing is said.
    #[serde(default)]
    pub when: When,
    /// How often it is said.
    #[serde(default)]
    pub repeat: Repeat,
    /// What is said.
    pub reply: Reply,
    /// Further headers of the response.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How long the server waits before the first byte, in milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
    /// What happens on the way.
    #[serde(default)]
    pub points: Vec<Point>,
    /// How many characters of text or arguments one streamed chunk holds; at least 1.
    #[serde(default = "chunk_chars")]
    pub chunk_chars: usize,
    /// Cuts the stream into network writes of so many bytes, also within a character.
    #[serde(default)]
    pub write_bytes: Option<usize>,
}

fn chunk_chars() -> usize {
    CHUNK_CHARS
}

/// How often a turn is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// To one request.
    #[default]
    Once,
    /// To every request that gets as far as this turn.
    Forever,
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The model answers.
    Say(Say),
    /// The vendor refuses the request, in its own shape of errors.
    Status {
        /// The HTTP status.
        status: u16,
        /// What the error says; the vendor's usual words if absent.
        #[serde(default)]
        message: Option<String>,
    },
    /// Bytes made by hand, as an event stream.
    Raw {
        /// The bytes, chunk by chunk.
        chunks: Vec<Raw>,
    },
}

/// What the model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// The answer, in order.
    pub pieces: Vec<Piece>,
    /// What it cost; absent as with servers that do not count.
    #[serde(default = "counted")]
    pub usage: Option<Usage>,
    /// Why the model stopped; follows from the pieces if absent.
    #[serde(default)]
    pub stop: Option<Stop>,
}

#[expect(clippy::unnecessary_wraps, reason = "serde wants the field's type")]
fn counted() -> Option<Usage> {
    Some(Usage::default())
}

impl Say {
    /// Returns why the model stopped: as scripted, or as the pieces suggest.
    pub(crate) fn stop(&self) -> Stop {
        if let Some(stop) = &self.stop {
            return stop.clone();
        }
        if self.pieces.iter().any(|piece| matches!(piece, Piece::Refusal { .. })) {
            Stop::Refusal
        } else if self.pieces.iter().any(|piece| matches!(piece, Piece::Call(_))) {
            Stop::ToolUse
        } else {
            Stop::EndTurn
        }
    }
}

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Piece {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A thought.
    Thinking {
        /// The thought.
        text: String,
        /// The vendor's seal on it.
        #[serde(default)]
        signature: Option<String>,
    },
    /// A tool call.
    Call(Call),
    /// The model declines.
    Refusal {
        /// In these words.
        text: String,
    },
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The id; made up if absent, as the vendor would.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments as the model writes them. In a script file a string is sent as it is, any
    /// other value as compact JSON.
    #[serde(deserialize_with = "arguments")]
    pub arguments: String,
    /// The vendor's seal (Gemini's thought signature).
    #[serde(default)]
    pub signature: Option<String>,
}

fn arguments<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// What an answer cost, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input that no cache knew.
    pub input: u64,
    /// Output, thoughts included.
    pub output: u64,
    /// Input read from the cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Input written to the cache.
    #[serde(default)]
    pub cache_write: u64,
    /// The part of the output that was thought.
    #[serde(default)]
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 10, output: 5, cache_read: 0, cache_write: 0, reasoning: 0 }
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said everything.
    EndTurn,
    /// It waits for tools.
    ToolUse,
    /// It reached the token limit.
    MaxTokens,
    /// It declined, or a filter did.
    Refusal,
    /// Something else, in the vendor's word.
    Other(String),
}

/// Something that happens while an answer is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// After so many chunks of text, thought, refusal or arguments. At 0 the answer has begun but
    /// says nothing yet; past the last chunk means before the answer's end.
    pub after: usize,
    /// What happens.
    pub act: Act,
}

/// What happens at a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// The stream waits until the test opens the gate.
    Gate {
        /// The gate's name.
        name: String,
    },
    /// The stream waits.
    Pause {
        /// How long, in milliseconds.
        ms: u64,
    },
    /// Half of the next event is sent, then the connection breaks.
    Cut,
    /// Nothing is sent any more, and the connection stays open.
    Stall,
    /// The response ends as HTTP demands, but without the format's end mark.
    End,
    /// The vendor reports an error within the stream, which ends there.
    Error {
        /// The status that the error would have had before the stream.
        status: u16,
        /// What it says; the vendor's usual words if absent.
        #[serde(default)]
        message: Option<String>,
    },
    /// Bytes that no vendor sends; the answer goes on behind them.
    Raw {
        /// The bytes.
        raw: Raw,
    },
    /// One event of this size that says nothing; the answer goes on behind it.
    Filler {
        /// How many bytes its data has, at least.
        bytes: usize,
    },
}

/// Bytes made by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Raw {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Any bytes.
    Bytes {
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl From<&str> for Raw {
    fn from(text: &str) -> Self {
        Self::Text { text: text.to_owned() }
    }
}

impl From<String> for Raw {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl From<Vec<u8>> for Raw {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes { bytes }
    }
}
