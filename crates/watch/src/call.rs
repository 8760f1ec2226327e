//! Which commands a tool call holds.
//!
//! Of tools that are known, what they run stands in `command`, and everything else is text. What others do
//! with their arguments nobody knows, so each text in them may be a command.

use std::borrow::Cow;

use serde_json::Value;

/// Tools that run nothing but their `command`: ours, and those of agent CLIs.
const KNOWN: [&str; 36] = [
    "Agent",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "ReportFindings",
    "StructuredOutput",
    "Task",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
    "agent",
    "edit",
    "glob",
    "grep",
    "grep_search",
    "list_directory",
    "monitor",
    "notebook_edit",
    "read_file",
    "replace",
    "report_findings",
    "run_shell_command",
    "structured_output",
    "task",
    "todo_write",
    "tool_search",
    "web_fetch",
    "web_search",
    "write_file",
];

/// How deep the arguments of a call are looked into.
const DEPTH_LIMIT: u8 = 16;

/// Returns the commands that a call of `tool` may run, one a line.
pub(crate) fn commands<'i>(tool: &str, input: &'i Value) -> Option<Cow<'i, str>> {
    if KNOWN.contains(&tool) {
        return input.get("command").and_then(Value::as_str).map(Cow::Borrowed);
    }
    let mut lines = Vec::new();
    gather(input, DEPTH_LIMIT, &mut lines);
    (!lines.is_empty()).then(|| Cow::Owned(lines.join("\n")))
}

/// Gathers the texts in `value`; those of a list may be the words of one command.
fn gather(value: &Value, depth: u8, lines: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else {
        // Whatever is so deep is looked at as it is written.
        lines.push(value.to_string());
        return;
    };
    match value {
        Value::String(text) => lines.push(text.clone()),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            if !words.is_empty() {
                lines.push(words.join(" "));
            }
            items.iter().filter(|item| !item.is_string()).for_each(|it| gather(it, depth, lines));
        }
        Value::Object(members) => members.values().for_each(|it| gather(it, depth, lines)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CO-93: a tool that nobody knows is no way past the guard.
    #[test]
    fn co_93_commands_are_looked_for_in_every_text_of_an_unknown_tool() {
        for (tool, input, expected) in [
            ("Bash", json!({ "command": "ls", "description": "docker restart web" }), Some("ls")),
            ("Write", json!({ "file_path": "x", "content": "docker restart web" }), None),
            ("structured_output", json!({ "summary": "docker restart web" }), None),
            ("mcp__box__run", json!({ "line": "docker restart web" }), Some("docker restart web")),
            (
                "mcp__box__run",
                json!({ "argv": ["docker", "restart", "web"], "wait": true }),
                Some("docker restart web"),
            ),
            ("tool_call", json!({ "a": ["x", { "b": "ls" }] }), Some("x\nls")),
            ("mcp__box__list", json!({ "limit": 5 }), None),
        ] {
            assert_eq!(commands(tool, &input).as_deref(), expected, "{tool}");
        }
    }
}
