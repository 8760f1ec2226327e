//! What came of a run.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::codec::{FailureKind, Usage};
use crate::json::{Document, Pointer};
use crate::lower::Loss;
use crate::price::Cost;
use crate::verdict::{Edits, Violations};
use crate::{Advice, excerpt, redact};

/// How many characters of an answer an error shows.
const PREVIEW_LIMIT: usize = 200;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// An answer satisfies the contract.
    Met,
    /// The model answered without a conforming value.
    NoAnswer,
    /// Every answer was rejected.
    AttemptsExhausted,
    /// The model or its provider's filter declined.
    Refused,
    /// The answer was cut at the token limit.
    Truncated,
    /// The answer conforms and says nothing.
    Degenerate,
    /// The model made the same call three times in a row.
    Loop,
    /// The provider failed.
    Provider,
    /// The agent CLI is missing or broke down.
    Harness,
    /// The provider refuses the key.
    Auth,
    /// The sandbox could not be enforced.
    Sandbox,
    /// The contract or the configuration is refused.
    Config,
    /// Too many turns.
    TurnCap,
    /// Wall time, tool calls, tokens or cost ran out.
    Budget,
    /// Somebody stopped it.
    Interrupted,
}

impl From<FailureKind> for Outcome {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Auth => Self::Auth,
            FailureKind::Request
            | FailureKind::RateLimit
            | FailureKind::Overload
            | FailureKind::Unreachable
            | FailureKind::Network
            | FailureKind::Stalled
            | FailureKind::Malformed => Self::Provider,
            FailureKind::Program => Self::Harness,
            FailureKind::Unfit => Self::Config,
            FailureKind::Rejected => Self::AttemptsExhausted,
            FailureKind::TurnCap => Self::TurnCap,
            FailureKind::Budget => Self::Budget,
        }
    }
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 15] = [
        Self::Met,
        Self::NoAnswer,
        Self::AttemptsExhausted,
        Self::Refused,
        Self::Truncated,
        Self::Degenerate,
        Self::Loop,
        Self::Provider,
        Self::Harness,
        Self::Auth,
        Self::Sandbox,
        Self::Config,
        Self::TurnCap,
        Self::Budget,
        Self::Interrupted,
    ];

    /// Returns the word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::NoAnswer => "no_answer",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::Refused => "refused",
            Self::Truncated => "truncated",
            Self::Degenerate => "degenerate",
            Self::Loop => "loop",
            Self::Provider => "provider",
            Self::Harness => "harness",
            Self::Auth => "auth",
            Self::Sandbox => "sandbox",
            Self::Config => "config",
            Self::TurnCap => "turn_cap",
            Self::Budget => "budget",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Met => 0,
            Self::NoAnswer
            | Self::AttemptsExhausted
            | Self::Refused
            | Self::Truncated
            | Self::Degenerate
            | Self::Loop => 1,
            Self::Provider | Self::Harness => 3,
            Self::Auth => 41,
            Self::Sandbox => 44,
            Self::Config => 52,
            Self::TurnCap => 53,
            Self::Budget => 55,
            Self::Interrupted => 130,
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The way that an accepted value was obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rung {
    /// The provider's structured output.
    Native,
    /// The terminal tool.
    Tool,
    /// A grammar that held the model to the contract, token by token.
    Grammar,
    /// Found in plain text.
    Text,
    /// Found in plain text or arguments, and repaired.
    Repair,
    /// Any of these, after the model was asked again.
    ReAsk,
    /// Found by a second model in what the first one wrote, and traced to it.
    Extract,
}

impl Rung {
    /// Every rung.
    pub const ALL: [Self; 7] = [
        Self::Native,
        Self::Tool,
        Self::Grammar,
        Self::Text,
        Self::Repair,
        Self::ReAsk,
        Self::Extract,
    ];

    /// Returns the word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Tool => "tool",
            Self::Grammar => "grammar",
            Self::Text => "text",
            Self::Repair => "repair",
            Self::ReAsk => "re-ask",
            Self::Extract => "extract",
        }
    }
}

impl Serialize for Rung {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How one answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Accepted.
    Accepted,
    /// Judged and rejected.
    Rejected,
    /// Cancelled while it was said, because nothing could save it.
    Cancelled,
    /// Cut at the token limit.
    Truncated,
    /// Declined.
    Refused,
    /// Conforms and says nothing.
    Degenerate,
    /// A hook objected; it was not judged.
    Vetoed,
    /// The provider failed in the middle.
    Failed,
}

