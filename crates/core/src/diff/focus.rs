//! Where a change shows: a schema that describes whole answers by what stands at one place.

use jsonschema::Draft;
use serde_json::{Map, Value, json};

use crate::contract::text_matching;
use crate::json::Pointer;

use super::pairs::Hop;

/// How deep inside of an answer a change is looked for: examples do not nest much deeper.
const DEPTH_LIMIT: usize = 60;

/// What a member is called that nobody declared.
const STRANGER: &str = "extra_member";

/// The way from a whole answer to the value that a part judges.
#[derive(Debug)]
pub(super) struct Way {
    hops: Vec<Hop>,
    draft: Draft,
    /// Where that value is, with names made up where none are given.
    pub(super) place: Pointer,
    /// Whether the part judges names of members, which are no values.
    pub(super) is_name: bool,
}

impl Way {
    /// Makes up what the steps leave open; nothing if that is not possible.
    pub(super) fn new(hops: Vec<Hop>, draft: Draft) -> Option<Self> {
        if hops.iter().filter(|hop| **hop != Hop::Here).count() > DEPTH_LIMIT {
            return None;
        }
        let mut place = Pointer::root();
        let mut is_name = false;
        for hop in &hops {
            match hop {
                Hop::Here => {}
                Hop::Item(index) => place = place.index(*index),
                Hop::Name => is_name = true,
                Hop::Key(_) | Hop::Matching(_) | Hop::Other => place.push_key(&name(hop)?),
            }
        }
        Some(Self { hops, draft, place, is_name })
    }

    /// Returns a schema for whole answers that have a value which `inner` describes at this place.
    pub(super) fn focus(&self, mut inner: Value) -> Value {
        // References lead to the root, so that definitions have to be there.
        let mut definitions = Map::new();
        if let Some(members) = inner.as_object_mut() {
            members.remove("$schema");
            for name in ["$defs", "definitions"] {
                definitions.extend(members.remove(name).map(|held| (name.to_owned(), held)));
            }
        }
        let mut focus = self.hops.iter().rev().fold(inner, |inner, hop| self.around(hop, inner));
        if let Some(members) = focus.as_object_mut() {
            members.extend(definitions);
        }
        focus
    }

    fn around(&self, hop: &Hop, inner: Value) -> Value {
        match hop {
            Hop::Here => inner,
            Hop::Key(_) | Hop::Matching(_) | Hop::Other => {
                let name = name(hop).unwrap_or_default();
                json!({"type": "object", "required": [name], "properties": { name: inner }})
            }
            Hop::Item(index) => {
                let before = std::iter::repeat_n(Value::Object(Map::new()), *index);
                let list: Value = before.chain([inner]).collect();
                let keyword = match self.draft {
                    Draft::Draft4 | Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 => "items",
                    Draft::Draft202012 | _ => "prefixItems",
                };
                json!({"type": "array", "minItems": index + 1, keyword: list})
            }
            Hop::Name => json!({"type": "object", "minProperties": 1, "propertyNames": inner}),
        }
    }
}

fn name(hop: &Hop) -> Option<String> {
    match hop {
        Hop::Key(key) => Some(key.clone()),
        Hop::Matching(pattern) => text_matching(pattern),
        Hop::Other => Some(STRANGER.to_owned()),
        Hop::Here | Hop::Item(_) | Hop::Name => None,
    }
}
