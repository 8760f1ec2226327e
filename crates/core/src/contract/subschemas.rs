//! The subschemas of a contract, in one flat list.
//!
//! Walks only where a keyword holds schemas: `const`, `enum`, `default` and `examples` are data.
//! Places are kept as steps and become pointers on demand, so long keys cost nothing.

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::keywords::{Holds, Judges, Keyword, reference_stands_alone};
use super::weight::INDEX_BYTES;
use crate::json::Pointer;

/// A subschema's position in the list.
pub(crate) type SiteId = usize;

/// Where a subschema hangs.
#[derive(Debug)]
struct Place<'s> {
    parent: Option<SiteId>,
    step: Step<'s>,
    judges: Judges,
}

/// The way from its parent.
#[derive(Debug)]
enum Step<'s> {
    /// It is the root of a document.
    Root,
    /// Directly under a keyword.
    Keyword(&'static str),
    /// In a keyword's array.
    Index(&'static str, usize),
    /// In a keyword's object.
    Key(&'static str, &'s str),
    /// Where no keyword holds schemas, but a reference points.
    Elsewhere(Pointer),
}

/// Where in its keyword a subschema stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot<'s> {
    /// It is all that the keyword holds.
    Alone,
    /// In an array.
    At(usize),
    /// In an object.
    Named(&'s str),
}

impl Step<'_> {
    /// Returns about how many bytes it adds to a pointer.
    fn len(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Keyword(keyword) | Self::Index(keyword, _) => keyword.len() + 1 + INDEX_BYTES,
            Self::Key(keyword, key) => keyword.len() + key.len() + 2,
            Self::Elsewhere(pointer) => pointer.as_str().len(),
        }
    }
}

/// One subschema.
#[derive(Debug)]
pub(crate) struct Site<'s> {
    pub(crate) value: &'s Value,
    pub(crate) draft: Draft,
    /// The subschemas directly in this one.
    pub(crate) children: Vec<SiteId>,
    place: Place<'s>,
    pointer_bytes: usize,
}

impl<'s> Site<'s> {
    /// Returns the schema's members; none for `true` and `false`.
    pub(crate) fn members(&self) -> Option<&'s Map<String, Value>> {
        self.value.as_object()
    }

    /// Returns the keyword's value, if the draft of this schema knows the keyword.
    pub(crate) fn keyword(&self, name: &str) -> Option<&'s Value> {
        let known = Keyword::named(name).is_some_and(|keyword| keyword.is_in(self.draft));
        self.members()?.get(name).filter(|_| known)
    }

    /// Claims that a `$ref` makes every other keyword here void.
    pub(crate) fn is_only_reference(&self) -> bool {
        reference_stands_alone(self.draft) && self.keyword("$ref").is_some_and(Value::is_string)
    }

    pub(crate) fn parent(&self) -> Option<SiteId> {
        self.place.parent
    }

    pub(crate) fn judges(&self) -> Judges {
        self.place.judges
    }

    /// Returns the keyword that holds this subschema, and where in it.
    pub(crate) fn slot(&self) -> Option<(&'static str, Slot<'s>)> {
        match self.place.step {
            Step::Keyword(keyword) => Some((keyword, Slot::Alone)),
            Step::Index(keyword, index) => Some((keyword, Slot::At(index))),
            Step::Key(keyword, key) => Some((keyword, Slot::Named(key))),
            Step::Root | Step::Elsewhere(_) => None,
        }
    }

    /// Returns the name of the keyword that holds this subschema.
    pub(crate) fn held_by(&self) -> Option<&'static str> {
        match self.place.step {
            Step::Keyword(keyword) | Step::Index(keyword, _) | Step::Key(keyword, _) => {
                Some(keyword)
            }
            Step::Root | Step::Elsewhere(_) => None,
        }
    }
}

