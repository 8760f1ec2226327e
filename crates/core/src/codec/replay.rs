//! What a conversation must look like before any provider takes it back.
//!
//! Three things that models and machines produce are refused on the wire: arguments that are no
//! JSON object, two messages of one side in a row, and results that do not come first. They are put
//! right here, for all formats alike, and nothing that was said is left out.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::message::{Block, Message, Role, ToolResult, ToolStatus};

/// The key under which arguments that are no JSON object go back to the model.
pub(super) const RAW_ARGUMENTS: &str = "_raw";

/// What a provider is told of a tool that failed without a word.
const WORDLESS_FAILURE: &str = "the tool failed without a message";

/// What one side said in a row.
#[derive(Debug)]
pub(super) struct Turn<'m> {
    pub(super) role: Role,
    /// Results first, then everything else in its order.
    pub(super) blocks: Vec<&'m Block>,
}

/// Joins messages of one side and puts results first.
pub(super) fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        match turns.last_mut() {
            Some(turn) if turn.role == message.role => turn.blocks.extend(&message.blocks),
            _ => turns.push(Turn { role: message.role, blocks: message.blocks.iter().collect() }),
        }
    }
    for turn in &mut turns {
        turn.blocks.sort_by_key(|block| !matches!(block, Block::Result(_)));
    }
    turns
}

/// Reads a call's arguments as the object that they are meant to be.
pub(super) fn arguments_object(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(arguments) {
        Ok(object @ Value::Object(_)) => object,
        Ok(_) | Err(_) => json!({ RAW_ARGUMENTS: arguments }),
    }
}

/// Returns a call's arguments as the text of an object, verbatim where they are one.
pub(super) fn arguments_text(arguments: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Cow::Borrowed(arguments),
        Ok(_) | Err(_) => Cow::Owned(arguments_object(arguments).to_string()),
    }
}

/// Returns what a result says, never empty for a failure.
pub(super) fn result_words(result: &ToolResult) -> &str {
    match result.status {
        ToolStatus::Failed | ToolStatus::Skipped if result.content.trim().is_empty() => {
            WORDLESS_FAILURE
        }
        ToolStatus::Failed | ToolStatus::Skipped | ToolStatus::Done => &result.content,
    }
}

/// Returns what a result says, marked where the format has no place for a failure.
pub(super) fn marked_result(result: &ToolResult) -> Cow<'_, str> {
    let words = result_words(result);
    match result.status {
        ToolStatus::Done => Cow::Borrowed(words),
        ToolStatus::Failed | ToolStatus::Skipped if words.starts_with("Error") => {
            Cow::Borrowed(words)
        }
        ToolStatus::Failed | ToolStatus::Skipped => Cow::Owned(format!("Error: {words}")),
    }
}
