//! What a whole stream comes to.
//!
//! Public and versioned; a function of the bytes alone, so that the same stream gives the same record,
//! byte by byte.

use serde::Serialize;
use serde_json::Number;
use serde_json::value::RawValue;

use crate::Answer;
use crate::codec::{Stop, Usage};

use super::event::{Place, RawReason};
use super::{Category, Program};

/// The version of the shapes; a change that breaks readers raises it.
pub const VERSION: u8 = 1;

/// What the process that wrote the stream ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Not known: the stream was read from a file.
    Unknown,
    /// This exit code; negative for a signal.
    Code(i32),
}

/// Everything there is to say about a stream.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Record {
    /// Always `record`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The version of the shape.
    pub version: u8,
    /// Whose stream it is, if that could be told.
    pub program: Option<Program>,
    /// The program's version.
    pub program_version: Option<String>,
    /// The program's id of the session.
    pub session_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Where the key comes from: a label, never the key.
    pub api_key_source: Option<String>,
    /// Whether the tool that delivers a structured answer was offered to the model.
    pub offers_structured_output: Answer,
    /// Claims that the process ended well and said something.
    pub succeeded: bool,
    /// Claims besides that it said so itself, without an error and without a doubt about it.
    pub succeeded_cleanly: bool,
    /// The exit code of the process, if there was one.
    pub exit_code: Option<i32>,
    /// How long it took by its own account.
    pub duration_seconds: Option<f64>,
    /// What it says went wrong, at most 4,096 characters.
    pub error: Option<String>,
    /// What kind of failure that is, or what is doubtful about a success.
    pub error_category: Option<Category>,
    /// The HTTP status of that failure.
    pub api_error_status: Option<u64>,
    /// How it ended, in the program's word: `success`, `error_max_turns`.
    pub subtype: Option<String>,
    /// Why it ended, in the program's word: `completed`, `max_turns`, `aborted_tools`.
    pub terminal_reason: Option<String>,
    /// Why the model stopped.
    pub stop_reason: Option<String>,
    /// The structured answer, also that of a program that failed.
    pub payload: Option<Payload>,
    /// The last call for the answer that the program rejected; it is among the events.
    #[serde(skip)]
    pub rejected: Option<Payload>,
    /// The final text, which is the answer where there is no payload; nothing if it failed, or did not
    /// say that it is done.
    pub answer: Option<String>,
    /// Everything the model said to the user, message by message.
    pub output: String,
    /// Tokens read, cached or not; 0 if that is not told.
    pub input_tokens: u64,
    /// Tokens said; 0 if that is not told.
    pub output_tokens: u64,
    /// The same as far as it is known, in detail.
    #[cfg_attr(feature = "schemars", schemars(with = "super::Tokens"))]
    pub usage: Usage,
    /// What all models used in the whole session, which began before the stream if it was resumed; claude
    /// alone tells it, in `model_usage`.
    #[serde(skip)]
    pub session_usage: Usage,
    /// What each model used, as it was written.
    #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
    pub model_usage: Option<Box<RawValue>>,
    /// What everything cost by the program's own account.
    pub total_cost_usd: Option<Number>,
    /// Model calls, by the program's own count.
    pub num_turns: Option<u64>,
    /// Tool calls that were seen, those of subagents included.
    pub num_tool_calls: u64,
    /// Requests that were sent again.
    pub num_retries: u64,
    /// How often the program said that it was done; the last time counts.
    pub num_results: u64,
    /// Background work that had not ended.
    pub pending_tasks: Vec<String>,
    /// Calls that were not allowed, as they were written.
    #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
    pub permission_denials: Option<Box<RawValue>>,
    /// What is worth a look, in a fixed order.
    pub warnings: Vec<String>,
    /// What only some programs tell.
    pub harness_metadata: Metadata,
    /// The line that says that it is done.
    pub result_at: Option<Place>,
    /// How many lines there are of each kind.
    pub lines: LineCounts,
    /// Lines that were kept raw and are not blank, the first hundred of them.
    pub raw_lines: Vec<RawLine>,
}

impl Record {
    /// Makes the record of a stream that says nothing.
    pub fn empty() -> Self {
        Self { kind: "record", version: VERSION, ..Self::default() }
    }

