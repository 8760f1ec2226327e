//! The lines of `stream-json` and the elements of `json`: the public shapes, apart from those
//! inside. `docs/reference/events.md` and `schemas/events/` are written from them.

mod result;

use airtight_core::contract::Contract;
use airtight_store::RunId;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::VERSION;
use super::identity::uuid;

pub(crate) use result::{Failure, PermissionDenial, RunResult, Usage};

/// One line, or one element.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Line {
    /// Something about the run itself.
    System(System),
    /// The model said something.
    Assistant(Assistant),
    /// The model was told something.
    User(User),
    /// A piece of an answer came in; only with `--include-partial-messages`.
    StreamEvent(StreamEvent),
    /// The run is over; nothing follows.
    Result(Box<RunResult>),
}

/// Something about the run itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(crate) enum System {
    /// The run begins. Always the first line, unless the run is refused before it begins.
    Init(Init),
    /// An answer was judged.
    Attempt(Judged),
    /// A second model begins to look for the answer in what the first one wrote; an attempt follows.
    Extracting(Extracting),
    /// A request failed and is sent again.
    Retry(Retry),
    /// Background work said something.
    Notification(Notification),
    /// An agent CLI complains, and goes on.
    Warning(Warning),
    /// An agent CLI wrote a line that is not understood; it is kept as it is.
    Raw(RawLine),
    /// An agent CLI has ended.
    Harness(Harness),
}

/// What the run begins with.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Init {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    /// The name of the run in the ledger, where it is on disk by now; absent with `--no-store`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// The version of these shapes; a change that breaks readers raises it.
    pub(crate) version: u8,
    pub(crate) airtight_version: String,
    /// The folder that tools are confined to.
    pub(crate) cwd: String,
    /// The model, as `provider:name`.
    pub(crate) model: String,
    /// What the model may call.
    pub(crate) tools: Vec<String>,
    pub(crate) mcp_servers: Vec<McpServer>,
    /// `plan`, `default`, `auto-edit` or `yolo`.
    pub(crate) permission_mode: String,
    /// Which contract decides.
    pub(crate) contract: ContractName,
    /// Always empty; readers of other programs' streams expect it.
    pub(crate) slash_commands: Vec<String>,
    /// Always empty; readers of other programs' streams expect it.
    pub(crate) agents: Vec<String>,
}

impl Init {
    /// Returns what a run begins with that has no tools of its own and goes by its name in the ledger.
    pub(crate) fn of(run: &RunId, model: &str, folder: &str, contract: &Contract) -> Self {
        Self {
            uuid: uuid(),
            session_id: run.to_string(),
            run_id: Some(run.to_string()),
            version: VERSION,
            airtight_version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: folder.to_owned(),
            model: model.to_owned(),
            tools: Vec::new(),
            mcp_servers: Vec::new(),
            permission_mode: "default".to_owned(),
            contract: ContractName {
                name: contract.name().map(str::to_owned),
                fingerprint: contract.fingerprint().to_string(),
            },
            slash_commands: Vec::new(),
            agents: Vec::new(),
        }
    }
}

/// An MCP server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct McpServer {
    pub(crate) name: String,
    /// `connected` or `failed`.
    pub(crate) status: String,
}

/// A contract.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ContractName {
    /// What people call it, if anything.
    pub(crate) name: Option<String>,
    /// The hash that identifies it.
    pub(crate) fingerprint: String,
}

/// What came of one answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Judged {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    /// The tool call of the subagent that answered.
    pub(crate) parent_tool_use_id: Option<String>,
    pub(crate) attempt: Attempt,
}

/// One answer that was meant to be the answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Attempt {
    /// `accepted`, `rejected`, `cancelled`, `truncated`, `refused`, `degenerate`, `vetoed` or
    /// `failed`.
    #[schemars(with = "String")]
    pub(crate) ending: airtight_core::run::Ending,
    /// Who said it: the model of the run, or the one that extracts, by its provider's name of it.
    pub(crate) model: String,
    /// How it was delivered: `native`, `tool`, `grammar`, `text`, `repair`, `re-ask` or `extract`.
    #[schemars(with = "String")]
    pub(crate) rung: airtight_core::run::Rung,
    /// What is wrong with it.
    pub(crate) violations: Vec<Violation>,
    /// Whether there are more violations than listed.
    pub(crate) more_violations: bool,
    pub(crate) usage: Usage,
    /// What the driver says of it: `none`, or `success` if an agent CLI calls it right. Only the
    /// contract decides.
    #[schemars(with = "String")]
    pub(crate) claim: airtight_core::run::Claim,
}

/// A second model that looks for the answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Extracting {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    pub(crate) parent_tool_use_id: Option<String>,
    /// Its provider's name of it.
    pub(crate) model: String,
}

/// One way in which an answer breaks the contract.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Violation {
    /// A JSON pointer into the answer.
    pub(crate) pointer: String,
    /// The keyword or rule that is broken.
    pub(crate) keyword: String,
    pub(crate) message: String,
}

