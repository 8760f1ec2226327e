//! Provider formats: a neutral [`Request`] to bytes, and streamed events to neutral [`Delta`]s.
//!
//! One file for each wire format. Codecs do no I/O: the transport pushes events, so that the
//! network, the fixture and the fuzzer share one path. Unknown events are counted and kept, never
//! dropped in silence.

mod anthropic;
mod assemble;
mod chat;
mod failure;
mod fields;
mod gemini;
mod made_up;
mod object;
mod replay;
mod responses;
mod tree;
mod usage;

use std::sync::Arc;

use serde_json::Value;

use crate::contract::WorkedExample;
use crate::message::{Block, Message, ToolChoice, ToolSpec};
use crate::price::Cost;
use crate::wire::sse;

pub(crate) use assemble::text_bytes;
pub use assemble::{Assembler, REPLY_LIMIT_BYTES, Reply};
pub use failure::{
    CONTRACT_TOO_LONG, FailureKind, ProviderFailure, QUESTION_TOO_LONG, SESSION_LOST, TIMEOUT,
};
pub use usage::Usage;

use tree::Tree;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` Chat Completions, and every server compatible with it.
    Chat,
    /// Gemini `streamGenerateContent`.
    Gemini,
}

/// What is asked of a model, whoever serves it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The provider's name of the model.
    pub model: String,
    /// Standing instructions.
    pub system: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolSpec>,
    /// What it must call.
    pub choice: ToolChoice,
    /// The native structured output asked for.
    pub format: Option<Format>,
    /// Jobs with the answers that are right for them, in the shape that is asked for. Formats of
    /// providers leave them out: it is small models that need them.
    pub examples: Vec<WorkedExample>,
    /// The most the model may say; the codec has a default where the provider demands a number.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; the provider's default if absent.
    pub temperature: Option<f64>,
    /// The most it may cost. Formats of providers have no place for it: it is for agent CLIs, which ask
    /// their models many times.
    pub max_cost: Option<Cost>,
}

impl Request {
    /// Returns how many bytes of text the model has to read.
    pub fn text_bytes(&self) -> usize {
        let messages = self.messages.iter().flat_map(|message| &message.blocks);
        let messages: usize = messages.map(Block::text_bytes).sum();
        let tool = |tool: &ToolSpec| {
            tool.name.len() + tool.description.len() + text_bytes(&tool.parameters)
        };
        let tools: usize = self.tools.iter().map(tool).sum();
        let format = self.format.as_ref().map_or(0, |format| text_bytes(&format.schema));
        self.system.as_ref().map_or(0, String::len) + messages + tools + format
    }
}

/// Native structured output: the provider holds the whole answer to a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Format {
    /// A name that the provider accepts.
    pub name: String,
    /// The lowered schema.
    pub schema: Arc<Value>,
}

/// A request as it leaves, apart from host and key.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The path behind the base URL, with its query: `/v1/messages`.
    pub path: String,
    /// Headers that the format demands, without the key.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Value,
}

/// How a format carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// As the bare value of this header.
    Header(&'static str),
    /// As `authorization: Bearer …`.
    Bearer,
}

/// What one event of a stream says.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// The answer begins.
    Started {
        /// The provider's id of the answer.
        id: Option<String>,
        /// The model that really answers.
        model: Option<String>,
    },
    /// More text.
    Text(String),
    /// More thought.
    Thinking(String),
    /// The seal of the thought so far; the next thought is another block.
    ThinkingSigned(String),
    /// A block that only the provider can read.
    Opaque(Value),
    /// A tool call begins; `index` names it until the end of the answer.
    CallStarted {
        /// Which call.
        index: usize,
        /// The provider's id; made up as `call_{index}` where it gives none, so that ids repeat from
        /// answer to answer until [`Run::identify`](crate::run::Run::identify) tells them apart.
        id: String,
        /// The tool.
        name: String,
        /// The provider's seal.
        signature: Option<String>,
    },
    /// More of a call's arguments.
    CallArguments {
        /// Which call.
        index: usize,
        /// The next piece of JSON text.
        text: String,
    },
    /// The model declines, in these words.
    Refusal(String),
    /// What was used so far; fields that are present replace earlier ones.
    Usage(Usage),
    /// The model stopped.
    Stopped(Stop),
    /// The provider gave up in the middle.
    Failed(ProviderFailure),
    /// An event or block that this codec does not know.
    Unknown {
        /// What it calls itself.
        kind: String,
    },
}

impl Delta {
    fn unknown(kind: &str) -> Self {
        Self::Unknown { kind: kind.to_owned() }
    }

    /// Ends the request: a piece that cannot be read would be missing from the midst of the answer.
    fn not_text(what: &str) -> Self {
        Self::Failed(ProviderFailure::malformed(format!("{what} holds no text where it should")))
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It had said everything.
    EndTurn,
    /// It waits for tools.
    ToolUse,
    /// It reached the token limit.
    MaxTokens,
    /// It declined, or a filter did.
    Refusal,
    /// Something else, in the provider's word.
    Other(String),
}

impl Stop {
    /// Returns the word for it in streams and reports.
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::Refusal => "refusal",
            Self::Other(word) => word,
        }
    }
}

/// Reads one streamed answer.
#[derive(Debug)]
pub struct Decoder {
    inner: Inner,
    state: State,
}

/// Whether a stream can be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    /// A failure was told; what follows it means nothing.
    Failed,
}

/// What chat servers send after the last event, and proxies behind other formats too.
const DONE: &str = "[DONE]";

#[derive(Debug)]
enum Inner {
    Anthropic(anthropic::Decoder),
    Responses(responses::Decoder),
    Chat(chat::Decoder),
    Gemini(gemini::Decoder),
}

impl Wire {
    /// Writes `request` in this format, always asking for a stream.
    pub fn encode(self, request: &Request) -> Call {
        match self {
            Self::Anthropic => anthropic::encode(request),
            Self::Responses => responses::encode(request),
            Self::Chat => chat::encode(request),
            Self::Gemini => gemini::encode(request),
        }
    }

    /// Returns how this format carries the key.
    pub fn auth(self) -> Auth {
        match self {
            Self::Anthropic => Auth::Header("x-api-key"),
            Self::Responses | Self::Chat => Auth::Bearer,
            Self::Gemini => Auth::Header("x-goog-api-key"),
        }
    }

    /// Starts to read an answer.
    pub fn decoder(self) -> Decoder {
        let inner = match self {
            Self::Anthropic => Inner::Anthropic(anthropic::Decoder::default()),
            Self::Responses => Inner::Responses(responses::Decoder::default()),
            Self::Chat => Inner::Chat(chat::Decoder::default()),
            Self::Gemini => Inner::Gemini(gemini::Decoder::default()),
        };
        Decoder { inner, state: State::Reading }
    }
}

impl Decoder {
    /// Reads the next event of the stream.
    ///
    /// Data that is not what the format promises yields one [`Delta::Failed`], and nothing
    /// afterwards.
    pub fn push(&mut self, event: &sse::Event) -> Vec<Delta> {
        if self.state == State::Failed {
            return Vec::new();
        }
        let data = event.data.trim();
        let mut deltas = match data {
            "" => Vec::new(),
            DONE => self.end(),
            _ => match Tree::parse(data, self.arguments()) {
                Ok(tree) => self.read(event, &tree),
                Err(error) => vec![Delta::Failed(malformed(&error, data.len()))],
            },
        };
        if let Some(at) = deltas.iter().position(|delta| matches!(delta, Delta::Failed(_))) {
            deltas.truncate(at + 1);
            self.state = State::Failed;
        }
        deltas
    }

    /// Claims that the format's own end mark was seen; a stream without it was cut.
    ///
    /// Events may still follow it (chat servers send the usage last): read to the end of the stream.
    pub fn is_complete(&self) -> bool {
        match &self.inner {
            Inner::Anthropic(decoder) => decoder.is_complete(),
            Inner::Responses(decoder) => decoder.is_complete(),
            Inner::Chat(decoder) => decoder.is_complete(),
            Inner::Gemini(decoder) => decoder.is_complete(),
        }
    }

    fn read(&mut self, event: &sse::Event, tree: &Tree<'_>) -> Vec<Delta> {
        match &mut self.inner {
            Inner::Anthropic(decoder) => decoder.read(event, tree),
            Inner::Responses(decoder) => decoder.read(event, tree),
            Inner::Chat(decoder) => decoder.read(tree),
            Inner::Gemini(decoder) => decoder.read(tree),
        }
    }

    /// Returns what the format calls the arguments of a call.
    fn arguments(&self) -> &'static str {
        match self.inner {
            Inner::Anthropic(_) => anthropic::ARGUMENTS,
            Inner::Responses(_) => responses::ARGUMENTS,
            Inner::Chat(_) => chat::ARGUMENTS,
            Inner::Gemini(_) => gemini::ARGUMENTS,
        }
    }

    fn end(&mut self) -> Vec<Delta> {
        match &mut self.inner {
            Inner::Chat(decoder) => decoder.end(),
            Inner::Anthropic(_) | Inner::Responses(_) | Inner::Gemini(_) => Vec::new(),
        }
    }
}

/// Says where data stops being JSON, not what it says.
fn malformed(error: &serde_json::Error, length: usize) -> ProviderFailure {
    let (line, column) = (error.line(), error.column());
    ProviderFailure::malformed(format!(
        "an event of {length} bytes is not JSON at line {line}, column {column}"
    ))
}

#[cfg(test)]
mod encoded;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod laws;
