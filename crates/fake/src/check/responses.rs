//! `OpenAI` Responses.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::Value;

use super::chat::NAME_CHARS;
use super::{Refusal, demand_text, entries, filled, is_tool_name, text};

pub(super) fn check(headers: &HeaderMap, body: &Value) -> Result<(), Refusal> {
    if !headers.contains_key("authorization") {
        return Err(Refusal::no_key("You didn't provide an API key."));
    }
    demand_text(body, "model")?;
    for (at, tool) in entries(body, "tools").enumerate() {
        if text(tool, "type") == "function" && !is_tool_name(text(tool, "name"), NAME_CHARS) {
            return Err(Refusal::bad(format!("Missing or invalid parameter: 'tools[{at}].name'.")));
        }
    }
    if body.get("input").is_some_and(Value::is_string) {
        return Ok(());
    }
    let input = filled(body, "input")?;
    // Answers that the server keeps may hold the other half of a pair.
    if body.get("previous_response_id").is_some_and(Value::is_string) {
        return Ok(());
    }
    let ids = |kind: &str| -> HashSet<&str> {
        let of_kind = input.iter().filter(|entry| text(entry, "type") == kind);
        of_kind.map(|entry| text(entry, "call_id")).collect()
    };
    let (calls, outputs) = (ids("function_call"), ids("function_call_output"));
    if let Some(id) = calls.difference(&outputs).next() {
        return Err(Refusal::bad(format!("No tool output found for function call {id}.")));
    }
    if let Some(id) = outputs.difference(&calls).next() {
        return Err(Refusal::bad(format!(
            "No tool call found for function call output with call_id {id}."
        )));
    }
    Ok(())
}
