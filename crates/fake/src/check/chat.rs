//! `OpenAI` Chat Completions. The key is not demanded: compatible servers often need none.

use serde_json::Value;

use super::{Refusal, demand_text, entries, filled, is_tool_name, text};

/// The most characters of a function's name.
pub(super) const NAME_CHARS: usize = 64;

pub(super) fn check(body: &Value) -> Result<(), Refusal> {
    demand_text(body, "model")?;
    for (at, tool) in entries(body, "tools").enumerate() {
        let name = tool.get("function").map_or("", |function| text(function, "name"));
        if text(tool, "type") == "function" && !is_tool_name(name, NAME_CHARS) {
            return Err(Refusal::bad(format!(
                "Invalid 'tools[{at}].function.name': string does not match pattern. Expected a \
                 string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )));
        }
    }
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in filled(body, "messages")?.iter().enumerate() {
        match text(message, "role") {
            "tool" => answered(at, text(message, "tool_call_id"), &mut open)?,
            "system" | "developer" | "user" | "assistant" => {
                unanswered(&open)?;
                open = entries(message, "tool_calls").map(|call| text(call, "id")).collect();
            }
            role => {
                return Err(Refusal::bad(format!(
                    "Invalid value: '{role}'. Supported values are: 'system', 'assistant', \
                     'user', 'tool', and 'developer'."
                )));
            }
        }
    }
    unanswered(&open)
}

fn answered(at: usize, id: &str, open: &mut Vec<&str>) -> Result<(), Refusal> {
    let Some(place) = open.iter().position(|known| *known == id) else {
        return Err(Refusal::bad(format!(
            "Invalid parameter: messages with role 'tool' must be a response to a preceding \
             message with 'tool_calls'. (messages[{at}], tool_call_id {id})"
        )));
    };
    open.remove(place);
    Ok(())
}

fn unanswered(open: &[&str]) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    Err(Refusal::bad(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    )))
}
