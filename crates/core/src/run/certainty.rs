//! Which impossible answers are past saving.
//!
//! The streaming checker knows what JSON Schema says. The judge is kinder: it repairs, takes off
//! wrappers and coerces scalars. So what the checker calls impossible is certain only if nothing of
//! that could help, whatever JSON value the answer goes on to be: the place must be declared by
//! plain `properties` and `items` from the root on (behind a choice, another branch might be coerced
//! to fit), and the value there of a kind that coercion never touches. Damaged JSON, repeated keys
//! and everything at the root are left to the judge. That the answer goes on to be JSON is the
//! promise of the provider, which was asked to enforce the schema.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{Kind, Pointer};
use crate::judge::Strictness;
use crate::stream::{Growing, GrowingNode, Impossible};

use super::watch::{Calls, Guard};

/// How many references are followed in a row.
const REFERENCE_LIMIT: usize = 16;

/// Keywords behind which a place is not plain: what is broken there may be mended elsewhere.
const BRANCHING: [&str; 14] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "prefixItems",
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
];

/// Claims that no completion, however kindly it is judged, can save an answer.
///
/// `byte` is the one that broke it, `growing` the answer before it.
pub(super) fn is_certain(
    guard: &Guard,
    impossible: &Impossible,
    byte: Option<u8>,
    growing: &Growing,
) -> bool {
    let violation = &impossible.violation;
    let keyword = violation.keyword.as_str();
    match (keyword, guard.strictness) {
        ("json", _) if guard.calls == Calls::Possible => return false,
        // Nothing follows, so nothing is saved; and the next call may be right.
        ("required" | "minProperties" | "minItems", _) if violation.pointer.is_root() => {
            return false;
        }
        (_, Strictness::Strict) | ("limit", Strictness::Lenient) => return true,
        (_, Strictness::Lenient) => {}
    }
    let place = plain_place(&guard.contract, &violation.pointer);
    let Some(schema) = place.filter(|_| !violation.pointer.is_root()) else {
        return false;
    };
    let string = node_at(growing, &violation.pointer).filter(|node| node.kind() == Kind::String);
    let is_listed = || schema.get("enum").is_some() || schema.get("const").is_some();
    match keyword {
        "type" => is_untouchable(byte, schema),
        "enum" | "const" => match string {
            Some(string) => !may_mean_a_member(string.text(), schema),
            None => is_untouchable(byte, schema),
        },
        // White space around a listed word is dropped.
        "pattern" | "format" | "minLength" | "maxLength" => string.is_some() && !is_listed(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => true,
        // Not `maxProperties`: a member that repeats another is dropped.
        "minItems" | "maxItems" | "minProperties" | "required" | "additionalProperties" => true,
        _ => false,
    }
}

/// Claims that the value which begins, or ends, with `byte` is never coerced to what `schema` wants.
fn is_untouchable(byte: Option<u8>, schema: &Value) -> bool {
    match byte {
        Some(b'{' | b'[' | b'n') => true,
        // A string may spell what is wanted.
        Some(b'"') | None => false,
        // Numbers and booleans become strings.
        Some(_) => !types(schema).any(|name| name == "string"),
    }
}

/// Claims that a string that begins so may be a listed one in other case or white space.
fn may_mean_a_member(beginning: &str, schema: &Value) -> bool {
    let beginning: Vec<char> = beginning.trim().chars().flat_map(char::to_lowercase).collect();
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut words = listed.chain(schema.get("const")).filter_map(Value::as_str);
    words.any(|word| {
        let word = word.trim().chars().flat_map(char::to_lowercase);
        word.take(beginning.len()).eq(beginning.iter().copied())
    })
}

fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let (one, several) = match schema.get("type") {
        Some(Value::Array(names)) => (None, names.as_slice()),
        name => (name, [].as_slice()),
    };
    one.into_iter().chain(several).filter_map(Value::as_str)
}

/// Returns the schema of the place, if nothing but `properties` and `items` lead there.
fn plain_place<'c>(contract: &'c Contract, pointer: &Pointer) -> Option<&'c Value> {
    let root = contract.schema();
    let mut schema = resolved(root, root)?;
    for segment in pointer.segments() {
        let inner = match schema.get("type")?.as_str()? {
            "object" => schema.get("properties")?.get(&segment)?,
            "array" => schema.get("items")?,
            _ => return None,
        };
        schema = resolved(root, inner)?;
    }
    Some(schema)
}

/// Follows references; nothing if the schema says more than one thing.
fn resolved<'c>(root: &'c Value, schema: &'c Value) -> Option<&'c Value> {
    let mut schema = schema;
    for _ in 0..REFERENCE_LIMIT {
        let members = schema.as_object()?;
        let is_root = std::ptr::eq(schema, root);
        if BRANCHING.iter().any(|keyword| members.contains_key(*keyword))
            || !is_root && members.contains_key("$id")
        {
            return None;
        }
        let Some(reference) = members.get("$ref") else {
            return Some(schema);
        };
        let is_alone = members.keys().all(|keyword| {
            matches!(
                keyword.as_str(),
                "$ref" | "$schema" | "$id" | "$defs" | "definitions" | "title" | "description"
            )
        });
        let target = reference.as_str()?.strip_prefix('#').filter(|_| is_alone)?;
        schema = root.pointer(target)?;
    }
    None
}

fn node_at<'g>(growing: &'g Growing, pointer: &Pointer) -> Option<GrowingNode<'g>> {
    let mut node = growing.root()?;
    for segment in pointer.segments() {
        node = match node.kind() {
            Kind::Array => node.items().nth(segment.parse().ok()?)?,
            Kind::Object => node.members().find(|(key, _)| *key == segment)?.1,
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => return None,
        };
    }
    Some(node)
}
