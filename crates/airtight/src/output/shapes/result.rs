//! The last line: what a run came to.

use airtight_core::codec::Usage as Spent;
use airtight_core::{Edit, Loss};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Attempt;

/// Everything there is to say about a finished run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunResult {
    /// `success`, `error_max_turns` or `error_during_execution`.
    pub(crate) subtype: &'static str,
    pub(crate) uuid: String,
    pub(crate) session_id: String,
    /// The name of the run in the ledger; absent if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// Whether this is the answer of an earlier run with the same idempotency key, so that nothing
    /// was asked; else absent.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) repeated: bool,
    /// Why the end of the run is not on record; else absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) store_error: Option<String>,
    pub(crate) is_error: bool,
    /// How it ended: `met`, `no_answer`, `attempts_exhausted`, `refused`, `truncated`,
    /// `degenerate`, `loop`, `provider`, `harness`, `auth`, `sandbox`, `config`, `turn_cap`, `budget`,
    /// `interrupted`, `input`, `usage`, `machine`, `busy` or `store`.
    pub(crate) outcome: &'static str,
    /// The exit code of the command.
    pub(crate) exit_code: u8,
    pub(crate) duration_ms: u64,
    /// Of that, time spent waiting for the model.
    pub(crate) duration_api_ms: u64,
    /// Model calls.
    pub(crate) num_turns: u32,
    /// Tool calls that were asked for, also those that were denied, those of subagents included and
    /// the terminal tool not counted.
    pub(crate) num_tool_calls: u32,
    /// Requests that were sent again, those of subagents included.
    pub(crate) num_retries: u32,
    /// Events of the provider's streams that were not understood, and left out.
    pub(crate) unknown_events: u64,
    /// The answer as JSON text; on success alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<String>,
    /// The answer, exactly as it was judged; on success alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub(crate) structured_output: Option<Box<RawValue>>,
    /// The same under its other name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub(crate) structured_result: Option<Box<RawValue>>,
    /// How the answer was obtained: `native`, `tool`, `grammar`, `text`, `repair`, `re-ask` or
    /// `extract`.
    #[schemars(with = "Option<String>")]
    pub(crate) rung: Option<airtight_core::run::Rung>,
    /// Every answer that was judged.
    pub(crate) attempts: Vec<Attempt>,
    /// What was changed in the accepted answer: `kind`, and `offset` or `pointer`; the first
    /// thousand of each kind.
    #[schemars(with = "Vec<Value>")]
    pub(crate) edits: Vec<Edit>,
    /// How many changes there are in all, listed or not.
    pub(crate) edit_total: usize,
    /// JSON pointers to what of an extracted answer cannot be looked up in what the model said:
    /// booleans, and words that the contract lists and the model did not write.
    pub(crate) unchecked: Vec<String>,
    /// What the provider was not asked to enforce: `pointer`, `keyword`, `enforced_by`.
    #[schemars(with = "Vec<Value>")]
    pub(crate) losses: Vec<Loss>,
    /// All tokens that providers counted, failed requests and subagents included.
    pub(crate) usage: Usage,
    /// What everything cost; `null` if a price is not known, or what a request used: one that broke
    /// off, or was stopped, before its count came.
    pub(crate) total_cost_usd: Option<f64>,
    /// An estimate of the output tokens that were not paid for, because answers that could not
    /// conform any more were cancelled.
    pub(crate) tokens_saved: u64,
    /// What each call of an agent CLI came to, as in `harness` lines; empty without `--via`.
    pub(crate) harness: Vec<Value>,
    /// Whether a person should look at it: the model said something, and none of it was accepted.
    pub(crate) review: bool,
    /// Calls that were not allowed.
    pub(crate) permission_denials: Vec<PermissionDenial>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Failure>,
    /// The last thing the model said; on failure alone, unless `--no-raw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A call that was not allowed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
pub(crate) struct PermissionDenial {
    pub(crate) tool_name: String,
    pub(crate) tool_use_id: String,
    /// The arguments; of `structured_output` a placeholder.
    pub(crate) tool_input: Value,
}

/// Why a run failed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Failure {
    /// The outcome again.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// Causes and findings, one a line.
    pub(crate) details: Vec<String>,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
}

/// Tokens; absent where the provider does not say.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
pub(crate) struct Usage {
    /// Read by the model in all, cached or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input_tokens: Option<u64>,
    /// Said by the model in all, thoughts included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_read_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_creation_input_tokens: Option<u64>,
    /// Of the output, thoughts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_tokens: Option<u64>,
    /// Input and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_tokens: Option<u64>,
}

impl From<&Spent> for Usage {
    fn from(spent: &Spent) -> Self {
        let total = match (spent.input_tokens, spent.output_tokens) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
        };
        Self {
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
            cache_read_input_tokens: spent.cache_read_input_tokens,
            cache_creation_input_tokens: spent.cache_creation_input_tokens,
            reasoning_tokens: spent.reasoning_tokens,
            total_tokens: total,
        }
    }
}
