//! What happened, in one shape whoever the program is: the words of `airtight run`'s own stream.
//!
//! Public and versioned. Arguments of tools and payloads are told as they were written.

use serde::Serialize;
use serde_json::Number;
use serde_json::value::RawValue;

use crate::codec::Usage;

use super::Program;
use super::claude::TERMINAL_TOOLS;
use super::opencode::STEP_ENDED;

/// Where a line stands in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Place {
    /// Its number, from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How many bytes it has without the line break.
    pub length: u64,
}

/// One thing that happened.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// Something about the session itself.
    System(System),
    /// The model said something.
    Assistant(Assistant),
    /// The model was told something.
    User(User),
    /// A piece of a message, as the program tells it; the message follows whole.
    StreamEvent(Verbatim),
    /// The program says that it is done; background work may make it say so again.
    Result(Box<Finish>),
    /// A line that says nothing that is understood, kept as it is.
    Raw(Raw),
}

impl Event {
    /// Returns the names of the tools that are called, without the one that takes the answer.
    pub fn tool_calls(&self) -> impl Iterator<Item = &str> {
        let blocks: &[Block] = match self {
            Self::Assistant(said) => &said.message.content,
            Self::System(_)
            | Self::User(_)
            | Self::StreamEvent(_)
            | Self::Result(_)
            | Self::Raw(_) => &[],
        };
        blocks.iter().filter_map(|block| match block {
            Block::ToolUse { name, .. } if !TERMINAL_TOOLS.contains(&name.as_str()) => {
                Some(name.as_str())
            }
            Block::ToolUse { .. }
            | Block::Text { .. }
            | Block::Thinking { .. }
            | Block::Opaque { .. } => None,
        })
    }

    /// Claims that the model is asked again after this: it was told what its tools did, or a request
    /// failed.
    pub fn asks_model(&self) -> bool {
        match self {
            Self::User(_) | Self::System(System::Retry(_)) => true,
            Self::System(System::Other(line)) => line.kind == STEP_ENDED,
            Self::System(_)
            | Self::Assistant(_)
            | Self::StreamEvent(_)
            | Self::Result(_)
            | Self::Raw(_) => false,
        }
    }
}

/// Something about the session itself.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub enum System {
    /// The session begins.
    Init(Box<Init>),
    /// A request failed and is sent again; what was said in it does not count.
    Retry(Retry),
    /// Background work began, went on or ended.
    Notification(Notification),
    /// The program complains, and goes on.
    Warning(Warning),
    /// A line that is known and means nothing to the record.
    Other(Verbatim),
}

/// What a session begins with.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Init {
    /// Where it stands.
    pub at: Place,
    /// Whose stream it is.
    pub program: Program,
    /// The program's version.
    pub program_version: Option<String>,
    /// The program's id of the session.
    pub session_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// What the model may call.
    pub tools: Vec<String>,
    /// What the program may do without asking, in its own word.
    pub permission_mode: Option<String>,
    /// Where the key comes from: a label, never the key.
    pub api_key_source: Option<String>,
}

impl Init {
    /// Claims that the model may call the tool that takes a structured answer.
    pub fn offers_structured_output(&self) -> bool {
        self.tools.iter().any(|tool| TERMINAL_TOOLS.contains(&tool.as_str()))
    }
}

/// A request that failed and is sent again.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Retry {
    /// Where it stands.
    pub at: Place,
    /// Which attempt failed.
    pub attempt: Option<u64>,
    /// The HTTP status, if it came to that.
    pub status: Option<u64>,
    /// Why, in the program's words.
    pub message: Option<String>,
    /// How long nothing is sent.
    pub pause_ms: Option<Number>,
}

/// What background work came to.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Notification {
    /// Where it stands.
    pub at: Place,
    /// Which work.
    pub task_id: String,
    /// `started`, or the program's word.
    pub status: Option<String>,
    /// What it is, or what it said.
    pub text: Option<String>,
}

/// A complaint.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Where it stands.
    pub at: Place,
    /// What it says.
    pub message: String,
}

/// A line as it was written.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Verbatim {
    /// Where it stands.
    pub at: Place,
    /// What it calls itself.
    pub kind: String,
    /// All of it.
    #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
    pub value: Box<RawValue>,
}

/// What the model said.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Assistant {
    /// Where it stands.
    pub at: Place,
    /// The tool call of the subagent that spoke.
    pub parent_tool_use_id: Option<String>,
    /// The message.
    pub message: AssistantMessage,
}

/// A message of the model, or some blocks of one.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AssistantMessage {
    /// The id of the answer; messages of one answer share it.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// What was said, in order.
    pub content: Vec<Block>,
    /// Why the model stopped, if that is known yet.
    pub stop_reason: Option<String>,
    /// What it used so far, if that is told.
    #[cfg_attr(feature = "schemars", schemars(with = "Option<super::Tokens>"))]
    pub usage: Option<Usage>,
}

/// A piece of what the model said.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What it thought before.
    Thinking {
        /// The thought.
        thinking: String,
    },
    /// It asks for a tool.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// The arguments as they were written.
        #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
        input: Box<RawValue>,
    },
    /// Something else, as it was written.
    Opaque {
        /// All of it.
        #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
        value: Box<RawValue>,
    },
}

/// What the model was told.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct User {
    /// Where it stands.
    pub at: Place,
    /// The tool call of the subagent that was told.
    pub parent_tool_use_id: Option<String>,
    /// The message.
    pub message: UserMessage,
}

/// A message to the model.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UserMessage {
    /// What it was told, in order.
    pub content: Vec<Told>,
}

/// A piece of what the model was told.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Told {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// What a tool answered.
    ToolResult {
        /// The id of the call.
        tool_use_id: String,
        /// What it answered.
        content: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// Something else, as it was written.
    Opaque {
        /// All of it.
        #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
        value: Box<RawValue>,
    },
}

/// What the program says at its end.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Finish {
    /// Where it stands.
    pub at: Place,
    /// How it ended, in the program's word.
    pub subtype: Option<String>,
    /// Whether the program calls it an error.
    pub is_error: bool,
    /// Why it failed.
    pub error: Option<String>,
    /// The final text.
    pub result: Option<String>,
    /// The structured answer as it was written.
    #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
    pub structured_output: Option<Box<RawValue>>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// What was used.
    #[cfg_attr(feature = "schemars", schemars(with = "super::Tokens"))]
    pub usage: Usage,
}

/// Why a line is kept raw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RawReason {
    /// There is nothing but white space.
    Blank,
    /// It is not JSON.
    Malformed,
    /// It is not JSON, and the stream ends with it: it was probably cut.
    Cut,
    /// It is JSON, but no object.
    NoObject,
    /// It says a member twice, and which of them counts is unknown.
    Ambiguous,
    /// It is an object of a kind that is not known.
    Unknown,
    /// It is longer than is read.
    TooLong,
}

/// A line that says nothing that is understood.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Raw {
    /// Where it stands.
    pub at: Place,
    /// Why it is kept raw.
    pub reason: RawReason,
    /// What is wrong with it, without its content.
    pub detail: Option<String>,
    /// The line, with U+FFFD for what is not UTF-8; nothing if it is too long.
    pub text: Option<String>,
}
