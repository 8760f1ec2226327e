//! What attributes of spans are called.
//!
//! By OpenTelemetry's conventions for generative AI (1.41) where they have a name; the rest is ours.

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(super) const ERROR_TYPE: &str = "error.type";

pub(super) const MODE: &str = "airtight.run.mode";
pub(super) const OUTCOME: &str = "airtight.run.outcome";
pub(super) const RUNG: &str = "airtight.run.rung";
pub(super) const ATTEMPTS: &str = "airtight.run.attempts";
pub(super) const TURNS: &str = "airtight.run.turns";
pub(super) const TOOL_CALLS: &str = "airtight.run.tool_calls";
pub(super) const RETRIES: &str = "airtight.run.retries";
pub(super) const COST: &str = "airtight.run.cost_usd";
pub(super) const NUMBER: &str = "airtight.turn.number";
pub(super) const STOP: &str = "airtight.turn.stop";
pub(super) const STATUS: &str = "airtight.tool.status";

/// Read by the bridge to OpenTelemetry, no attributes themselves.
pub(super) const KIND: &str = "otel.kind";
pub(super) const STATUS_CODE: &str = "otel.status_code";
