//! Arguments, judged by the schema that the model was told.
//!
//! Nothing is repaired or coerced here: hooks, permissions and the tool must all see what the model
//! wrote, and asking again costs little.

use airtight_core::verdict::check;
use airtight_core::{Contract, Document};
use serde_json::{Map, Value};

use super::ToolError;

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
            let list = violations.told(None);
            return Err(ToolError(format!("the arguments do not fit the tool's schema:\n{list}")));
        }
    }
    let Value::Object(arguments) = document.to_value() else {
        return Err(ToolError("the arguments are not a JSON object".to_owned()));
    };
    Ok(arguments)
}
