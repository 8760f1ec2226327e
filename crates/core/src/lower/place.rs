//! The lowering of one place.

use serde_json::{Map, Value, json};

use super::describe::describe;
use super::dialect::{Leaves, Recursion, Unions, Untyped};
use super::lowerer::{Lowerer, too_complex};
use super::original::{FORMAT_HINT, Place, names};
use super::shape::{Shape, ShapeId};
use super::{EnforcedBy, Unportable, Unsayable};
use crate::contract::Keyword;

/// How deep places may nest, through inlined references too; keeps the stack bounded.
const DEPTH_LIMIT: usize = 160;

/// From here on a described reference loses its description instead of being inlined.
const INLINE_LIMIT: usize = 5_000;

/// An adapted schema and what it means for answers.
pub(super) struct Lowered {
    pub(super) schema: Map<String, Value>,
    pub(super) shape: ShapeId,
}

/// A place's adapted schema; none if nothing satisfies it.
pub(super) type Outcome = Result<Option<Lowered>, Unportable>;

/// An adapted schema in the making.
#[derive(Default)]
pub(super) struct Sketch {
    pub(super) schema: Map<String, Value>,
    pub(super) shape: Shape,
    /// What the model must be told in words.
    pub(super) notes: Vec<String>,
}

impl Sketch {
    /// Returns of what kinds the values are that it lists; nothing if it lists none.
    pub(super) fn listed_kinds(&self) -> Vec<&'static str> {
        let list = self.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        list.chain(self.schema.get("const")).map(kind_of_value).collect()
    }
}

/// The keywords by which a place says what it is.
pub(super) const SAYS_WHAT: [&str; 5] = ["type", "anyOf", "enum", "const", "$ref"];

/// The types that take every value.
const ALL_TYPES: [&str; 6] = ["object", "array", "string", "number", "boolean", "null"];

impl<'c> Lowerer<'c> {
    /// Lowers a place inside `depth` objects.
    pub(super) fn place(&mut self, place: &Place<'c>, depth: usize) -> Outcome {
        self.places += 1;
        if self.places > self.place_limit {
            return Err(too_complex());
        }
        let expanded = self.original.expand(place);
        if expanded.never.is_some() {
            return Ok(None);
        }
        if let Some(lowered) = self.reference(place) {
            return Ok(Some(lowered));
        }
        let place = expanded;
        let key = place.key();
        let is_over = self.exact_until.is_some_and(|limit| self.places > limit);
        if is_over
            || self.open.len() >= DEPTH_LIMIT
            || (!key.is_empty() && self.open.contains(&key))
        {
            return Ok(Some(self.cut(&place)));
        }
        self.open.push(key);
        let lowered = self.body(place, depth);
        self.open.pop();
        lowered
    }

    /// Keeps a reference that stands alone; nothing if it must be inlined.
    fn reference(&mut self, place: &Place<'c>) -> Option<Lowered> {
        let mut constraints = place.constraints();
        let sole = constraints.next().filter(|clause| clause.keyword == "$ref")?;
        if constraints.next().is_some() || self.exact_until.is_some() {
            return None;
        }
        let (target, schema) = self.original.follow(sole.value.as_str()?)?;
        if self.table.recursion == Recursion::Cut && self.original.closes_circle(&sole.at, &target)
        {
            return Some(self.cut(place));
        }
        let is_described = place.all("description").next().is_some();
        if is_described && self.places < INLINE_LIMIT && !self.original.is_recursive(&target) {
            return None;
        }
        let (name, shape) = self.definition(&target, schema);
        let path = format!("#/{}/{name}", self.table.definitions());
        let schema = Map::from_iter([("$ref".to_owned(), Value::String(path))]);
        Some(Lowered { schema, shape })
    }

    /// Stops at a place whose constraints cannot be repeated here.
    fn cut(&mut self, place: &Place<'c>) -> Lowered {
        if self.table.untyped == Untyped::AsText {
            return self.text(place);
        }
        let mut sketch = Sketch::default();
        self.annotate(place, &mut sketch);
        for clause in place.constraints() {
            self.lose(&clause.at, clause.keyword, EnforcedBy::VerdictOnly);
        }
        self.seal(sketch)
    }

    fn body(&mut self, place: Place<'c>, depth: usize) -> Outcome {
        if place.all("anyOf").chain(place.all("oneOf")).next().is_some()
            && self.table.unions == Unions::Alone
        {
            return self.distribute(place, depth);
        }
        let mut types = self.types(&place);
        if types.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        if self.table.untyped == Untyped::AsText {
            let inferred = if types.is_none() { kind_of(&place) } else { None };
            types = types.or_else(|| inferred.map(|kind| vec![kind]));
            match &types {
                Some(types) if !self.must_be_text(&place, types, depth) => {}
                _ => return Ok(Some(self.text(&place))),
            }
            if inferred.is_some() {
                self.narrow(place.pointer(), Unsayable::OtherTypes);
            }
        }
        self.assemble(&place, types.as_deref(), depth)
    }

