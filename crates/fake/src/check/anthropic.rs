//! Anthropic Messages.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::Value;

use super::{Refusal, demand_text, entries, filled, is_tool_name, text};

const NAME_CHARS: usize = 128;

/// With one of these betas a conversation may hold `system` messages. Claude Code asks for both, and
/// does without when it is refused.
const SYSTEM_MESSAGES: [&str; 2] = ["per-turn-control-", "mid-conversation-"];

pub(super) fn check(headers: &HeaderMap, body: &Value) -> Result<(), Refusal> {
    if !headers.contains_key("x-api-key") && !headers.contains_key("authorization") {
        return Err(Refusal::no_key("x-api-key header is required"));
    }
    if !headers.contains_key("anthropic-version") {
        return Err(Refusal::bad("anthropic-version: header is required"));
    }
    demand_text(body, "model")?;
    if body.get("max_tokens").and_then(Value::as_u64).is_none_or(|most| most == 0) {
        return Err(Refusal::bad("max_tokens: Field required"));
    }
    tools(body)?;
    let messages = filled(body, "messages")?;
    if text(messages.first().unwrap_or(&Value::Null), "role") != "user" {
        return Err(Refusal::bad("messages: first message must use the \"user\" role"));
    }
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let instructed = allows_system_messages(headers);
    for (at, message) in messages.iter().enumerate() {
        // It says nothing to the calls before it.
        if instructed && text(message, "role") == "system" {
            continue;
        }
        blocks(at, message)?;
        results(at, message, &open)?;
        open = ids(message, "tool_use", "id");
        if let Some(twice) = open.iter().find(|id| !seen.insert(**id)) {
            return Err(Refusal::bad(format!(
                "messages.{at}: `tool_use` ids must be unique: {twice}"
            )));
        }
    }
    unanswered(messages.len(), &open)
}

fn allows_system_messages(headers: &HeaderMap) -> bool {
    let named = headers.get_all("anthropic-beta").iter().filter_map(|betas| betas.to_str().ok());
    named
        .flat_map(|betas| betas.split(','))
        .any(|beta| SYSTEM_MESSAGES.iter().any(|known| beta.trim().starts_with(known)))
}

fn tools(body: &Value) -> Result<(), Refusal> {
    let mut names = HashSet::new();
    for (at, tool) in entries(body, "tools").enumerate() {
        let name = text(tool, "name");
        if !is_tool_name(name, NAME_CHARS) {
            return Err(Refusal::bad(format!(
                "tools.{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        if !names.insert(name) {
            return Err(Refusal::bad("tools: Tool names must be unique."));
        }
        // Tools of the server have a `type` and no schema.
        let served = !matches!(text(tool, "type"), "" | "custom");
        if !served && !tool.get("input_schema").is_some_and(Value::is_object) {
            return Err(Refusal::bad(format!("tools.{at}.input_schema: Field required")));
        }
    }
    Ok(())
}

fn blocks(at: usize, message: &Value) -> Result<(), Refusal> {
    if !matches!(text(message, "role"), "user" | "assistant") {
        return Err(Refusal::bad(format!(
            "messages.{at}.role: Input should be 'user' or 'assistant'"
        )));
    }
    for block in entries(message, "content") {
        if text(block, "type") == "text" && text(block, "text").is_empty() {
            return Err(Refusal::bad("messages: text content blocks must be non-empty"));
        }
    }
    Ok(())
}

fn results(at: usize, message: &Value, open: &[&str]) -> Result<(), Refusal> {
    let given = ids(message, "tool_result", "tool_use_id");
    if let Some(stray) = given.iter().find(|id| !open.contains(id)) {
        return Err(Refusal::bad(format!(
            "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}. Each \
             `tool_result` block must have a corresponding `tool_use` block in the previous message."
        )));
    }
    let left: Vec<&str> = open.iter().copied().filter(|id| !given.contains(id)).collect();
    unanswered(at, &left)
}

fn unanswered(at: usize, open: &[&str]) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    Err(Refusal::bad(format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: \
         {}. Each `tool_use` block must have a corresponding `tool_result` block in the next \
         message.",
        open.join(", ")
    )))
}

fn ids<'b>(message: &'b Value, kind: &str, key: &str) -> Vec<&'b str> {
    let blocks = entries(message, "content").filter(|block| text(block, "type") == kind);
    blocks.map(|block| text(block, key)).collect()
}
