//! Contracts that expand much in place.
//!
//! Twenty definitions that each refer to the next one twice make a validator apply a million
//! subschemas to one scalar, without a step into the value that the [meter] would notice. In such
//! contracts each schema that applies others in place gets a branch that takes a unit.
//!
//! [meter]: crate::json::meter

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value, json};

use super::validator::Options;
use crate::json::probe::{Probe, Tape};

/// How many subschemas may be applied to one value for the price of the step into it.
const FREE_EXPANSION: u64 = 64;

/// How many references and branches are followed inward before the count is given up as too high.
const DEPTH_LIMIT: usize = 256;

const METER_KEYWORD: &str = "x-airtight-meter";

/// Keywords whose schemas judge the same value as the schema that holds them.
const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];

/// The other keywords that hold a schema, a list of schemas or a map of schemas.
const INWARD: [&str; 13] = [
    "$defs",
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "definitions",
    "items",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Returns a copy of `schema` whose in-place expansion is metered, if it expands much.
pub(super) fn metered(schema: &Value) -> Option<Value> {
    if Expansion::of(schema) <= FREE_EXPANSION {
        return None;
    }
    let mut copy = schema.clone();
    insert_meter(&mut copy);
    // A reference may point outside the places where schemas stand.
    for pointer in local_references(schema) {
        if let Some(target) = copy.pointer_mut(&pointer) {
            insert_meter(target);
        }
    }
    Some(copy)
}

/// Gives the metering keyword its meaning.
pub(super) fn with_meter(options: Options<'_>) -> Options<'_> {
    options.with_keyword(METER_KEYWORD, |_, _, _| Ok(Box::new(Toll)))
}

/// Takes a unit and has no other opinion.
struct Toll;

impl<'i> Keyword<'i, Tape> for Toll {
    fn validate(&self, instance: Probe<'i>) -> Result<(), ValidationError<'i>> {
        instance.meter().spend();
        Ok(())
    }

    fn is_valid(&self, instance: Probe<'i>) -> bool {
        instance.meter().spend();
        true
    }
}

/// Counts the subschemas that apply to one value, memoised by schema.
struct Expansion<'s> {
    root: &'s Value,
    counted: HashMap<usize, u64>,
}

impl<'s> Expansion<'s> {
    /// Returns the largest count of any schema in `root`; the highest number if unknown.
    fn of(root: &'s Value) -> u64 {
        let mut expansion = Self { root, counted: HashMap::new() };
        let mut largest = 0;
        let mut pending = vec![root];
        while let Some(value) = pending.pop() {
            match value {
                Value::Object(schema) => {
                    let embedded = !std::ptr::eq(value, root) && declares_base(schema);
                    let count = if embedded { u64::MAX } else { expansion.count(value, 0) };
                    largest = largest.max(count);
                    pending.extend(schema.values());
                }
                Value::Array(items) => pending.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
            if largest == u64::MAX {
                break;
            }
        }
        largest
    }

    fn count(&mut self, value: &'s Value, depth: usize) -> u64 {
        let Value::Object(schema) = value else {
            return 1;
        };
        if depth > DEPTH_LIMIT {
            return u64::MAX;
        }
        let key = std::ptr::from_ref(value).addr();
        // Until it is known, the count of a schema that leads back to itself is endless.
        if let Some(count) = self.counted.get(&key) {
            return *count;
        }
        self.counted.insert(key, u64::MAX);
        let mut count = 1_u64;
        for target in self.applied_in_place(schema) {
            let inner = target.map_or(u64::MAX, |target| self.count(target, depth + 1));
            count = count.saturating_add(inner);
        }
        self.counted.insert(key, count);
        count
    }

    /// Returns what `schema` applies in place; `None` for a reference that only a resolver knows.
    fn applied_in_place(&self, schema: &'s Map<String, Value>) -> Vec<Option<&'s Value>> {
        let mut applied = Vec::new();
        for keyword in IN_PLACE {
            match schema.get(keyword) {
                Some(Value::Array(branches)) => applied.extend(branches.iter().map(Some)),
                Some(Value::Object(map)) if keyword.starts_with("depend") => {
                    applied.extend(map.values().map(Some));
                }
                other => applied.extend(other.map(Some)),
            }
        }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(Value::String(reference)) = schema.get(keyword) {
                applied.push(local(reference).and_then(|pointer| self.root.pointer(&pointer)));
            }
        }
        applied
    }
}

/// Claims that references inside `schema` start from another base than the root's.
fn declares_base(schema: &Map<String, Value>) -> bool {
    ["$id", "id"].iter().any(|keyword| schema.get(*keyword).is_some_and(Value::is_string))
}

/// Returns the pointer of a reference such as `#/$defs/a`.
fn local(reference: &str) -> Option<Cow<'_, str>> {
    let pointer = reference.strip_prefix('#')?;
    // Percent-encoding is for the resolver.
    (!pointer.contains('%')).then_some(Cow::Borrowed(pointer))
}

fn local_references(schema: &Value) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    found.extend(local(reference).map(Cow::into_owned));
                }
                pending.extend(map.values());
            }
            Value::Array(items) => pending.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Adds the toll to every schema in `value` that applies others in place.
