//! What is asked of a run.

use std::sync::Arc;
use std::time::Duration;

use crate::contract::{Contract, Source};
use crate::lower::Dialect;
use crate::message::ToolSpec;
use crate::price::Price;
use crate::verdict::Check;

/// One job for one model.
#[derive(Debug, Clone)]
pub struct Job {
    /// What the answer must satisfy; a subagent without one answers in text.
    pub contract: Option<Arc<Contract>>,
    /// What the provider accepts of JSON Schema.
    pub dialect: Dialect,
    /// The provider's name of the model.
    pub model: String,
    /// How the contract is put to the model.
    pub mode: Mode,
    /// Standing instructions of the caller.
    pub system: Option<String>,
    /// The job.
    pub prompt: String,
    /// What the model may call, the terminal tool left out.
    pub tools: Vec<ToolSpec>,
    /// Whether the terminal tool may be offered.
    pub terminal: Terminal,
    /// Bounds.
    pub policy: Policy,
    /// What tokens cost, if known.
    pub price: Option<Price>,
    /// Who says what an answer costs.
    pub account: Account,
    /// What grounded strings must be quoted from.
    pub source: Option<Source>,
    /// What else an answer that satisfies the contract must pass.
    pub check: Option<Arc<dyn Check>>,
    /// Who looks for the answer in text that holds none, if anybody.
    pub extractor: Option<Extractor>,
}

/// A second model, which looks for the answer in what the first one wrote instead of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Extractor {
    /// Its provider's name of it.
    pub model: String,
    /// What its provider accepts of JSON Schema.
    pub dialect: Dialect,
    /// What its tokens cost, if known.
    pub price: Option<Price>,
    /// Who says what its answers cost.
    pub account: Account,
}

/// How the contract is put to the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The strongest that fits the job.
    #[default]
    Auto,
    /// The provider's structured output.
    Native,
    /// The terminal tool.
    Tool,
    /// Words alone.
    Prompt,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Auto, Self::Native, Self::Tool, Self::Prompt];

    /// Returns the mode of this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == word)
    }

    /// Returns the word for it in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
        }
    }
}

/// Who says what an answer costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Account {
    /// It follows from the price of tokens.
    #[default]
    Price,
    /// The driver tells it with each answer, as some agent CLIs do.
    Driver,
}

/// Whether the terminal tool may be offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Terminal {
    /// It may.
    #[default]
    Offered,
    /// It was denied explicitly; the model will not see it.
    Denied,
}

/// Whether an answer in plain text counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextRung {
    /// If it holds exactly one conforming value.
    #[default]
    Allowed,
    /// Never: the tool or native rung alone.
    Refused,
}

/// Whether an answer counts that conforms only after a coercion or a syntactic repair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepairRung {
    /// If the schema leaves no doubt of what was meant.
    #[default]
    Allowed,
    /// Never: the answer as it stands.
    Refused,
}

/// The bounds of a run.
#[derive(Debug, Clone)]
pub struct Policy {
    /// How often the model is asked again after a rejected answer, at most
    /// [`REASK_LIMIT`](super::REASK_LIMIT) times.
    pub reasks: u8,
    /// Whether plain text counts.
    pub text: TextRung,
    /// Whether an answer counts that had to be changed.
    pub repair: RepairRung,
    /// The most model calls, the last of which forces the terminal tool;
    /// [`TURN_LIMIT`](super::TURN_LIMIT) if absent.
    pub max_turns: Option<u32>,
    /// The most output tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// What may be spent in all.
    pub budget: Budget,
}

/// What may be spent in all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    /// Wall time.
    pub wall: Option<Duration>,
    /// Tool calls, the terminal tool not counted; 0 allows none.
    pub tool_calls: Option<u32>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Cost in picodollars; a model of unknown price is refused under it.
    pub cost: Option<crate::price::Cost>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            reasks: 2,
            text: TextRung::Allowed,
            repair: RepairRung::Allowed,
            max_turns: None,
            max_output_tokens: None,
            temperature: None,
            budget: Budget::default(),
        }
    }
}
