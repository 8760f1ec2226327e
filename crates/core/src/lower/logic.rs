//! Conditions, negations and dependencies: kept exactly or lost, because a looser condition
//! would make the whole stricter.

use serde_json::{Map, Value, json};

use super::Unportable;
use super::lowerer::Lowerer;
use super::original::{Clause, Place};
use super::place::Sketch;
use crate::json::Pointer;

impl<'c> Lowerer<'c> {
    /// Adds what the dialect knows of the keywords that hold schemas about other schemas.
    pub(super) fn logic(
        &mut self,
        place: &Place<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        for clause in &place.clauses {
            match clause.keyword {
                "not" | "propertyNames" => self.keep(clause, sketch, depth)?,
                "contains" => {
                    let minimum = place.all("minContains").find(|other| other.at == clause.at);
                    // Zero matches satisfy it, so it demands nothing.
                    if minimum.is_none_or(|clause| clause.value != &json!(0)) {
                        self.keep(clause, sketch, depth)?;
                    }
                }
                "if" => self.condition(place, clause, sketch, depth)?,
                "dependencies" | "dependentRequired" | "dependentSchemas" => {
                    self.dependencies(clause, sketch, depth)?;
                }
                "minContains"
                | "maxContains"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "$ref"
                | "$dynamicRef"
                | "$recursiveRef"
                | "contentEncoding"
                | "contentMediaType"
                | "x-rules"
                | "x-grounded" => {
                    self.tell(clause, sketch);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn keep(
        &mut self,
        clause: &Clause<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        let keyword = clause.keyword;
        if self.table.supports(keyword)
            && !sketch.schema.contains_key(keyword)
            && let Some(schema) = self.part(clause.value, &clause.inside(None), depth)?
        {
            sketch.schema.insert(keyword.to_owned(), schema);
            return Ok(());
        }
        self.tell(clause, sketch);
        Ok(())
    }

    fn part(
        &mut self,
        schema: &'c Value,
        at: &Pointer,
        depth: usize,
    ) -> Result<Option<Value>, Unportable> {
        self.exactly(&self.original.place(schema, at), depth)
    }

    fn condition(
        &mut self,
        place: &Place<'c>,
        condition: &Clause<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        let beside = |keyword| place.all(keyword).find(|clause| clause.at == condition.at);
        let clauses = [Some(condition), beside("then"), beside("else")];
        let mut parts = Map::new();
        let mut is_kept = self.table.supports("if") && !sketch.schema.contains_key("if");
        for clause in clauses.into_iter().flatten() {
            if !is_kept {
                break;
            }
            match self.part(clause.value, &clause.inside(None), depth)? {
                Some(schema) => drop(parts.insert(clause.keyword.to_owned(), schema)),
                None => is_kept = false,
            }
        }
        if is_kept {
            sketch.schema.extend(parts);
            return Ok(());
        }
        for clause in clauses.into_iter().flatten() {
            self.tell(clause, sketch);
        }
        Ok(())
    }

    /// Keeps all three spellings as draft 7's `dependencies`.
    fn dependencies(
        &mut self,
        clause: &Clause<'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        let mut kept = Map::new();
        let mut is_kept =
            self.table.supports("dependencies") && !sketch.schema.contains_key("dependencies");
        for (key, needed) in clause.value.as_object().into_iter().flatten() {
            if !is_kept {
                break;
            }
            let part = match needed {
                Value::Array(_) => Some(needed.clone()),
                Value::String(_) => Some(json!([needed])),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                    self.part(needed, &clause.inside(Some(key)), depth)?
                }
            };
            match part {
                Some(part) => drop(kept.insert(key.clone(), part)),
                None => is_kept = false,
            }
        }
        if is_kept {
            sketch.schema.insert("dependencies".to_owned(), Value::Object(kept));
        } else {
            self.tell(clause, sketch);
        }
        Ok(())
    }
}
