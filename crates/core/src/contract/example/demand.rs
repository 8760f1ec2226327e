//! Demands: all that a conjunction of schemas asks of one value.

use std::collections::HashSet;

use referencing::{Draft, Resolver};
use serde_json::{Map, Value};

use super::choice::Choices;
use crate::contract::{Keyword, reference_stands_alone};
use crate::json::Pointer;

/// A schema and how its references resolve.
#[derive(Debug, Clone)]
pub(super) struct Place<'s> {
    pub(super) schema: &'s Value,
    pub(super) resolver: Resolver<'s>,
    pub(super) draft: Draft,
}

impl<'s> Place<'s> {
    /// Returns the place of a schema inside this one.
    pub(super) fn inner(&self, schema: &'s Value) -> Self {
        let resource = self.draft.create_resource_ref(schema);
        let resolver =
            self.resolver.in_subresource(resource).unwrap_or_else(|_| self.resolver.clone());
        Self { schema, resolver, draft: self.draft }
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.schema.as_object()?.get(keyword)
    }

    /// Returns what tells this schema from all others of the contract.
    fn address(&self) -> usize {
        std::ptr::from_ref(self.schema).addr()
    }

    fn resolve(&self, reference: &str) -> Option<Self> {
        let resolved = self.resolver.lookup(reference).ok()?;
        let (schema, resolver, draft) = resolved.into_inner();
        Some(Self { schema, resolver, draft })
    }

    /// Returns the reference that this schema follows.
    fn reference(&self) -> Option<&'s str> {
        let recursive = self.get("$recursiveRef").or_else(|| self.get("$dynamicRef"));
        self.get("$ref").or(recursive).and_then(Value::as_str)
    }
}

/// The schemas that all apply to one value, references followed and branches chosen.
pub(super) struct Demand<'s> {
    pub(super) places: Vec<Place<'s>>,
}

/// How many members of an `enum` are compared with those of another one.
const MEMBER_LIMIT: usize = 1000;

const KINDS: [&str; 6] = ["string", "object", "array", "number", "boolean", "null"];

impl<'s> Demand<'s> {
    /// Follows references, merges `allOf` and picks branches; nothing if it forbids everything.
    pub(super) fn gather(start: &[Place<'s>], at: &Pointer, choices: &mut Choices) -> Option<Self> {
        let mut places: Vec<Place<'s>> = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting: Vec<Place<'s>> = start.iter().rev().cloned().collect();
        while let Some(place) = waiting.pop() {
            let Some(members) = place.schema.as_object() else {
                if place.schema.as_bool() == Some(false) {
                    return None;
                }
                continue;
            };
            // Also ends references in a circle.
            if !seen.insert(place.address()) {
                continue;
            }
            if let Some(reference) = place.reference() {
                waiting.push(place.resolve(reference)?);
                if reference_stands_alone(place.draft) {
                    continue;
                }
            }
            branch(&place, members, at, choices, &mut waiting);
            places.push(place);
        }
        Some(Self { places })
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(Place::address)
    }

    /// Returns every value of `keyword`.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.places.iter().filter_map(move |place| place.get(keyword))
    }

    /// Returns the largest count that `keyword` gives.
    pub(super) fn at_least(&self, keyword: &str) -> usize {
        self.all(keyword).filter_map(count).max().unwrap_or_default()
    }

    /// Returns the smallest count that `keyword` gives.
    pub(super) fn at_most(&self, keyword: &str) -> usize {
        self.all(keyword).filter_map(count).min().unwrap_or(usize::MAX)
    }