/// The subschemas of a contract and of the documents that it may refer to.
#[derive(Debug)]
pub(crate) struct Subschemas<'s> {
    sites: Vec<Site<'s>>,
    by_address: HashMap<*const Value, SiteId>,
    /// How many of the first sites belong to the contract itself.
    own: usize,
    pointer_bytes: usize,
}

impl<'s> Subschemas<'s> {
    /// Lists the subschemas of `schema`, parents before children.
    pub(crate) fn of(schema: &'s Value, draft: Draft) -> Self {
        let mut list =
            Self { sites: Vec::new(), by_address: HashMap::new(), own: 0, pointer_bytes: 0 };
        list.add_document(schema, draft);
        list.own = list.sites.len();
        list
    }

    /// Adds another document, and returns its root.
    pub(crate) fn add_document(&mut self, schema: &'s Value, draft: Draft) -> SiteId {
        self.add(schema, draft, Place { parent: None, step: Step::Root, judges: Judges::Nothing })
    }

    /// Returns the subschema at `pointer` under `from`, adding it if no keyword led there.
    pub(crate) fn locate(&mut self, from: SiteId, pointer: &Pointer) -> Option<SiteId> {
        let root = self.get(from)?;
        let (value, draft) = (root.value.pointer(pointer.as_str())?, root.draft);
        if let Some(known) = self.by_address.get(&std::ptr::from_ref(value)) {
            return Some(*known);
        }
        if !value.is_object() && !value.is_boolean() {
            return None;
        }
        let step = Step::Elsewhere(pointer.clone());
        Some(self.add(value, draft, Place { parent: Some(from), step, judges: Judges::Nothing }))
    }

    pub(crate) fn get(&self, id: SiteId) -> Option<&Site<'s>> {
        self.sites.get(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.sites.len()
    }

    /// Returns how long all pointers would be together. Compilers write them out, so long keys
    /// above many subschemas are a way to exhaust memory.
    pub(crate) fn pointer_bytes(&self) -> usize {
        self.pointer_bytes
    }

