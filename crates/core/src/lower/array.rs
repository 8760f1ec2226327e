//! Arrays: positions and the rest.

use serde_json::{Value, json};

use super::dialect::{Leaves, Untyped};
use super::items::Items;
use super::lowerer::Lowerer;
use super::original::Place;
use super::place::Sketch;
use super::{EnforcedBy, Unportable};

impl<'c> Lowerer<'c> {
    /// Claims that positions have schemas of their own.
    pub(super) fn is_tuple(&self, place: &Place<'c>) -> bool {
        Items::of(place, self.original.draft).positions() > 0
    }

    /// Adds an array's items.
    pub(super) fn array(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        let items = Items::of(place, self.original.draft);
        let is_typed = types.is_some_and(|types| types.contains(&"array"));
        // A grammar counts items only where it is said what they are.
        let is_counted = self.table.leaves == Leaves::Grammar
            && ["minItems", "maxItems"].iter().any(|count| sketch.schema.contains_key(*count));
        let is_open = self.table.untyped == Untyped::Allowed || !(is_typed || is_counted);
        if items.is_empty() && is_open {
            return Ok(());
        }
        let positions = items.positions();
        let is_list_style = self.table.supports("additionalItems");
        if positions > 0 && !is_list_style && !self.table.supports("prefixItems") {
            for clause in items.clauses() {
                self.tell(clause, sketch);
            }
            if is_counted && let Some(any) = self.place(&Place::default(), depth)? {
                sketch.schema.insert("items".to_owned(), Value::Object(any.schema));
                sketch.shape.items = Some(any.shape);
            }
            return Ok(());
        }
        let mut prefix = Vec::new();
        for index in 0..positions {
            let Some(lowered) = self.place(&items.item(&self.original, index), depth)? else {
                break;
            };
            prefix.push(Value::Object(lowered.schema));
        }
        let is_cut = prefix.len() < positions;
        let rest = items.item(&self.original, positions);
        let rest = if is_cut { None } else { self.place(&rest, depth)? };
        let speaks = items.speaks_of_rest();
        let (prefix_word, rest_word) =
            if is_list_style { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let rest_word = if prefix.is_empty() { "items" } else { rest_word };
        let length = prefix.len();
        if !prefix.is_empty() {
            sketch.schema.insert(prefix_word.to_owned(), Value::Array(prefix));
        }
        match rest {
            None => self.close(&items, length, sketch),
            Some(rest) if speaks || positions == 0 => {
                sketch.schema.insert(rest_word.to_owned(), Value::Object(rest.schema));
                sketch.shape.items = Some(rest.shape);
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Ends an array after `length` items.
    fn close(&mut self, items: &Items<'_, 'c>, length: usize, sketch: &mut Sketch) {
        if self.table.supports("maxItems") {
            let said = sketch.schema.get("maxItems").and_then(Value::as_u64);
            let limit = said.unwrap_or(u64::MAX).min(length as u64);
            sketch.schema.insert("maxItems".to_owned(), json!(limit));
        } else {
            for clause in items.clauses() {
                self.lose(&clause.at, clause.keyword, EnforcedBy::VerdictOnly);
            }
        }
        if self.table.untyped != Untyped::Allowed {
            // Never used, but items must be typed.
            sketch.schema.insert("items".to_owned(), json!({"type": "null"}));
        }
    }
}
