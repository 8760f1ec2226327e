//! What a place says about the members of an object, each of its schemas for itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::original::{Clause, Original, Place};
use crate::json::Pointer;

/// What one schema of a place says about members.
#[derive(Default)]
pub(crate) struct Facet<'p, 'c> {
    pub(crate) properties: Option<&'p Clause<'c>>,
    pub(crate) patterns: Option<&'p Clause<'c>>,
    /// `additionalProperties`, unless it is `true`.
    pub(crate) extras: Option<&'p Clause<'c>>,
}

impl<'p, 'c> Facet<'p, 'c> {
    pub(crate) fn declares(&self, key: &str) -> Option<&'c Value> {
        self.properties?.value.get(key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'c str> + use<'c> {
        let properties = self.properties.and_then(|clause| clause.value.as_object());
        properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    /// Returns `additionalProperties` where it speaks about every undeclared member.
    pub(crate) fn plain_extras(&self) -> Option<&'p Clause<'c>> {
        self.extras.filter(|_| self.patterns.is_none())
    }
}

/// Everything a place says about members.
pub(crate) struct Members<'p, 'c> {
    pub(crate) facets: Vec<Facet<'p, 'c>>,
    /// Declared keys in order, then required ones that nobody declares.
    pub(crate) keys: Vec<&'c str>,
    pub(crate) required: BTreeSet<&'c str>,
}

impl<'p, 'c> Members<'p, 'c> {
    pub(crate) fn of(place: &'p Place<'c>) -> Self {
        let mut facets: BTreeMap<&'p Pointer, Facet<'p, 'c>> = BTreeMap::new();
        let mut order = Vec::new();
        let mut required = Vec::new();
        for clause in &place.clauses {
            match clause.keyword {
                "properties" => {
                    order.push(&clause.at);
                    facets.entry(&clause.at).or_default().properties = Some(clause);
                }
                "patternProperties" => {
                    facets.entry(&clause.at).or_default().patterns = Some(clause);
                }
                "additionalProperties" if clause.value != &Value::Bool(true) => {
                    facets.entry(&clause.at).or_default().extras = Some(clause);
                }
                // Draft 3 has a boolean here, which means nothing today.
                "required" => required.extend(clause.value.as_array().into_iter().flatten()),
                _ => {}
            }
        }
        let required: Vec<&'c str> = required.into_iter().filter_map(Value::as_str).collect();
        let declared = order.iter().filter_map(|at| facets.get(at)).flat_map(Facet::keys);
        let mut seen = BTreeSet::new();
        let keys = declared.chain(required.iter().copied()).filter(|key| seen.insert(*key));
        let keys = keys.collect();
        Self {
            facets: facets.into_values().collect(),
            keys,
            required: required.into_iter().collect(),
        }
    }

    pub(crate) fn is_declared(&self, key: &str) -> bool {
        self.facets.iter().any(|facet| facet.declares(key).is_some())
    }

    pub(crate) fn has_patterns(&self) -> bool {
        self.facets.iter().any(|facet| facet.patterns.is_some())
    }

    pub(crate) fn plain_extras(&self) -> impl Iterator<Item = &'p Clause<'c>> {
        self.facets.iter().filter_map(Facet::plain_extras)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.plain_extras().any(|clause| clause.value == &Value::Bool(false))
    }

    pub(crate) fn optional_count(&self) -> usize {
        self.keys.iter().filter(|key| !self.required.contains(*key)).count()
    }

    /// Returns all that must hold of one member, and where it is declared.
    pub(crate) fn child(&self, original: &Original<'c>, key: &str) -> (Place<'c>, Pointer) {
        let mut child = Place::default();
        let mut pointer = None;
        for facet in &self.facets {
            if let (Some(schema), Some(clause)) = (facet.declares(key), facet.properties) {
                let at = clause.inside(Some(key));
                child.and(original.place(schema, &at));
                pointer.get_or_insert(at);
            } else if let Some(clause) = facet.plain_extras() {
                child.and(original.place(clause.value, &clause.inside(None)));
            }
        }
        (child, pointer.unwrap_or_default())
    }

    /// Returns all that must hold of members that nobody declares; nothing if all may be there.
    pub(crate) fn rest(&self, original: &Original<'c>) -> Option<Place<'c>> {
        let mut rest: Option<Place<'c>> = None;
        for clause in self.plain_extras() {
            let said = original.place(clause.value, &clause.inside(None));
            rest.get_or_insert_default().and(said);
        }
        rest
    }
}
