//! Values that travel as JSON text, where a dialect cannot describe them.
//!
//! The text stands alone in an object, under a name that the contract never uses, so an answer
//! shows by itself that it carries text and no other branch can be mistaken for it.

use serde_json::{Map, Value, json};

use super::EnforcedBy;
use super::lowerer::Lowerer;
use super::original::Place;
use super::place::{Lowered, Sketch};
use super::shape::Shape;

/// The longest schema that is quoted to the model, in characters.
const QUOTE_LIMIT: usize = 600;

/// Returns a member name that does not occur in `schema`.
pub(super) fn carrier_for(schema: &Value) -> String {
    let mut name = "json".to_owned();
    while mentions(schema, &name) {
        name.push('_');
    }
    name
}

fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        Value::Object(members) => {
            members.iter().any(|(key, member)| key == name || mentions(member, name))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl<'c> Lowerer<'c> {
    /// Claims that a dialect of typed schemas cannot describe this place.
    pub(super) fn must_be_text(&mut self, place: &Place<'c>, types: &[&str], depth: usize) -> bool {
        let limits = self.table.limits;
        // The carrier is an object, and so is the wrapper of the root.
        let is_deep = depth.saturating_add(2) >= limits.depth;
        (types.contains(&"object") && (is_deep || self.object_needs_text(place)))
            || (types.contains(&"array") && self.is_tuple(place))
            || (types.len() > 1 && self.used.unions >= limits.unions)
            || self.has_compound_choices(place)
    }

    /// Lowers a place to JSON text, which can say everything and enforces nothing.
    pub(super) fn text(&mut self, place: &Place<'c>) -> Lowered {
        let quote = quote(place);
        let by = if quote.is_some() { EnforcedBy::Description } else { EnforcedBy::VerdictOnly };
        for clause in place.constraints() {
            self.lose(&clause.at, clause.keyword, by);
        }
        let told = match quote {
            Some(schema) if schema != "{}" => {
                format!("JSON text of a value that satisfies this JSON Schema: {schema}")
            }
            _ => "JSON text of any value".to_owned(),
        };
        let carrier = json!({
            "type": "object",
            "properties": { &self.carrier: {"type": "string", "description": told} },
            "required": [self.carrier],
            "additionalProperties": false,
        });
        let mut sketch = Sketch::default();
        sketch.schema.insert("type".to_owned(), json!("object"));
        self.annotate(place, &mut sketch);
        sketch.schema.remove("default");
        sketch.schema.extend(carrier.as_object().cloned().unwrap_or_default());
        sketch.shape = Shape { is_text: true, ..Shape::default() };
        self.seal(sketch)
    }
}

/// Returns the place as a schema to read, if it is short and complete.
fn quote(place: &Place<'_>) -> Option<String> {
    let mut schema = Map::new();
    for clause in place.constraints() {
        if schema.insert(clause.keyword.to_owned(), clause.value.clone()).is_some() {
            return None;
        }
    }
    let text = Value::Object(schema).to_string();
    (text.chars().count() <= QUOTE_LIMIT && !text.contains("\"$ref\"")).then_some(text)
}
