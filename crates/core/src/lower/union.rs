//! Unions: `anyOf`, and `oneOf` where a dialect knows it.

use serde_json::{Value, json};

use super::Unportable;
use super::dialect::Untyped;
use super::leaf::add_branch;
use super::lowerer::Lowerer;
use super::original::{Clause, Place, is_constraint};
use super::place::{Outcome, Sketch};

impl<'c> Lowerer<'c> {
    /// Lowers a place with a union to the union alone: what stands beside it holds in each branch.
    pub(super) fn distribute(&mut self, place: Place<'c>, depth: usize) -> Outcome {
        let is_full = self.used.unions >= self.table.limits.unions;
        if is_full && self.table.untyped == Untyped::AsText {
            return Ok(Some(self.text(&place)));
        }
        let mut sketch = Sketch::default();
        self.annotate(&place, &mut sketch);
        let mut shared = Place::default();
        let mut union = None;
        for clause in place.clauses {
            let is_union = matches!(clause.keyword, "anyOf" | "oneOf");
            if is_union && union.is_none() {
                union = Some(clause);
            } else if is_union {
                self.tell(&clause, &mut sketch);
            } else if is_constraint(clause.keyword) {
                shared.clauses.push(clause);
            }
        }
        let Some(union) = union else {
            return Ok(None);
        };
        if union.keyword == "oneOf" {
            self.tell(&union, &mut sketch);
        }
        self.used.unions += 1;
        if !self.any_of(&union, &shared, &mut sketch, depth)? {
            return Ok(None);
        }
        Ok(Some(self.seal(sketch)))
    }

    /// Adds the unions of a place whose other clauses may stand beside them.
    pub(super) fn unions_beside(
        &mut self,
        place: &Place<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<bool, Unportable> {
        for union in place.clauses.iter().filter(|c| matches!(c.keyword, "anyOf" | "oneOf")) {
            let mut branch = Sketch::default();
            if union.keyword == "oneOf" && self.one_of(union, &mut branch, depth)? {
                add_beside(sketch, branch, "oneOf");
                continue;
            }
            if sketch.schema.contains_key("anyOf") && !self.table.supports("allOf") {
                self.tell(union, sketch);
                continue;
            }
            if union.keyword == "oneOf" {
                self.tell(union, sketch);
            }
            if !self.any_of(union, &Place::default(), &mut branch, depth)? {
                return Ok(false);
            }
            add_beside(sketch, branch, "anyOf");
        }
        Ok(true)
    }

    fn any_of(
        &mut self,
        union: &Clause<'c>,
        shared: &Place<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<bool, Unportable> {
        let mut branches: Vec<Value> = Vec::new();
        for (at, branch) in union.branches() {
            let mut place = shared.clone();
            place.and(self.original.place(branch, &at));
            if let Some(lowered) = self.place(&place, depth)? {
                sketch.shape.branches.push(lowered.shape);
                branches.push(Value::Object(lowered.schema));
            }
        }
        let is_possible = !branches.is_empty();
        sketch.schema.insert("anyOf".to_owned(), Value::Array(branches));
        Ok(is_possible)
    }

    /// Keeps `oneOf` if no branch became looser, which could make two of them overlap.
    fn one_of(
        &mut self,
        union: &Clause<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<bool, Unportable> {
        if !self.table.supports("oneOf") {
            return Ok(false);
        }
        let mut branches = Vec::new();
        for (at, branch) in union.branches() {
            let Some(lowered) = self.exactly(&self.original.place(branch, &at), depth)? else {
                return Ok(false);
            };
            branches.push(lowered);
        }
        sketch.schema.insert("oneOf".to_owned(), json!(branches));
        Ok(true)
    }
}

/// Adds a union to a sketch, in an `allOf` branch if the keyword is taken.
fn add_beside(sketch: &mut Sketch, branch: Sketch, keyword: &str) {
    if sketch.schema.contains_key(keyword) {
        add_branch(sketch, branch);
        return;
    }
    sketch.shape.branches.extend(branch.shape.branches);
    sketch.schema.extend(branch.schema);
}
