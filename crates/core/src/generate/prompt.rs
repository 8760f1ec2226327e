//! What a model is told of a contract in words.
//!
//! Runs and `airtight generate prompt` say the same: this is the only place that puts it. The schema is
//! exact and without white space; what only names it (`$id`, `x-version`) or is shown otherwise
//! (`x-examples`) is left out, because every token of it is paid for with each request.

use serde_json::{Map, Value};

use crate::contract::{Contract, Holds, Keyword};
use crate::json::Document;

/// Keywords that tell a model nothing.
const SILENT: [&str; 4] = ["$schema", "$comment", "x-version", "x-examples"];

/// A contract in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    schema: String,
    example: Option<String>,
}

impl Prompt {
    /// Puts `contract` in words, with an example of its form if there is one.
    pub fn of(contract: &Contract, example: Option<&Document>) -> Self {
        let schema = shown(contract.schema(), &identifiers(contract.schema()));
        Self { schema: schema.to_string(), example: example.map(Document::to_compact) }
    }

    /// Returns the schema as the model sees it.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns all that the model is told.
    pub fn text(&self) -> String {
        let mut text = format!(
            "Your final answer must be one JSON value that satisfies this JSON Schema:\n\n{}\n\n\
             Answer with only that JSON: no explanation before or after it, no Markdown fence, no \
             comments.",
            self.schema
        );
        if let Some(example) = &self.example {
            text.push_str("\n\nAn example of the form, whose content means nothing:\n\n");
            text.push_str(example);
        }
        text
    }
}

/// The heading of the part of a longer prompt that says what an answer looks like.
pub const RESPONSE_HEADING: &str = "## Response format";

impl Prompt {
    /// Returns what the model is told as a part of a longer prompt in Markdown. How an answer is handed
    /// over is not in it, nor an example: that is for whoever puts the question.
    pub fn section(&self) -> String {
        format!(
            "{RESPONSE_HEADING}\n\nYour answer is one JSON value that satisfies this JSON Schema:\n\n\
             ```json\n{}\n```\n",
            self.schema
        )
    }
}

/// Returns the keywords that name the schema, unless a reference repeats what they say.
fn identifiers(schema: &Value) -> Vec<&'static str> {
    let is_repeated = |name: &str| {
        let text = schema.get(name).and_then(Value::as_str);
        text.is_some_and(|text| !text.is_empty() && refers(schema, text.trim_end_matches('#')))
    };
    ["$id", "id"].into_iter().filter(|name| !is_repeated(name)).collect()
}

fn refers(value: &Value, address: &str) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, member)| match member {
            Value::String(text) if key.ends_with("Ref") || key == "$ref" => {
                text.starts_with(address)
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => refers(member, address),
        }),
        Value::Array(items) => items.iter().any(|item| refers(item, address)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns a schema without what tells a model nothing. Recurses as deep as the schema, which is bounded.
fn shown(schema: &Value, identifiers: &[&str]) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let kept = keywords.iter().filter(|(keyword, value)| {
        let is_name = identifiers.contains(&keyword.as_str()) && value.is_string();
        !is_name && !SILENT.contains(&keyword.as_str())
    });
    let shorter: Map<String, Value> = kept
        .map(|(keyword, value)| {
            // Only the root's own name is left out: others may be referred to.
            (
                keyword.clone(),
                Keyword::named(keyword).map_or_else(|| value.clone(), |it| inside(it.holds, value)),
            )
        })
        .collect();
    Value::Object(shorter)
}

fn inside(holds: Holds, value: &Value) -> Value {
    match (holds, value) {
        (Holds::Schema | Holds::SchemaOrSchemas, Value::Object(_)) => shown(value, &[]),
        (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(items)) => {
            items.iter().map(|item| shown(item, &[])).collect()
        }
        (Holds::SchemaMap | Holds::Dependencies, Value::Object(members)) => {
            let shown = members.iter().map(|(key, member)| (key.clone(), shown(member, &[])));
            Value::Object(shown.collect())
        }
        (_, value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(schema: Value) -> Value {
        let contract = Contract::compile(schema).unwrap();
        serde_json::from_str(Prompt::of(&contract, None).schema()).unwrap()
    }

    #[test]
    fn a_model_sees_the_schema_without_its_names() {
        let seen = schema(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://a.test/x.json",
            "x-version": "1.0.0",
            "x-examples": [],
            "type": "object",
            "properties": {"$comment": {"type": "string", "$comment": "why"}, "x-version": {}},
            "required": ["$comment"],
        }));
        assert_eq!(
            seen,
            json!({
                "type": "object",
                "properties": {"$comment": {"type": "string"}, "x-version": {}},
                "required": ["$comment"],
            })
        );
    }

    #[test]
    fn names_that_are_referred_to_stay() {
        let named = json!({
            "$id": "https://a.test/x.json",
            "properties": {"a": {"$ref": "https://a.test/x.json#/$defs/a"}},
            "$defs": {"a": {"type": "string"}},
        });
        assert_eq!(schema(named.clone()), named);
    }
}