    /// Returns the values that `const` and `enum` leave; nothing if there is neither.
    pub(super) fn allowed(&self) -> Option<Vec<&'s Value>> {
        let lists = self.places.iter().flat_map(|place| {
            let one = place.get("const").map(std::slice::from_ref);
            let some = place.get("enum").and_then(Value::as_array).map(Vec::as_slice);
            one.into_iter().chain(some)
        });
        lists.map(|list| list.iter().collect::<Vec<_>>()).reduce(|left, right| {
            // The few are looked for among the many.
            let (few, many) = if right.len() < left.len() { (right, left) } else { (left, right) };
            few.into_iter()
                .take(MEMBER_LIMIT)
                .filter(|value| many.iter().any(|other| same(value, other)))
                .collect()
        })
    }

    /// Returns the values that the schema's author gives as typical.
    pub(super) fn given(&self) -> Vec<&'s Value> {
        let examples = self.all("examples").filter_map(Value::as_array).flatten();
        let defaults = self.all("default").filter(|value| says_something(value));
        let kinds = self.kinds();
        examples.chain(defaults).filter(|value| kinds.iter().any(|kind| is(value, kind))).collect()
    }

    /// Returns the types that are allowed, the most fitting first.
    pub(super) fn kinds(&self) -> Vec<&'s str> {
        let declared = self.all("type").map(|declared| {
            let names = declared.as_array().map_or(std::slice::from_ref(declared), Vec::as_slice);
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>()
        });
        let meet = |left: Vec<&'s str>, right: Vec<&'s str>| {
            let fits = |name: &&str| right.contains(name);
            let narrowed = left.iter().filter_map(|name| match *name {
                "number" if right.contains(&"integer") && !fits(name) => Some("integer"),
                "integer" if right.contains(&"number") => Some("integer"),
                other => fits(&other).then_some(other),
            });
            narrowed.collect()
        };
        let mut kinds = declared.reduce(meet).unwrap_or_else(|| self.hinted());
        kinds.sort_by_key(|name| *name == "null");
        kinds
    }

    /// Returns all types, those first that a keyword is about.
    fn hinted(&self) -> Vec<&'s str> {
        let members = self.places.iter().filter_map(|place| place.schema.as_object());
        let hints: HashSet<&str> = members
            .flat_map(Map::keys)
            .filter_map(|keyword| Keyword::named(keyword)?.restricted_type())
            .collect();
        let mut kinds = KINDS.to_vec();
        kinds.sort_by_key(|kind| !hints.contains(kind));
        kinds
    }
}

/// Adds what applies beside or inside `members` to the same value.
fn branch<'s>(
    place: &Place<'s>,
    members: &'s Map<String, Value>,
    at: &Pointer,
    choices: &mut Choices,
    waiting: &mut Vec<Place<'s>>,
) {
    let address = place.address();
    let list = |keyword: &str| members.get(keyword).and_then(Value::as_array);
    for schema in list("allOf").into_iter().flatten().rev() {
        waiting.push(place.inner(schema));
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(branches) = list(keyword) else { continue };
        let chosen = choices.pick(at, &format!("{keyword} {address}"), branches.len());
        waiting.extend(branches.get(chosen).map(|schema| place.inner(schema)));
    }
    if let Some(condition) = members.get("if") {
        let holds = choices.pick(at, &format!("if {address}"), 2) == 0;
        let consequence = members.get(if holds { "then" } else { "else" });
        let both = [holds.then_some(condition), consequence];
        waiting.extend(both.into_iter().flatten().map(|schema| place.inner(schema)));
    }
    let known = |name: &String| {
        let has = |keyword: &str| members.get(keyword).and_then(|map| map.get(name)).is_some();
        has("properties") || list("required").is_some_and(|names| names.iter().any(|n| n == name))
    };
    for keyword in ["dependentSchemas", "dependencies"] {
        let dependants = members.get(keyword).and_then(Value::as_object).into_iter().flatten();
        for (name, schema) in dependants {
            if !schema.is_array() && known(name) {
                waiting.push(place.inner(schema));
            }
        }
    }
}

/// Returns a count, which drafts since 6 may write as `3.0`.
pub(super) fn count(value: &Value) -> Option<usize> {
    value
        .as_u64()
        .and_then(|count| usize::try_from(count).ok())
        .or_else(|| format!("{:.0}", value.as_f64()?).parse().ok())
}

fn same(left: &Value, right: &Value) -> bool {
    left == right || left.as_f64().is_some_and(|number| right.as_f64() == Some(number))
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            kind == "number"
                || kind == "integer" && number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
    }
}
