//! Which members a contract knows at a place, as far as the schema says so plainly.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{Document, Kind, Node};

/// How many schemas are looked at for one place.
const SCHEMA_LIMIT: usize = 64;

/// The schemas that apply, or may apply, to one place of a value.
#[derive(Debug, Clone)]
pub(crate) struct Shape<'c> {
    root: &'c Value,
    schemas: Vec<&'c Value>,
    /// How many of them are stated for the place itself; the others are branches and references of these.
    stated: usize,
}

impl<'c> Shape<'c> {
    /// Returns the shape of the whole value.
    pub(crate) fn of_root(contract: &'c Contract) -> Self {
        Self::gather(contract.schema(), vec![contract.schema()])
    }

    /// Follows references and branches from `schemas`.
    fn gather(root: &'c Value, mut schemas: Vec<&'c Value>) -> Self {
        let (mut seen, stated) = (0, schemas.len());
        while let Some(schema) = schemas.get(seen).copied()
            && schemas.len() < SCHEMA_LIMIT
        {
            seen += 1;
            let reference = schema.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| reference.strip_prefix('#'));
            schemas.extend(target.and_then(|pointer| root.pointer(pointer)));
            for branches in ["allOf", "anyOf", "oneOf"] {
                schemas
                    .extend(schema.get(branches).and_then(Value::as_array).into_iter().flatten());
            }
            schemas.extend(["if", "then", "else"].iter().filter_map(|word| schema.get(word)));
        }
        Self { root, schemas, stated }
    }

    /// Returns the schemas that are stated for the place itself, whole with their branches.
    pub(crate) fn stated(&self) -> &[&'c Value] {
        self.schemas.get(..self.stated).unwrap_or_default()
    }

    /// Claims that a member called `key` is named here.
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.schemas.iter().any(|schema| property(schema, key).is_some())
    }

    /// Claims that members or items may be here that are not named, but held to a schema, or that not
    /// everything that applies here is known.
    pub(crate) fn is_open(&self) -> bool {
        let is_schema = |schema: &Value, word: &str| schema.get(word).is_some_and(Value::is_object);
        let is_far = |schema: &Value| {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let is_far = |it: &str| !it.starts_with("#/") && it != "#";
            reference.is_some_and(is_far) || schema.get("$dynamicRef").is_some()
        };
        self.schemas.len() >= SCHEMA_LIMIT
            || self.schemas.iter().any(|schema| {
                is_schema(schema, "patternProperties")
                    || is_schema(schema, "additionalProperties")
                    || is_far(schema)
            })
    }

    /// Claims that items are described here.
    pub(crate) fn has_items(&self) -> bool {
        self.schemas.iter().any(|it| it.get("items").is_some() || it.get("prefixItems").is_some())
    }

    /// Returns the names of all members that are named here.
    pub(super) fn declared(&self) -> impl Iterator<Item = &'c String> {
        let properties = self.schemas.iter().filter_map(|schema| schema.get("properties"));
        properties.filter_map(Value::as_object).flat_map(serde_json::Map::keys)
    }

    /// Claims that `scalar` is one of the values that are listed here.
    pub(crate) fn lists(&self, scalar: Node<'_>) -> bool {
        let is_same = |listed: &Value| match (listed, scalar.kind()) {
            (Value::String(word), Kind::String) => scalar.as_str() == Some(word),
            (Value::Number(number), Kind::Number) => {
                scalar.as_number().is_some_and(|scalar| scalar.equals(number))
            }
            _ => false,
        };
        let words = |schema: &'c Value| {
            let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            listed.chain(schema.get("const"))
        };
        self.schemas.iter().copied().flat_map(words).any(is_same)
    }

    /// Claims that `object` has all members that one of the schemas requires, or if none requires
    /// any, one that is named here.
    fn fits(&self, object: Node<'_>) -> bool {
        let has = |key: &str| object.member(key).is_some();
        let required = self.schemas.iter().filter_map(|schema| schema.get("required"));
        let mut required =
            required.filter_map(Value::as_array).filter(|keys| !keys.is_empty()).peekable();
        if required.peek().is_none() {
            return self.declared().any(|key| has(key));
        }
        required.any(|keys| keys.iter().filter_map(Value::as_str).all(has))
    }

    /// Returns the names of the members that are required here.
    pub(super) fn required(&self) -> impl Iterator<Item = &'c str> {
        let required = self.schemas.iter().filter_map(|schema| schema.get("required")?.as_array());
        required.flatten().filter_map(Value::as_str)
    }

    /// Returns the shape of the member called `key`.
    pub(crate) fn member(&self, key: &str) -> Self {
        let inner = self.schemas.iter().filter_map(|schema| property(schema, key)).collect();
        Self::gather(self.root, inner)
    }

    /// Returns the shape of items.
    pub(crate) fn item(&self) -> Self {
        let words = ["items", "prefixItems"];
        let found = self.schemas.iter().flat_map(|schema| words.map(|word| schema.get(word)));
        let inner = found.flatten().flat_map(|items| {
            items.as_array().map_or_else(|| vec![items], |each| each.iter().collect())
        });
        Self::gather(self.root, inner.collect())
    }
}

fn property<'c>(schema: &'c Value, key: &str) -> Option<&'c Value> {
    schema.get("properties")?.get(key)
}

/// Claims that `value` is an object with every member that the contract names, so that nothing
/// can be missing behind the last one.
pub(super) fn is_complete(contract: &Contract, value: &Document) -> bool {
    let shape = Shape::of_root(contract);
    let mut declared = shape.declared().peekable();
    declared.peek().is_some() && declared.all(|key| value.root().member(key).is_some())
}

/// Claims that `value` has the members of an answer, or of an answer's items.
pub(super) fn resembles(contract: &Contract, value: &Document) -> bool {
    let (shape, root) = (Shape::of_root(contract), value.root());
    match root.kind() {
        Kind::Object => shape.fits(root),
        Kind::Array => {
            let object = root.items().find(|item| item.kind() == Kind::Object);
            object.is_some_and(|object| shape.item().fits(object))
        }
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String => false,
    }
}

/// Claims that closers missing at the end of `value` cannot have been lost further inside.
///
/// `{"a":{"b":1,"c":2}` may have lost its last brace, or the one behind `1`. It is the last only
/// if the contract knows `c` beside `b`. Arrays in arrays leave the same doubt.
pub(super) fn closes_last(contract: &Contract, value: &Document) -> bool {
    let mut shape = Shape::of_root(contract);
    let mut node = value.root();
    loop {
        let (inner, inner_shape) = match node.kind() {
            Kind::Object => match node.members().last() {
                Some((key, inner)) => (inner, shape.member(key)),
                None => return true,
            },
            Kind::Array => match node.items().last() {
                Some(inner) => (inner, shape.item()),
                None => return true,
            },
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => return true,
        };
        let certain = match (node.kind(), inner.kind()) {
            (Kind::Object, Kind::Object) => {
                inner.members().skip(1).all(|(key, _)| inner_shape.declares(key))
            }
            (Kind::Array, Kind::Array) => inner.len() < 2,
            _ => true,
        };
        if !certain {
            return false;
        }
        (node, shape) = (inner, inner_shape);
    }
}
