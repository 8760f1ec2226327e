//! Whether a value can stand at a place, as far as the schema says so plainly.
//!
//! Only a clear no counts: every schema that may apply to the place refuses the value. What refers to
//! places outside `$defs` is not looked at, and leaves the question open.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::Document;
use crate::verdict::weigh;

use super::path::Path;

/// Where schemas keep what others refer to.
const SHARED: [&str; 2] = ["$defs", "definitions"];

/// Claims that no answer by `contract` says `value` at the place.
pub(super) fn is_impossible(contract: &Contract, at: &Path, value: &Value) -> bool {
    let Some(shape) = at.shape_in(contract) else { return false };
    let stated = shape.stated();
    !stated.is_empty() && stated.iter().all(|schema| refuses(contract.schema(), schema, value))
}

/// Claims that `schema`, which is a part of `root`, refuses `value`.
fn refuses(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(keywords) = schema else { return *schema == Value::Bool(false) };
    let mut alone = keywords.clone();
    for word in SHARED.into_iter().chain(["$schema"]) {
        if let Some(shared) = root.get(word) {
            alone.entry(word).or_insert_with(|| shared.clone());
        }
    }
    let alone = Value::Object(alone);
    if refers_elsewhere(&alone) {
        return false;
    }
    let (Ok(contract), Ok(document)) = (Contract::compile(alone), Document::from_value(value))
    else {
        return false;
    };
    !weigh(&contract, &document, None).is_empty()
}

/// Claims that something refers to a place that is not shared. Recurses as deep as the schema, which is
/// bounded.
fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, member)| match member {
            Value::String(target)
                if ["$ref", "$dynamicRef", "$recursiveRef"].contains(&key.as_str()) =>
            {
                !SHARED.iter().any(|word| target.starts_with(&format!("#/{word}/")))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => refers_elsewhere(member),
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