/// A request that failed and is sent again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Retry {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    pub(crate) parent_tool_use_id: Option<String>,
    /// The HTTP status, if it came to that.
    pub(crate) status: Option<u16>,
    /// The provider's own word for it.
    pub(crate) code: Option<String>,
    pub(crate) message: String,
    /// How long nothing is sent.
    pub(crate) pause_ms: u64,
}

/// What background work said.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Notification {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    pub(crate) parent_tool_use_id: Option<String>,
    pub(crate) task_id: String,
    /// `completed`, `failed` or `cancelled`.
    pub(crate) status: String,
    pub(crate) text: String,
}

/// A complaint of an agent CLI.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Warning {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    pub(crate) message: String,
}

/// A line of an agent CLI that is not understood.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RawLine {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    /// Its number in the program's stream, from 1.
    pub(crate) line: u64,
    /// Where it begins there, in bytes.
    pub(crate) offset: u64,
    /// How many bytes it has.
    pub(crate) length: u64,
    /// `blank`, `malformed`, `cut`, `no_object`, `ambiguous`, `unknown` or `too_long`.
    #[schemars(with = "String")]
    pub(crate) reason: airtight_core::transcript::RawReason,
    /// What is wrong with it.
    pub(crate) detail: Option<String>,
    /// The line, unless it is too long.
    pub(crate) text: Option<String>,
}

/// What one call of an agent CLI came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Harness {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    /// What `airtight transcript --summary` tells of its stream, without its words.
    pub(crate) record: Value,
}

/// The model said something. One kind of block in a message: a change of kind begins another.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Assistant {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    /// The tool call of the subagent that spoke.
    pub(crate) parent_tool_use_id: Option<String>,
    pub(crate) message: AssistantMessage,
}

/// What the model said.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AssistantMessage {
    /// The provider's id of the answer; messages of one answer share it.
    pub(crate) id: String,
    /// Always `message`.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// Always `assistant`.
    pub(crate) role: &'static str,
    /// The model that really answered.
    pub(crate) model: String,
    pub(crate) content: Vec<Block>,
    /// `tool_use` if every block is a tool call; else why the model stopped, on the last message of
    /// an answer.
    pub(crate) stop_reason: Option<String>,
    /// On the last message of an answer, so that sums come out right.
    pub(crate) usage: Option<Usage>,
}

/// A piece of what the model said.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block {
    /// Text.
    Text { text: String },
    /// What it thought before.
    Thinking { thinking: String },
    /// It asks for a tool. `input` is a string if the arguments are not JSON.
    ToolUse {
        id: String,
        name: String,
        #[schemars(with = "Value")]
        input: Box<RawValue>,
    },
    /// Something that only the provider can read.
    Opaque { value: Value },
}

/// The model was told something.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct User {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    pub(crate) parent_tool_use_id: Option<String>,
    pub(crate) message: UserMessage,
}

/// What the model was told.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UserMessage {
    /// Always `user`.
    pub(crate) role: &'static str,
    pub(crate) content: Vec<Told>,
}

/// A piece of what the model was told.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Told {
    /// What a tool answered, at most 64 KiB unless an agent CLI says more.
    ToolResult { tool_use_id: String, content: String, is_error: bool },
    /// What an agent CLI says to its model.
    Text { text: String },
    /// Something else that an agent CLI says to its model.
    Opaque { value: Value },
}

/// A piece of an answer, in the words of Anthropic's stream whoever the provider is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StreamEvent {
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    pub(crate) parent_tool_use_id: Option<String>,
    pub(crate) event: Piece,
}

/// What came in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Piece {
    MessageStart { message: Started },
    ContentBlockStart { index: usize, content_block: OpenBlock },
    ContentBlockDelta { index: usize, delta: BlockDelta },
    ContentBlockStop { index: usize },
    MessageStop,
}

/// An answer that begins.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Started {
    pub(crate) id: Option<String>,
    /// Always `assistant`.
    pub(crate) role: &'static str,
    pub(crate) model: Option<String>,
}

/// A block that begins.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OpenBlock {
    Text,
    Thinking,
    ToolUse { id: String, name: String },
}

/// More of a block.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::enum_variant_names, reason = "the names of the wire")]
pub(crate) enum BlockDelta {
    TextDelta { text: String },
    ThinkingDelta { thinking: String },
    InputJsonDelta { partial_json: String },
}

impl Line {
    /// Returns the word for it in the ledger; none for what is not kept there: pieces are told whole
    /// later, and the run itself has its result.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        match self {
            Self::System(System::Init(_)) => Some("init"),
            Self::System(System::Attempt(_)) => Some("attempt"),
            Self::System(System::Extracting(_)) => Some("extracting"),
            Self::System(System::Retry(_)) => Some("retry"),
            Self::System(System::Notification(_)) => Some("notification"),
            Self::System(System::Warning(_)) => Some("warning"),
            Self::System(System::Raw(_)) => Some("raw"),
            Self::System(System::Harness(_)) => Some("harness"),
            Self::Assistant(_) => Some("assistant"),
            Self::User(_) => Some("user"),
            Self::StreamEvent(_) | Self::Result(_) => None,
        }
    }

    /// Returns the line as JSON.
    pub(crate) fn to_json(&self) -> String {
        // Serialising plain data to memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