    /// Returns every subschema with its position.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SiteId, &Site<'s>)> {
        self.sites.iter().enumerate()
    }

    /// Returns the subschemas of the contract itself.
    pub(crate) fn own(&self) -> impl Iterator<Item = (SiteId, &Site<'s>)> {
        self.iter().take(self.own)
    }

    /// Returns the subschemas of the contract itself, also those that only a reference leads to.
    pub(crate) fn of_contract(&self) -> impl Iterator<Item = SiteId> {
        let mut is_inside = vec![true; self.len()];
        for (id, site) in self.iter().skip(1) {
            let parent = site.parent().and_then(|parent| is_inside.get(parent).copied());
            if let Some(slot) = is_inside.get_mut(id) {
                *slot = parent.unwrap_or_default();
            }
        }
        is_inside.into_iter().enumerate().filter_map(|(id, is_inside)| is_inside.then_some(id))
    }

    /// Returns the subschemas in `id` that judge the same value as it does.
    pub(crate) fn branches(&self, id: SiteId) -> impl Iterator<Item = SiteId> {
        let site = self.get(id).filter(|site| !site.is_only_reference());
        let children = site.into_iter().flat_map(|site| &site.children).copied();
        children.filter(|child| {
            self.get(*child).is_some_and(|child| child.judges() == Judges::SameValue)
        })
    }

    /// Returns the subschema that `value`, a part of the schema itself, is.
    pub(crate) fn at(&self, value: &Value) -> Option<SiteId> {
        self.by_address.get(&std::ptr::from_ref(value)).copied()
    }

    /// Returns where the subschema is in its document.
    pub(crate) fn pointer(&self, id: SiteId) -> Pointer {
        let mut steps = Vec::new();
        let mut at = self.get(id);
        while let Some(site) = at {
            steps.push(&site.place.step);
            at = site.parent().and_then(|parent| self.get(parent));
        }
        steps.into_iter().rev().fold(Pointer::root(), |pointer, step| match step {
            Step::Root => pointer,
            Step::Keyword(keyword) => pointer.key(keyword),
            Step::Index(keyword, index) => pointer.key(keyword).index(*index),
            Step::Key(keyword, key) => pointer.key(keyword).key(key),
            Step::Elsewhere(inner) => {
                inner.segments().fold(pointer, |pointer, segment| pointer.key(&segment))
            }
        })
    }

    /// Adds `value` and everything in it. Recurses as deep as the schema, which is bounded.
    fn add(&mut self, value: &'s Value, draft: Draft, place: Place<'s>) -> SiteId {
        let id = self.sites.len();
        // Only the root of a resource may change the draft; it is named as either of them does.
        let own = draft.detect(value);
        let is_named =
            [draft, own].iter().any(|draft| draft.create_resource_ref(value).id().is_some());
        let draft = if place.parent.is_none() || is_named { own } else { draft };
        let above =
            place.parent.and_then(|parent| self.get(parent)).map_or(0, |it| it.pointer_bytes);
        let pointer_bytes = above.saturating_add(place.step.len());
        self.pointer_bytes = self.pointer_bytes.saturating_add(pointer_bytes);
        self.sites.push(Site { value, draft, children: Vec::new(), place, pointer_bytes });
        self.by_address.insert(std::ptr::from_ref(value), id);
        for (name, held) in value.as_object().into_iter().flatten() {
            let Some(keyword) = Keyword::named(name) else { continue };
            // A definition is reached by pointer, whether or not the draft knows its keyword.
            if keyword.is_in(draft) || keyword.judges == Judges::Nothing {
                self.add_held(keyword, held, id, draft);
            }
        }
        id
    }

    /// Adds the subschemas that `keyword` of the schema at `parent` holds.
    fn add_held(&mut self, keyword: &Keyword, held: &'s Value, parent: SiteId, draft: Draft) {
        let is_schema = |value: &Value| value.is_object() || value.is_boolean();
        let mut add = |value: &'s Value, step: Step<'s>| {
            if is_schema(value) {
                let place = Place { parent: Some(parent), step, judges: keyword.judges };
                let child = self.add(value, draft, place);
                if let Some(site) = self.sites.get_mut(parent) {
                    site.children.push(child);
                }
            }
        };
        match (keyword.holds, held) {
            (Holds::Schemas | Holds::SchemaOrSchemas, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    add(item, Step::Index(keyword.name, index));
                }
            }
            (Holds::SchemaMap | Holds::Dependencies, Value::Object(members)) => {
                for (key, member) in members {
                    add(member, Step::Key(keyword.name, key));
                }
            }
            (Holds::Schema | Holds::SchemaOrSchemas, held) => {
                add(held, Step::Keyword(keyword.name));
            }
            // Data, or a mistake that the meta-schema reports.
            (Holds::Data | Holds::Schemas | Holds::SchemaMap | Holds::Dependencies, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pointers(schema: &Value) -> Vec<String> {
        let list = Subschemas::of(schema, Draft::Draft202012);
        list.own().map(|(id, _)| list.pointer(id).as_str().to_owned()).collect()
    }

    #[test]
    fn schemas_are_found_and_data_is_not_walked() {
        let schema = json!({
            "const": {"not": {}}, "enum": [{"not": {}}], "default": {"not": {}}, "examples": [{"not": {}}],
            "properties": {"a/b": {"items": true}, "properties": {}},
            "anyOf": [{}, {"not": false}],
            "dependencies": {"k": ["x"], "m": {}},
        });
        let expected = [
            "",
            "/properties/a~1b",
            "/properties/a~1b/items",
            "/properties/properties",
            "/anyOf/0",
            "/anyOf/1",
            "/anyOf/1/not",
            "/dependencies/m",
        ];
        assert_eq!(pointers(&schema), expected);
    }

    #[test]
    fn keywords_of_other_drafts_hold_nothing_but_definitions() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "prefixItems": [{}], "$defs": {"a": {}}, "items": [{}],
        });
        assert_eq!(pointers(&schema), ["", "/$defs/a", "/items/0"]);
    }
}