    /// Claims that nothing was said: neither in words nor as a payload.
    pub(super) fn is_silent(&self) -> bool {
        let texts = [Some(&self.output), self.answer.as_ref()];
        self.payload.is_none() && texts.into_iter().flatten().all(|text| text.trim().is_empty())
    }

    /// Returns what a contract has to judge: the payload, else the answer in words.
    ///
    /// A program that failed claims nothing, also if it told a payload.
    pub fn claim(&self) -> Option<&str> {
        let payload = self.payload.as_ref().map(|payload| payload.value.get());
        payload.or(self.answer.as_deref()).filter(|_| self.error.is_none())
    }

    /// Returns why the model stopped, in the words of model APIs.
    pub fn stop(&self) -> Stop {
        match self.stop_reason.as_deref() {
            Some("max_tokens" | "length" | "MAX_TOKENS") => Stop::MaxTokens,
            Some("refusal" | "content-filter") => Stop::Refusal,
            Some("end_turn" | "stop" | "tool_use") => Stop::EndTurn,
            Some(other) => Stop::Other(other.to_owned()),
            // Codex fails when an answer is cut; the others do not say, and what they cut looks whole.
            None if self.program == Some(Program::Codex) => Stop::EndTurn,
            None if self.payload.is_some() => Stop::ToolUse,
            None => Stop::Other("not told".to_owned()),
        }
    }

    /// Claims that the answer may have been cut off before its end.
    ///
    /// A payload was whole when the program took it.
    pub fn may_be_cut(&self) -> bool {
        self.payload.is_none() && !matches!(self.stop(), Stop::EndTurn | Stop::ToolUse)
    }
}

/// A structured answer.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Payload {
    /// Where it was found.
    pub source: PayloadSource,
    /// The line that holds it.
    pub at: Place,
    /// The answer as it was written.
    #[cfg_attr(feature = "schemars", schemars(with = "serde_json::Value"))]
    pub value: Box<RawValue>,
}

/// Where a structured answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PayloadSource {
    /// In the line that says that the program is done.
    Result,
    /// In a call of the tool for it that was accepted, because that line is missing.
    ToolCall,
}

/// What only some programs tell; absent where they do not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Metadata {
    /// What codex lets commands do: `read-only`, `workspace-write` or `danger-full-access`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox_mode: Option<String>,
    /// Where codex finds a key first: `CODEX_API_KEY`, `OPENAI_API_KEY`, `cached` (its own file), or
    /// `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_source: Option<String>,
    /// Turns that codex began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_count: Option<u64>,
    /// Events that codex says it dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_events_count: Option<u64>,
}

/// How many lines there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LineCounts {
    /// All of them.
    pub total: u64,
    /// JSON objects.
    pub raw_messages: u64,
    /// Objects that say their `type`.
    pub stream_events: u64,
    /// Nothing but white space.
    pub blank: u64,
    /// Not JSON, the last one if it was cut included; or with a member that is said twice.
    pub malformed: u64,
    /// JSON, but no object.
    pub no_object: u64,
    /// Objects of a kind that is not known.
    pub unknown: u64,
    /// Longer than is read.
    pub too_long: u64,
}

impl LineCounts {
    /// Says how many lines of each kind were kept raw and are not blank.
    pub(super) fn told(&self) -> Vec<String> {
        let kinds = [
            (self.malformed, "malformed"),
            (self.no_object, "no object"),
            (self.unknown, "unknown"),
            (self.too_long, "too long"),
        ];
        let told = kinds.into_iter().filter(|(count, _)| *count > 0);
        told.map(|(count, kind)| format!("{count} {kind}")).collect()
    }

    pub(super) fn count_raw(&mut self, reason: RawReason) {
        let count = match reason {
            RawReason::Blank => &mut self.blank,
            RawReason::Malformed | RawReason::Cut | RawReason::Ambiguous => &mut self.malformed,
            RawReason::NoObject => &mut self.no_object,
            RawReason::Unknown => &mut self.unknown,
            RawReason::TooLong => &mut self.too_long,
        };
        *count += 1;
    }
}

/// Where a line was kept raw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RawLine {
    /// Where it stands.
    pub at: Place,
    /// Why.
    pub reason: RawReason,
}
