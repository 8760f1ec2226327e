//! Arrays: positions and the rest.

use std::collections::BTreeMap;

use jsonschema::Draft;
use serde_json::{Value, json};

use super::dialect::Untyped;
use super::lowerer::Lowerer;
use super::original::{Clause, Place};
use super::place::Sketch;
use super::{EnforcedBy, Unportable};
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

impl<'c> Lowerer<'c> {
    fn facets<'p>(&self, place: &'p Place<'c>) -> Vec<Facet<'p, 'c>> {
        let is_modern = self.original.draft >= Draft::Draft202012;
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
        facets.into_values().collect()
    }

    /// Claims that positions have schemas of their own.
    pub(super) fn is_tuple(&self, place: &Place<'c>) -> bool {
        self.facets(place).iter().any(|facet| facet.prefix_length() > 0)
    }

    /// Adds an array's items.
    pub(super) fn array(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        let facets = self.facets(place);
        let is_typed = types.is_some_and(|types| types.contains(&"array"));
        if facets.is_empty() && !(is_typed && self.table.untyped == Untyped::AsText) {
            return Ok(());
        }
        let positions = facets.iter().map(Facet::prefix_length).max().unwrap_or(0);
        let is_list_style = self.table.supports("additionalItems");
        if positions > 0 && !is_list_style && !self.table.supports("prefixItems") {
            for clause in facets.iter().flat_map(|facet| [facet.prefix, facet.rest]).flatten() {
                self.tell(clause, sketch);
            }
            return Ok(());
        }
        let mut prefix = Vec::new();
        for index in 0..positions {
            let Some(lowered) = self.place(&self.item(&facets, index), depth)? else {
                break;
            };
            prefix.push(Value::Object(lowered.schema));
        }
        let is_cut = prefix.len() < positions;
        let rest = if is_cut { None } else { self.place(&self.item(&facets, positions), depth)? };
        let speaks = facets.iter().any(|facet| facet.rest.is_some());
        let (prefix_word, rest_word) =
            if is_list_style { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let rest_word = if prefix.is_empty() { "items" } else { rest_word };
        let length = prefix.len();
        if !prefix.is_empty() {
            sketch.schema.insert(prefix_word.to_owned(), Value::Array(prefix));
        }
        match rest {
            None => self.close(&facets, length, sketch),
            Some(rest) if speaks || positions == 0 => {
                sketch.schema.insert(rest_word.to_owned(), Value::Object(rest.schema));
                sketch.shape.items = Some(rest.shape);
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn item(&self, facets: &[Facet<'_, 'c>], index: usize) -> Place<'c> {
        let mut item = Place::default();
        for (at, schema) in facets.iter().filter_map(|facet| facet.at(index)) {
            item.and(self.original.place(schema, &at));
        }
        item
    }

    /// Ends an array after `length` items.
    fn close(&mut self, facets: &[Facet<'_, 'c>], length: usize, sketch: &mut Sketch) {
        if self.table.supports("maxItems") {
            let said = sketch.schema.get("maxItems").and_then(Value::as_u64);
            let limit = said.unwrap_or(u64::MAX).min(length as u64);
            sketch.schema.insert("maxItems".to_owned(), json!(limit));
        } else {
            for clause in facets.iter().flat_map(|facet| [facet.prefix, facet.rest]).flatten() {
                self.lose(&clause.at, clause.keyword, EnforcedBy::VerdictOnly);
            }
        }
        if self.table.untyped == Untyped::AsText {
            // Never used, but items must be typed.
            sketch.schema.insert("items".to_owned(), json!({"type": "null"}));
        }
    }
}
