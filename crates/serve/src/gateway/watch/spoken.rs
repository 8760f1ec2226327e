//! What a session says, read from the events of its run.

use airtight_core::run::TERMINAL_TOOL;
use airtight_store::BoundedEvent;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Something that a chain says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gateway) enum Said {
    /// More text; all of them together are the answer.
    Text(String),
    /// A session called a tool.
    Call(Call),
}

/// A call of a tool that a session made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gateway) struct Call {
    pub(in crate::gateway) id: String,
    pub(in crate::gateway) name: String,
    /// As JSON.
    pub(in crate::gateway) arguments: String,
}

/// Claims that a text is the structured answer itself, as models that need no tool for it say it.
pub(super) fn is_answer(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns what a session says by an event. What its subagents say is between them.
pub(super) fn spoken(BoundedEvent { event, left_out_bytes }: &BoundedEvent) -> Vec<Said> {
    if event.kind != "assistant" {
        return Vec::new();
    }
    if let Some(bytes) = left_out_bytes {
        return vec![Said::Text(format!("(A message of {bytes} bytes is left out.)"))];
    }
    let body = event.body.as_deref().unwrap_or_default();
    let Ok(body) = serde_json::from_str::<Value>(body) else { return Vec::new() };
    if body.get("parent_tool_use_id").is_some_and(Value::is_string) {
        return Vec::new();
    }
    let content = body.pointer("/message/content").and_then(Value::as_array);
    content.into_iter().flatten().filter_map(piece).collect()
}

fn piece(block: &Value) -> Option<Said> {
    let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match word("type").as_str() {
        "text" => Some(Said::Text(word("text"))),
        // That one is the answer, and not a call.
        "tool_use" if word("name") != TERMINAL_TOOL => {
            let arguments = match block.get("input") {
                Some(Value::String(unread)) => unread.clone(),
                Some(input) => input.to_string(),
                None => "{}".to_owned(),
            };
            Some(Said::Call(Call { id: word("id"), name: word("name"), arguments }))
        }
        _ => None,
    }
}
