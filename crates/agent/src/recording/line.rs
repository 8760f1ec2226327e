//! One line of a transcript: a wire shape of its own, versioned, apart from the runtime's events.

use airtight_core::codec::{Reply, Usage};
use airtight_core::message::{Block, ToolCall, ToolResult, ToolStatus};
use airtight_core::redact::{subagent_result, terminal_arguments};
use airtight_core::run::{
    Attempt, EventKind, Mode, Opening, Outcome, Report, Retry, TERMINAL_TOOL, Words,
};
use serde_json::{Value, json};

use super::witness;
use crate::drive::Event;
use crate::subagent::AGENT_TOOL;

/// The version of the shape.
const VERSION: u32 = 1;

/// Returns line `seq` for `event`; deltas have none, for what was said comes whole.
pub(super) fn of(event: &Event, seq: u64) -> Option<Value> {
    let (kind, body) = match &event.kind {
        EventKind::Delta(_) => return None,
        EventKind::Began(opening) => ("began", began(opening)),
        EventKind::Said { reply, text } => ("said", said(reply, *text)),
        EventKind::Heard(results) => ("heard", Value::Array(results.iter().map(heard).collect())),
        EventKind::Judged(attempt) => ("judged", judged(attempt)),
        EventKind::Extracting { model } => ("extracting", json!({ "model": model })),
        EventKind::Retried(retry) => ("retried", retried(retry)),
        EventKind::Witnessed(event) => ("witnessed", witness::of(event)?),
        EventKind::Recorded(record) => ("recorded", witness::record(record)),
        EventKind::Notified(notification) => (
            "notified",
            json!({
                "task_id": notification.task_id,
                "status": notification.status,
                "text": subagent_result(),
            }),
        ),
        EventKind::Ended(report) => ("ended", ended(report)),
    };
    Some(json!({
        "v": VERSION,
        "seq": seq,
        "at_ms": event.at_ms,
        "parent_call_id": event.parent_call_id,
        "type": kind,
        kind: body,
    }))
}

/// Returns the line for something that is no event of the run, and so has no number.
pub(super) fn note(at_ms: u64, text: &str) -> Value {
    json!({ "v": VERSION, "at_ms": at_ms, "type": "noted", "noted": { "text": text } })
}

fn began(opening: &Opening) -> Value {
    json!({
        "airtight_version": env!("CARGO_PKG_VERSION"),
        "model": opening.model,
        "mode": opening.mode.map(Mode::name),
        "contract": opening.contract.map(|fingerprint| fingerprint.to_string()),
    })
}

fn retried(retry: &Retry) -> Value {
    let Retry { failure, pause, bill } = retry;
    json!({
        "status": failure.status,
        "code": failure.code,
        "message": failure.message,
        "pause_ms": u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
        "usage": bill.usage(),
    })
}

fn said(reply: &Reply, text: Words) -> Value {
    json!({
        "id": reply.id,
        "model": reply.model,
        "usage": reply.usage,
        "blocks": reply.blocks.iter().map(|block| said_block(block, text)).collect::<Vec<_>>(),
    })
}

fn said_block(block: &Block, words: Words) -> Value {
    match block {
        Block::Text(_) if words == Words::Answer => {
            json!({ "type": "text", "text": terminal_arguments() })
        }
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking(thinking) => json!({ "type": "thinking", "text": thinking.text }),
        Block::Opaque(_) | Block::Session(_) => json!({ "type": "opaque" }),
        Block::Call(call) => said_call(call),
        Block::Result(result) => heard(result),
    }
}

fn said_call(call: &ToolCall) -> Value {
    let arguments = if call.name == TERMINAL_TOOL {
        terminal_arguments()
    } else {
        Value::from(call.arguments.as_str())
    };
    json!({ "type": "call", "id": call.id, "name": call.name, "arguments": arguments })
}

fn heard(result: &ToolResult) -> Value {
    let content = match result.name.as_str() {
        // What the model is told of a rejected payload quotes it.
        TERMINAL_TOOL => terminal_arguments(),
        AGENT_TOOL => subagent_result(),
        _ => Value::from(result.content.as_str()),
    };
    json!({
        "type": "result",
        "call_id": result.call_id,
        "name": result.name,
        "failed": result.status != ToolStatus::Done,
        "content": content,
    })
}

fn judged(attempt: &Attempt) -> Value {
    // A pointer is made of names, and the model may have made them up.
    let violations: Vec<Value> = attempt
        .violations
        .list
        .iter()
        .map(|violation| json!({ "keyword": violation.keyword }))
        .collect();
    json!({
        "model": attempt.model,
        "ending": attempt.ending,
        "rung": attempt.rung,
        "violations": violations,
        "usage": attempt.usage,
    })
}

fn ended(report: &Report) -> Value {
    let usage: &Usage = &report.usage;
    json!({
        "outcome": report.outcome,
        "rung": report.rung,
        "attempts": report.attempts.len(),
        "turns": report.turns,
        "tool_calls": report.tool_calls,
        "retries": report.retries,
        "unknown_events": report.unknown_events,
        "usage": usage,
        "cost_usd": report.cost.map(airtight_core::price::Cost::usd),
        "elapsed_ms": u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
        "error": report.error.as_ref().filter(|error| !quotes(error.outcome)).map(|error| &error.message),
    })
}

/// Claims that the message of such an error quotes what the model said.
fn quotes(outcome: Outcome) -> bool {
    match outcome {
        Outcome::NoAnswer
        | Outcome::AttemptsExhausted
        | Outcome::Refused
        | Outcome::Truncated
        | Outcome::Degenerate
        | Outcome::Loop
        | Outcome::Harness
        | Outcome::TurnCap => true,
        Outcome::Met
        | Outcome::Provider
        | Outcome::Auth
        | Outcome::Sandbox
        | Outcome::Config
        | Outcome::Budget
        | Outcome::Interrupted => false,
    }
}
