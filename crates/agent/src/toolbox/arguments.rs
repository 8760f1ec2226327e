//! Arguments, judged by the schema that the model was told.
//!
//! Nothing is repaired or coerced here: hooks, permissions and the tool must all see what the model
//! wrote, and asking again costs little.

use std::fmt::Write as _;

use airtight_core::verdict::check;
use airtight_core::{Contract, Document, Violations};
use serde_json::{Map, Value};

use super::ToolError;

/// How many violations the model is told of at once.
const VIOLATION_LIMIT: usize = 10;

/// Reads arguments, or says all that is wrong with them.
pub(super) fn judge(
    text: &str,
    contract: Option<&Contract>,
) -> Result<Map<String, Value>, ToolError> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let document = Document::parse(text)
        .map_err(|error| ToolError(format!("the arguments are not JSON: {error}")))?;
    if let Some(contract) = contract {
        let violations = check(contract, &document);
        if !violations.is_empty() {
            return Err(ToolError(list(&violations)));
        }
    }
    let Value::Object(arguments) = document.to_value() else {
        return Err(ToolError("the arguments are not a JSON object".to_owned()));
    };
    Ok(arguments)
}

fn list(violations: &Violations) -> String {
    let mut text = "the arguments do not fit the tool's schema:".to_owned();
    for violation in violations.list.iter().take(VIOLATION_LIMIT) {
        let place = if violation.pointer.is_root() { "/" } else { violation.pointer.as_str() };
        let _ = write!(text, "\n- {place}: {}", violation.message);
    }
    if violations.more || violations.list.len() > VIOLATION_LIMIT {
        text.push_str("\n- and more");
    }
    text
}