    fn assemble(&mut self, place: &Place<'c>, types: Option<&[&str]>, depth: usize) -> Outcome {
        let mut sketch = Sketch::default();
        match types {
            Some([single]) => drop(sketch.schema.insert("type".to_owned(), json!(single))),
            Some(several) => {
                self.used.unions += 1;
                sketch.schema.insert("type".to_owned(), json!(several));
            }
            None => {}
        }
        self.annotate(place, &mut sketch);
        if !self.choices(place, types, &mut sketch) {
            return Ok(None);
        }
        let is_listed = ["enum", "const"].iter().any(|list| sketch.schema.contains_key(*list));
        if self.table.leaves == Leaves::Grammar && is_listed {
            self.pass_over(place, &mut sketch);
        } else if !self.members_and_leaves(place, types, &mut sketch, depth)? {
            return Ok(None);
        }
        self.logic(place, &mut sketch, depth)?;
        if !self.unions_beside(place, &mut sketch, depth)? {
            return Ok(None);
        }
        Ok(Some(self.seal(sketch)))
    }

    /// Adds what is about values of one type; claims that a type is left.
    fn members_and_leaves(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<bool, Unportable> {
        let allows = |kind: &str| types.is_none_or(|types| types.contains(&kind));
        if allows("object") && !self.object(place, types, sketch, depth)? {
            // No object satisfies it, but a value of another type may.
            let listed = sketch.listed_kinds();
            let is_listed =
                |kind: &str| listed.is_empty() || listed.iter().any(|listed| is_kind(listed, kind));
            let mut others = types.unwrap_or(&ALL_TYPES).to_vec();
            others.retain(|kind| *kind != "object" && is_listed(kind));
            let left = match others.as_slice() {
                [] => return Ok(false),
                [single] => json!(single),
                several => json!(several),
            };
            sketch.schema.insert("type".to_owned(), left);
        }
        self.leaves(place, types, sketch);
        if allows("array") {
            self.array(place, types, sketch, depth)?;
            self.separate(place, sketch);
        }
        Ok(true)
    }

    /// Copies what informs the model.
    pub(super) fn annotate(&mut self, place: &Place<'c>, sketch: &mut Sketch) {
        for clause in &place.clauses {
            let keyword = clause.keyword;
            if self.table.annotations.contains(&keyword) && !sketch.schema.contains_key(keyword) {
                sketch.schema.insert(keyword.to_owned(), clause.value.clone());
            }
        }
        let hints = place.all(FORMAT_HINT).filter_map(|clause| describe("format", clause.value));
        sketch.notes.extend(hints);
    }

    /// Adds the notes to the description and the shape to the shapes.
    pub(super) fn seal(&mut self, mut sketch: Sketch) -> Lowered {
        sketch.notes.dedup();
        let says_what = SAYS_WHAT.iter().any(|keyword| sketch.schema.contains_key(*keyword));
        if self.table.untyped == Untyped::Listed && !says_what {
            sketch.schema.shift_insert(0, "type".to_owned(), json!(ALL_TYPES));
        }
        if !sketch.notes.is_empty() {
            let said = sketch.schema.get("description").and_then(Value::as_str);
            let notes = sketch.notes.join("; ");
            let text = said.map_or(notes.clone(), |said| format!("{said} ({notes})"));
            if !sketch.schema.contains_key("description") {
                let place = usize::from(sketch.schema.contains_key("type"));
                sketch.schema.shift_insert(place, "description".to_owned(), Value::Null);
            }
            sketch.schema.insert("description".to_owned(), Value::String(text));
        }
        Lowered { schema: sketch.schema, shape: self.shapes.add(sketch.shape) }
    }

    /// Returns the types that the place allows: none if any, an empty list if nothing.
    pub(super) fn types(&self, place: &Place<'c>) -> Option<Vec<&'c str>> {
        let mut allowed: Option<Vec<&'c str>> = None;
        for clause in place.all("type") {
            let listed: Vec<&str> = names(clause.value).collect();
            allowed = Some(match allowed {
                None => listed,
                Some(before) => meet(&before, &listed),
            });
        }
        if allowed.is_some() || self.table.untyped != Untyped::AsText {
            return allowed;
        }
        let choices = place.all("enum").filter_map(|clause| clause.value.as_array());
        let listed = choices.flatten().chain(place.all("const").map(|clause| clause.value));
        let mut kinds: Vec<&str> = listed.map(kind_of_value).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        (!kinds.is_empty()).then_some(kinds)
    }
}

/// Returns the types that both lists allow.
pub(crate) fn meet<'c>(left: &[&'c str], right: &[&'c str]) -> Vec<&'c str> {
    let widened = |list: &[&str], name: &str| {
        list.contains(&name) || (name == "integer" && list.contains(&"number"))
    };
    let mut both: Vec<&str> = left.iter().filter(|name| widened(right, name)).copied().collect();
    both.extend(right.iter().filter(|name| widened(left, name) && !left.contains(name)));
    both.dedup();
    both
}

/// Claims that a value of kind `listed` may have type `kind`: 2.0 is an integer.
pub(super) fn is_kind(listed: &str, kind: &str) -> bool {
    listed == kind || [listed, kind].iter().all(|kind| matches!(*kind, "integer" | "number"))
}

fn kind_of_value(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the one kind of value that an untyped place is about.
pub(crate) fn kind_of(place: &Place<'_>) -> Option<&'static str> {
    let mut found = None;
    for clause in place.constraints() {
        if matches!(clause.keyword, "type" | "enum" | "const" | "anyOf" | "oneOf") {
            return None;
        }
        let restricted = Keyword::named(clause.keyword).and_then(Keyword::restricted_type);
        let Some(kind) = restricted else { continue };
        if *found.get_or_insert(kind) != kind {
            return None;
        }
    }
    found
}
