//! What an agent CLI did, as transcripts keep it: which tools it called, never what it answered.
//!
//! Text of a program may be the payload, whole or quoted, and nobody can tell before the end; so of
//! texts only the length is kept, and of the terminal tool only that it was called.

use airtight_core::transcript::{Block, Event, Record, System, Told};
use serde_json::{Value, json};

/// Returns what is kept of `event`; nothing of pieces and of what is told again at the end.
pub(super) fn of(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Assistant(said) => json!({
            "type": "assistant",
            "line": said.at.line,
            "parent_tool_use_id": said.parent_tool_use_id,
            "blocks": said.message.content.iter().map(block).collect::<Vec<_>>(),
        }),
        Event::User(user) => json!({
            "type": "user",
            "line": user.at.line,
            "blocks": user.message.content.iter().map(told).collect::<Vec<_>>(),
        }),
        Event::System(System::Retry(retry)) => json!({
            "type": "retry",
            "line": retry.at.line,
            "status": retry.status,
        }),
        Event::Raw(raw) => json!({
            "type": "raw",
            "line": raw.at.line,
            "offset": raw.at.offset,
            "length": raw.at.length,
            "reason": raw.reason,
        }),
        Event::System(
            System::Init(_) | System::Notification(_) | System::Warning(_) | System::Other(_),
        )
        | Event::StreamEvent(_)
        | Event::Result(_) => return None,
    })
}

/// Returns what is kept of a record: everything but what the program said.
pub(super) fn record(record: &Record) -> Value {
    json!({
        "program": record.program,
        "program_version": record.program_version,
        "session_id": record.session_id,
        "model": record.model,
        "exit_code": record.exit_code,
        "duration_seconds": record.duration_seconds,
        "error_category": record.error_category,
        "api_error_status": record.api_error_status,
        "subtype": record.subtype,
        "num_turns": record.num_turns,
        "num_tool_calls": record.num_tool_calls,
        "num_retries": record.num_retries,
        "num_results": record.num_results,
        "has_payload": record.payload.is_some(),
        "usage": record.usage,
        "total_cost_usd": record.total_cost_usd,
        "warnings": record.warnings.iter().map(|warning| label(warning)).collect::<Vec<_>>(),
        "lines": record.lines,
        "raw_lines": record.raw_lines,
    })
}

/// Returns what a warning is about, without what the program said.
fn label(warning: &str) -> &str {
    warning.split(':').next().unwrap_or_default()
}

fn block(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({ "type": "text", "bytes": text.len() }),
        Block::Thinking { thinking } => json!({ "type": "thinking", "bytes": thinking.len() }),
        Block::ToolUse { id, name, input } => {
            json!({ "type": "call", "id": id, "name": name, "bytes": input.get().len() })
        }
        Block::Opaque { .. } => json!({ "type": "opaque" }),
    }
}

fn told(told: &Told) -> Value {
    match told {
        Told::Text { text } => json!({ "type": "text", "bytes": text.len() }),
        Told::ToolResult { tool_use_id, content, is_error } => json!({
            "type": "result",
            "call_id": tool_use_id,
            "failed": is_error,
            "bytes": content.len(),
        }),
        Told::Opaque { .. } => json!({ "type": "opaque" }),
    }
}
