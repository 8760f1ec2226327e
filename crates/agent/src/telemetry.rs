//! What runs show of themselves to telemetry: spans with names, counts and times.
//!
//! Nothing that was said gets here: no prompt, answer, argument, result or error text, and no word
//! that a model or its provider made up. So there is nothing to mask, on success or failure.

mod names;

use airtight_core::codec::{FailureKind, Reply, Stop};
use airtight_core::message::ToolStatus;
use airtight_core::run::{Job, Outcome, Report, Rung};
use tracing::Span;
use tracing::field::Empty;

use crate::provider::Provider;
use names::{
    ATTEMPTS, COST, ERROR_TYPE, INPUT_TOKENS, KIND, MODE, MODEL, NUMBER, OPERATION, OUTCOME,
    OUTPUT_TOKENS, OUTPUT_TYPE, PROVIDER, RETRIES, RUNG, STATUS, STATUS_CODE, STOP, TOOL_CALLS,
    TOOL_NAME, TURNS,
};

/// The target of all spans of runs, and of nothing else: whoever exports takes only these.
pub const TELEMETRY_TARGET: &str = "airtight::telemetry";

/// What the conventions call a name that is not told.
const OTHER: &str = "_OTHER";

/// Who wants a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    User,
    Agent,
}

/// How a turn ended without a whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The answer could not conform any more.
    Impossible,
    /// The run was over.
    Stopped,
    /// The provider failed for good.
    Failed(FailureKind),
}

/// Begins a run.
pub(crate) fn run(provider: &Provider, job: &Job, sender: Sender) -> Span {
    // What notifications set off are turns of a run, which do not have this.
    let is_json = sender == Sender::User && job.contract.is_some();
    tracing::info_span!(
        target: TELEMETRY_TARGET,
        "run",
        { OPERATION } = "invoke_agent",
        { PROVIDER } = provider.telemetry_name(),
        { MODEL } = job.model,
        { MODE } = job.mode.name(),
        { OUTPUT_TYPE } = is_json.then_some("json"),
        { OUTCOME } = Empty,
        { RUNG } = Empty,
        { ATTEMPTS } = Empty,
        { TURNS } = Empty,
        { TOOL_CALLS } = Empty,
        { RETRIES } = Empty,
        { INPUT_TOKENS } = Empty,
        { OUTPUT_TOKENS } = Empty,
        { COST } = Empty,
        { ERROR_TYPE } = Empty,
        { STATUS_CODE } = Empty,
    )
}

/// Ends a run; its tokens and cost include those of its subagents.
pub(crate) fn run_ended(span: &Span, report: &Report) {
    span.record(OUTCOME, report.outcome.name());
    span.record(RUNG, report.rung.map(Rung::name));
    span.record(ATTEMPTS, i64::try_from(report.attempts.len()).ok());
    span.record(TURNS, i64::from(report.turns));
    span.record(TOOL_CALLS, i64::from(report.tool_calls));
    span.record(RETRIES, i64::from(report.retries));
    span.record(INPUT_TOKENS, count(report.usage.input_tokens));
    span.record(OUTPUT_TOKENS, count(report.usage.output_tokens));
    span.record(COST, report.cost.map(airtight_core::price::Cost::usd));
    if report.outcome != Outcome::Met {
        fail(span, report.outcome.name());
    }
}

/// Begins a turn: one request to the model, however often it is sent.
pub(crate) fn turn(provider: &Provider, job: &Job, number: u32) -> Span {
    tracing::info_span!(
        target: TELEMETRY_TARGET,
        "turn",
        { KIND } = "client",
        { OPERATION } = "chat",
        { PROVIDER } = provider.telemetry_name(),
        { MODEL } = job.model,
        { NUMBER } = i64::from(number),
        { INPUT_TOKENS } = Empty,
        { OUTPUT_TOKENS } = Empty,
        { STOP } = Empty,
        { ERROR_TYPE } = Empty,
        { STATUS_CODE } = Empty,
    )
}

/// Ends a turn.
pub(crate) fn turn_ended(span: &Span, reply: &Reply, cut: Option<Cut>) {
    span.record(INPUT_TOKENS, count(reply.usage.input_tokens));
    span.record(OUTPUT_TOKENS, count(reply.usage.output_tokens));
    span.record(STOP, reply.stop.as_ref().map(stop));
    if let Some(cut) = cut {
        fail(span, word(cut));
    }
}

/// Begins a tool call; a name is told only if it is that of a tool, not what a model made up.
pub(crate) fn tool(known: Option<&str>) -> Span {
    tracing::info_span!(
        target: TELEMETRY_TARGET,
        "tool",
        { OPERATION } = "execute_tool",
        { TOOL_NAME } = known.unwrap_or(OTHER),
        { STATUS } = Empty,
        { ERROR_TYPE } = Empty,
        { STATUS_CODE } = Empty,
    )
}

/// Ends a tool call.
pub(crate) fn tool_ended(span: &Span, status: ToolStatus) {
    match status {
        ToolStatus::Done => {
            span.record(STATUS, "done");
        }
        ToolStatus::Failed => {
            span.record(STATUS, "failed");
            fail(span, OTHER);
        }
        ToolStatus::Skipped => {
            span.record(STATUS, "skipped");
        }
    }
}

fn fail(span: &Span, kind: &'static str) {
    span.record(ERROR_TYPE, kind);
    span.record(STATUS_CODE, "error");
}

/// Counts in the only whole numbers that the bridge to OpenTelemetry knows as such.
fn count(tokens: Option<u64>) -> Option<i64> {
    i64::try_from(tokens?).ok()
}

fn stop(stop: &Stop) -> &str {
    match stop {
        Stop::EndTurn | Stop::ToolUse | Stop::MaxTokens | Stop::Refusal => stop.name(),
        Stop::Other(_) => OTHER,
    }
}

fn word(cut: Cut) -> &'static str {
    match cut {
        Cut::Impossible => "impossible",
        Cut::Stopped => "stopped",
        Cut::Failed(FailureKind::Auth) => "auth",
        Cut::Failed(FailureKind::RateLimit) => "rate_limit",
        Cut::Failed(FailureKind::Overload) => "overload",
        Cut::Failed(FailureKind::Request) => "request",
        Cut::Failed(FailureKind::Unreachable) => "unreachable",
        Cut::Failed(FailureKind::Network) => "network",
        Cut::Failed(FailureKind::Stalled) => "stalled",
        Cut::Failed(FailureKind::Malformed) => "malformed",
        Cut::Failed(FailureKind::Program) => "program",
        Cut::Failed(FailureKind::Unfit) => "unfit",
        Cut::Failed(FailureKind::Rejected) => "rejected",
        Cut::Failed(FailureKind::TurnCap) => "turn_cap",
        Cut::Failed(FailureKind::Budget) => "budget",
    }
}