///
/// Recurses as deep as the schema, which its parser has bounded.
fn insert_meter(value: &mut Value) {
    let Value::Object(schema) = value else {
        return;
    };
    if IN_PLACE.iter().any(|keyword| schema.contains_key(*keyword)) {
        // `jsonschema` applies `allOf` before every other choice and keywords of ours last, when a
        // choice may have failed already. At the end, so that branches keep their numbers: if an
        // earlier one fails, the validator does not go on, and nothing multiplies.
        let toll = json!({ METER_KEYWORD: true });
        match schema.get_mut("allOf") {
            Some(Value::Array(branches)) => branches.push(toll),
            _ => {
                schema.insert("allOf".to_owned(), Value::Array(vec![toll]));
            }
        }
    }
    for (keyword, inner) in schema.iter_mut() {
        let is_map = matches!(
            keyword.as_str(),
            "$defs"
                | "definitions"
                | "dependencies"
                | "dependentSchemas"
                | "patternProperties"
                | "properties"
        );
        match inner {
            Value::Object(map) if is_map => map.values_mut().for_each(insert_meter),
            Value::Array(items) if holds_schemas(keyword) => {
                items.iter_mut().for_each(insert_meter);
            }
            inner if holds_schemas(keyword) => insert_meter(inner),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            Value::Array(_) | Value::Object(_) => {}
        }
    }
}

fn holds_schemas(keyword: &str) -> bool {
    IN_PLACE.contains(&keyword) || INWARD.contains(&keyword)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn chain(keyword: &str, levels: usize, leaf: &Value) -> Value {
        let mut definitions = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
            definitions.insert(format!("l{level}"), json!({ keyword: [next, next] }));
        }
        definitions.insert(format!("l{levels}"), leaf.clone());
        json!({"$ref": "#/$defs/l0", "$defs": definitions})
    }

    #[test_case(&json!({"type": "object"}), 1)]
    #[test_case(&json!({"anyOf": [true, {"not": {}}]}), 4)]
    #[test_case(&json!({"properties": {"a": {"allOf": [true, true, true]}}}), 4; "inside")]
    #[test_case(&json!({"$ref": "#/$defs/a", "$defs": {"a": {}}}), 2; "referred")]
    #[test_case(&json!({"properties": {"next": {"$ref": "#"}}}), 2; "recursion through a value")]
    #[test_case(&json!({"anyOf": [{"$ref": "#"}]}), u64::MAX; "recursion in place")]
    #[test_case(&json!({"$ref": "#anchor"}), u64::MAX; "left to the resolver")]
    #[test_case(&chain("anyOf", 3, &json!(false)), 30; "doubling")]
    #[test_case(&chain("oneOf", 100, &json!(false)), u64::MAX; "beyond counting")]
    fn subschemas_on_one_value_are_counted(schema: &Value, expected: u64) {
        assert_eq!(Expansion::of(schema), expected);
    }

    #[test]
    fn only_schemas_are_metered_and_never_their_data() {
        let schema = json!({
            "const": {"anyOf": []},
            "properties": {"anyOf": {"anyOf": [{"$ref": "#anchor"}, {"enum": [{"not": 1}]}]}},
        });
        let metered = metered(&schema).unwrap();
        assert_eq!(metered["const"], schema["const"]);
        let toll = json!([{ METER_KEYWORD: true }]);
        assert_eq!(metered["properties"]["anyOf"]["allOf"], toll);
        assert_eq!(metered["properties"].as_object().unwrap().len(), 1);
        assert_eq!(
            metered["properties"]["anyOf"]["anyOf"][1],
            schema["properties"]["anyOf"]["anyOf"][1]
        );
    }
}
