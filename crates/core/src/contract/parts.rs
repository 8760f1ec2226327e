//! What each meta-schema judges: a schema without those in it that declare another draft.
//!
//! The library cuts schemas up in the same way before it compiles one, and tells the first fault of
//! the first part that has any. These are the same parts, so that everything can be told, and
//! nothing that the library will judge is overlooked.

use std::borrow::Cow;
use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::diagnostic::Diagnostic;
use crate::json::Pointer;

/// How many parts a schema may have: the library looks for every value among them.
const PART_LIMIT: usize = 256;

/// One of them.
pub(super) struct Part<'s> {
    pub(super) place: Pointer,
    pub(super) draft: Draft,
    pub(super) schema: Cow<'s, Value>,
}

/// The drafts of schemas, by their addresses.
type Embedded = HashMap<*const Value, Draft>;

/// The way from a part to a value in it.
enum Step<'s> {
    Key(&'s str),
    Index(usize),
}

/// Returns the parts of `schema`, or says that there are too many.
pub(super) fn parts(schema: &Value, draft: Draft) -> Result<Vec<Part<'_>>, Diagnostic> {
    let mut parts = Vec::new();
    let mut open = vec![(Pointer::root(), draft, schema)];
    while let Some((place, draft, schema)) = open.pop() {
        let mut embedded = Embedded::new();
        if declares_within(schema) {
            collect(draft, draft, schema, &mut embedded);
        }
        if parts.len() + open.len() + embedded.len() >= PART_LIMIT {
            let message = format!("more than {PART_LIMIT} parts declare a draft of their own");
            return Err(Diagnostic::error(Pointer::root(), "too_large", message));
        }
        let schema = if embedded.is_empty() {
            Cow::Borrowed(schema)
        } else {
            let mut cut = |part, draft, steps: &[Step<'_>]| {
                let pointer = steps.iter().fold(place.clone(), |pointer, step| match step {
                    Step::Key(key) => pointer.key(key),
                    Step::Index(index) => pointer.index(*index),
                });
                open.push((pointer, draft, part));
            };
            Cow::Owned(without(schema, &embedded, &mut Vec::new(), &mut cut))
        };
        parts.push(Part { place, draft, schema });
    }
    Ok(parts)
}

/// Claims that something below the root may declare a draft.
fn declares_within(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        let items = value.as_array().into_iter().flatten();
        for child in items.chain(value.as_object().into_iter().flat_map(Map::values)) {
            if child.get("$schema").is_some() {
                return true;
            }
            open.push(child);
        }
    }
    false
}

/// Finds the schemas with a name and a draft other than `judged_by` that are within no other. Recurses
/// as deep as the schema, which is bounded.
fn collect(draft: Draft, judged_by: Draft, schema: &Value, embedded: &mut Embedded) {
    for within in draft.subresources_of(schema) {
        let own = draft.detect(within);
        // It is named as either draft does.
        let is_named =
            [draft, own].iter().any(|draft| draft.create_resource_ref(within).id().is_some());
        if is_named && own != judged_by && own != Draft::Unknown {
            embedded.insert(std::ptr::from_ref(within), own);
        } else {
            collect(own, judged_by, within, embedded);
        }
    }
}

/// Copies `value` with what is `embedded` in it replaced by the schema that every draft accepts, and
/// hands that to `cut`.
fn without<'s>(
    value: &'s Value,
    embedded: &Embedded,
    steps: &mut Vec<Step<'s>>,
    cut: &mut impl FnMut(&'s Value, Draft, &[Step<'s>]),
) -> Value {
    let mut copy = |child: &'s Value, step| {
        steps.push(step);
        let copied = match embedded.get(&std::ptr::from_ref(child)) {
            Some(draft) => {
                cut(child, *draft, steps);
                Value::Object(Map::new())
            }
            None => without(child, embedded, steps, cut),
        };
        steps.pop();
        copied
    };
    match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| copy(item, Step::Index(index))).collect()
        }
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), copy(member, Step::Key(key))))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
