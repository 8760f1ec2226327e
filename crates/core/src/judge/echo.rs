//! Tells an answer from a contract that is handed back.

use super::Strictness;
use super::shape::Shape;
use crate::contract::Contract;
use crate::json::{Document, Kind, Node};

/// Claims that `value` is the contract's schema, or, unless that is for the caller to see, another
/// schema that has none of the members the contract names.
pub(super) fn is_echo(contract: &Contract, value: &Document, strictness: Strictness) -> bool {
    let root = value.root();
    if root.kind() != Kind::Object || !is_schema(root) {
        return false;
    }
    let shape = Shape::of_root(contract);
    let is_foreign =
        || shape.declared().next().is_some() && !root.members().any(|(key, _)| shape.declares(key));
    equals(contract, value) || strictness == Strictness::Lenient && is_foreign()
}

/// Claims that `node` reads like a JSON Schema.
fn is_schema(node: Node<'_>) -> bool {
    let has = |key: &str, kind: Kind| node.member(key).is_some_and(|member| member.kind() == kind);
    has("$schema", Kind::String)
        || has("type", Kind::String)
            && (has("properties", Kind::Object) || has("items", Kind::Object))
}

fn equals(contract: &Contract, value: &Document) -> bool {
    Document::from_value(contract.schema())
        .is_ok_and(|schema| schema.root().same_value(value.root()))
}
