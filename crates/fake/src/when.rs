//! Which requests a turn is for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::endpoint::Wire;

/// Conditions on a request, all of which must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Each of these texts is in some string of the body.
    pub contains: Vec<String>,
    /// None of these texts is in any string of the body.
    pub lacks: Vec<String>,
    /// The request is in this format.
    pub wire: Option<Wire>,
    /// The request is to this model.
    pub model: Option<String>,
}

impl When {
    /// Claims that a request fits.
    pub(crate) fn accepts(&self, wire: Wire, model: &str, body: &Value) -> bool {
        self.wire.is_none_or(|wanted| wanted == wire)
            && self.model.as_deref().is_none_or(|wanted| wanted == model)
            && self.contains.iter().all(|text| has_text(body, text))
            && !self.lacks.iter().any(|text| has_text(body, text))
    }
}

/// Claims that some string within `value` contains `text`. Recursion is bounded by the parser's
/// own depth limit.
fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, text)),
        Value::Object(fields) => fields.values().any(|field| has_text(field, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
