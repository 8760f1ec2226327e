//! What a place says about the items of an array, each of its schemas for itself.

use std::collections::BTreeMap;

use jsonschema::Draft;
use serde_json::Value;

use super::original::{Clause, Original, Place};
use crate::json::Pointer;

/// What one schema of a place says about items, in the words of 2020-12.
#[derive(Default)]
struct Facet<'p, 'c> {
    prefix: Option<&'p Clause<'c>>,
    rest: Option<&'p Clause<'c>>,
}

impl<'c> Facet<'_, 'c> {
    fn prefix_length(&self) -> usize {
        self.prefix.and_then(|clause| clause.value.as_array()).map_or(0, Vec::len)
    }

    /// Returns the schema for the item at `index`.
    fn at(&self, index: usize) -> Option<(Pointer, &'c Value)> {
        let positioned = self.prefix.and_then(|clause| clause.branches().nth(index));
        positioned.or_else(|| self.rest.map(|clause| (clause.inside(None), clause.value)))
    }
}

/// Everything a place says about items.
pub(crate) struct Items<'p, 'c> {
    facets: Vec<Facet<'p, 'c>>,
}

impl<'p, 'c> Items<'p, 'c> {
    pub(crate) fn of(place: &'p Place<'c>, draft: Draft) -> Self {
        let is_modern = draft >= Draft::Draft202012;
        let mut facets: BTreeMap<&Pointer, Facet<'p, 'c>> = BTreeMap::new();
        for clause in &place.clauses {
            let is_list = clause.value.is_array();
            match clause.keyword {
                "prefixItems" if is_modern => {
                    facets.entry(&clause.at).or_default().prefix = Some(clause);
                }
                "items" if is_list && !is_modern => {
                    facets.entry(&clause.at).or_default().prefix = Some(clause);
                }
                "items" => facets.entry(&clause.at).or_default().rest = Some(clause),
                // It only speaks beside a list of `items`.
                "additionalItems"
                    if !is_modern
                        && place
                            .all("items")
                            .any(|items| items.at == clause.at && items.value.is_array()) =>
                {
                    facets.entry(&clause.at).or_default().rest = Some(clause);
                }
                _ => {}
            }
        }
        Self { facets: facets.into_values().collect() }
    }

    /// Claims that nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        self.facets.is_empty()
    }

    /// Returns how many positions have schemas of their own.
    pub(crate) fn positions(&self) -> usize {
        self.facets.iter().map(Facet::prefix_length).max().unwrap_or(0)
    }

    /// Claims that something is said of items behind those positions.
    pub(crate) fn speaks_of_rest(&self) -> bool {
        self.facets.iter().any(|facet| facet.rest.is_some())
    }

    /// Returns every clause that speaks.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = &'p Clause<'c>> {
        self.facets.iter().flat_map(|facet| [facet.prefix, facet.rest]).flatten()
    }

    /// Returns all that must hold of the item at `index`.
    pub(crate) fn item(&self, original: &Original<'c>, index: usize) -> Place<'c> {
        let mut item = Place::default();
        for (at, schema) in self.facets.iter().filter_map(|facet| facet.at(index)) {
            item.and(original.place(schema, &at));
        }
        item
    }
}
