//! Tells an answer from a contract that is handed back.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{Document, Kind, Node};

/// Claims that `value` is the contract's schema, or a schema where none was asked for.
pub(super) fn is_echo(contract: &Contract, value: &Document) -> bool {
    let root = value.root();
    if root.kind() != Kind::Object {
        return false;
    }
    is_schema(root) && (!wants_schema(contract.schema()) || equals(contract, value))
}

/// Claims that `node` reads like a JSON Schema.
fn is_schema(node: Node<'_>) -> bool {
    let has = |key: &str, kind: Kind| node.member(key).is_some_and(|member| member.kind() == kind);
    has("$schema", Kind::String)
        || has("type", Kind::String)
            && (has("properties", Kind::Object) || has("items", Kind::Object))
}

/// Claims that a schema could be what the contract asks for: its properties are open, or are
/// those of a schema.
fn wants_schema(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_none_or(|properties| {
        properties.contains_key("$schema") || properties.contains_key("properties")
    })
}

fn equals(contract: &Contract, value: &Document) -> bool {
    Document::from_value(contract.schema())
        .is_ok_and(|schema| schema.root().same_value(value.root()))
}
