//! Takes off what models put around the value they were asked for.

use serde_json::Value;

use super::shape::Shape;
use crate::contract::Contract;
use crate::json::{Document, Kind, Limits, Pointer};
use crate::verdict::{Edit, EditKind};

/// Keys that name the answer and nothing in it.
const WRAPPERS: [&str; 12] = [
    "output",
    "result",
    "answer",
    "value",
    "data",
    "response",
    "json",
    "object",
    "structuredoutput",
    "structuredresult",
    "finalanswer",
    "finalresult",
];

/// Returns what is inside `value`, if it is nothing but a wrapper.
pub(super) fn unwrap(
    contract: &Contract,
    value: &Document,
    limits: &Limits,
) -> Option<(Document, Edit)> {
    let root = value.root();
    if let Some(text) = root.as_str() {
        let inner = Document::parse_within(text, limits).ok()?;
        // A number in a string is left to coercion, which knows where a number is wanted.
        let spelt = matches!(inner.root().kind(), Kind::Object | Kind::Array | Kind::String);
        return spelt.then(|| (inner, Edit::at(EditKind::Unquoted, Pointer::root())));
    }
    let mut members = root.members();
    let (key, inside) = members.next()?;
    if members.next().is_some() || !is_wrapper(contract, key) {
        return None;
    }
    let inner = Document::parse_within(inside.raw(), limits).ok()?;
    Some((inner, Edit::at(EditKind::Unwrapped, Pointer::root().key(key))))
}

fn is_wrapper(contract: &Contract, key: &str) -> bool {
    let name = plain(key);
    let title = contract.schema().get("title").and_then(Value::as_str).map(plain);
    let known = WRAPPERS.contains(&name.as_str()) || title.is_some_and(|title| title == name);
    known && !Shape::of_root(contract).declares(key)
}

/// Returns the letters and digits of `name`, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