/// What the driver says of an answer. It changes no verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// Nothing.
    #[default]
    None,
    /// That it is done well, as agent CLIs say.
    Success,
}

/// One answer asked of the model that was meant to be the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Who said it: the model of the run, or the extractor, by its provider's name of it.
    pub model: String,
    /// What was said, exactly.
    pub raw: String,
    /// How it ended.
    pub ending: Ending,
    /// Which rung it was on.
    pub rung: Rung,
    /// What is wrong with it.
    pub violations: Violations,
    /// What it used.
    pub usage: Usage,
    /// What the driver says of it.
    pub claim: Claim,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.told(|text| redact::mask_tokens(text).into_owned()))]
pub struct RunError {
    /// The outcome it leads to.
    pub outcome: Outcome,
    /// What happened; of what the model said it holds names and places at most.
    pub message: String,
    /// What the model said instead of an answer, whole: half a secret would not be masked.
    pub quote: Option<String>,
    /// What to do about it.
    pub advice: Option<Advice>,
}

impl RunError {
    /// Makes an error that quotes nothing and advises nothing.
    pub fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self { outcome, message: message.into(), quote: None, advice: None }
    }

    pub(super) fn advise(mut self, advice: Advice) -> Self {
        self.advice = Some(advice);
        self
    }

    pub(super) fn quoting(mut self, said: &str) -> Self {
        self.quote = Some(said.to_owned());
        self
    }

    /// Returns the message with the beginning of what the model said, as `mask` leaves it.
    pub fn told(&self, mask: impl Fn(&str) -> String) -> String {
        let message = mask(&self.message);
        match &self.quote {
            Some(said) => format!("{message}. Output preview: {}", preview(&mask(said))),
            None => message,
        }
    }
}

/// Returns the beginning of `text`, with `+` if there is more.
fn preview(text: &str) -> String {
    match text.trim() {
        "" => "(nothing)".to_owned(),
        text => excerpt(text, PREVIEW_LIMIT, "+").into_owned(),
    }
}

/// Who denied a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeniedBy {
    /// The mode, or a rule.
    Permission,
    /// A hook.
    Hook,
}

/// One call that was denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The tool.
    pub tool: String,
    /// The id of the call.
    pub call_id: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// Who denied it.
    pub by: DeniedBy,
}

/// Everything there is to say about a finished run.
#[derive(Debug, Clone)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// The accepted value, in the contract's own shape.
    pub value: Option<Document>,
    /// The last text of a run without a contract.
    pub text: Option<String>,
    /// How the value was obtained.
    pub rung: Option<Rung>,
    /// Every attempt, in order.
    pub attempts: Vec<Attempt>,
    /// What was changed in the accepted answer.
    pub edits: Edits,
    /// Places of an extracted answer that cannot be looked up in what the model said: booleans, and
    /// words that the contract lists and the model did not write.
    pub unchecked: Vec<Pointer>,
    /// What the provider was not asked to enforce.
    pub losses: Vec<Loss>,
    /// All tokens, failed requests included.
    pub usage: Usage,
    /// What they cost; unknown if a price is, or what a request used.
    pub cost: Option<Cost>,
    /// Model calls.
    pub turns: u32,
    /// Tool calls that were asked for, also those that were denied, and those of subagents.
    pub tool_calls: u32,
    /// Requests that the transport sent again, those of subagents included.
    pub retries: u32,
    /// Events of streams that the codec did not know, those of subagents included.
    pub unknown_events: u64,
    /// Calls that were not allowed, those of subagents included.
    pub denials: Vec<Denial>,
    /// An estimate of the output tokens that early cancels saved: for each cancelled answer, as many
    /// as the longest whole answer of the run had more; 0 if there was none.
    pub tokens_saved: u64,
    /// Why it failed.
    pub error: Option<RunError>,
    /// The last thing the model said; never what an extractor did.
    pub raw: Option<String>,
    /// Wall time.
    pub elapsed: Duration,
}

impl Report {
    /// Claims that the model said something, that none of it was accepted, and that a person may
    /// still make an answer of it.
    pub fn needs_review(&self) -> bool {
        match self.outcome {
            Outcome::NoAnswer
            | Outcome::AttemptsExhausted
            | Outcome::Refused
            | Outcome::Truncated
            | Outcome::Degenerate
            | Outcome::Loop
            | Outcome::TurnCap
            | Outcome::Budget => self.raw.is_some(),
            Outcome::Met
            | Outcome::Provider
            | Outcome::Harness
            | Outcome::Auth
            | Outcome::Sandbox
            | Outcome::Config
            | Outcome::Interrupted => false,
        }
    }
}
