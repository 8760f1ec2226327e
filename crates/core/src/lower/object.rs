//! Objects: declared members, presence, and what else may be there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::dialect::{Extras, Leaves};
use super::grammar;
use super::lowerer::Lowerer;
use super::members::{Facet, Members};
use super::original::Place;
use super::place::{Lowered, Sketch};
use super::shape::{Member, Presence, Shape};
use super::{Unportable, Unsayable};

/// How many optional members of one object are still to be written each way.
struct Allowance {
    omitted: usize,
}

/// How many required names are declared only so that they are heeded, in all: each repeats what undeclared
/// members may be, with all that is declared in there.
const DECLARED_LIMIT: usize = 64;

/// What becomes of required names that nobody declares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Undeclared {
    /// They are required as they are.
    Heeded,
    /// They are declared as what undeclared members may be.
    Declared,
    /// They are too many for that.
    Lost,
}

impl<'c> Lowerer<'c> {
    /// Claims that a dialect with closed objects cannot describe this one.
    pub(super) fn object_needs_text(&mut self, place: &Place<'c>) -> bool {
        if self.table.extras != Extras::Forbidden {
            return false;
        }
        let members = Members::of(place);
        let is_map = members.has_patterns() || members.plain_extras().next().is_some();
        let has_members = members.facets.iter().any(|facet| facet.keys().next().is_some());
        if !members.is_closed() && (is_map || !has_members) {
            return true;
        }
        let limits = self.table.limits;
        let left = limits.optionals.saturating_sub(self.used.optionals);
        let nullable = members.optional_count().saturating_sub(left);
        !self.says_null() && nullable > limits.unions.saturating_sub(self.used.unions)
    }

    /// Adds an object's members; claims that something can satisfy them.
    pub(super) fn object(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<bool, Unportable> {
        let members = Members::of(place);
        let speaks = !members.facets.is_empty() || !members.keys.is_empty();
        if !speaks && types.is_none_or(|types| !types.contains(&"object")) {
            return Ok(true);
        }
        let mut allowance = self.reserve(&members);
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut shapes = BTreeMap::new();
        let closes = self.table.extras == Extras::Forbidden;
        let undeclared = self.undeclared(place, &members, sketch);
        for key in &members.keys {
            let is_required = members.required.contains(key);
            if undeclared != Undeclared::Declared && !members.is_declared(key) {
                required.extend((undeclared == Undeclared::Heeded).then(|| json!(key)));
                continue;
            }
            let (child, pointer) = members.child(&self.original, key);
            let may_be_null = self.original.may_be_null(&child);
            let never = child.never.clone();
            let Some(mut lowered) = self.place(&child, depth + 1)? else {
                if is_required {
                    return Ok(false);
                }
                if !closes && !members.is_closed() {
                    let pointer = never.unwrap_or(pointer);
                    self.lose(&pointer, "false", super::EnforcedBy::VerdictOnly);
                }
                continue;
            };
            let is_text = self.shapes.at(lowered.shape).is_some_and(|shape| shape.is_text);
            let tags = tags(&lowered.schema);
            let presence =
                allowance.presence(is_required, may_be_null && !is_text, self.says_null());
            if presence == Presence::NullIfAbsent {
                make_nullable(&mut lowered);
            } else if presence == Presence::RequiredOrNull && !is_required {
                self.narrow(pointer.clone(), Unsayable::Absence);
            }
            if !matches!(presence, Presence::Optional | Presence::OptionalOrNull) {
                required.push(json!(key));
            }
            properties.insert((*key).to_owned(), Value::Object(lowered.schema));
            let member = Member { shape: lowered.shape, presence, pointer, tags };
            shapes.insert((*key).to_owned(), member);
        }
        if closes || !properties.is_empty() {
            sketch.schema.insert("properties".to_owned(), Value::Object(properties));
        }
        if closes || !required.is_empty() {
            sketch.schema.insert("required".to_owned(), Value::Array(required));
        }
        sketch.shape = Shape { members: Some(shapes), ..Shape::default() };
        self.extras(place, &members, sketch, depth)?;
        Ok(true)
    }

    /// Decides what becomes of required names that nobody declares.
    fn undeclared(
        &mut self,
        place: &Place<'c>,
        members: &Members<'_, 'c>,
        sketch: &mut Sketch,
    ) -> Undeclared {
        let count = members.keys.iter().filter(|key| !members.is_declared(key)).count();
        if self.table.extras == Extras::Forbidden {
            return Undeclared::Declared;
        }
        if self.table.leaves != Leaves::Grammar {
            return Undeclared::Heeded;
        }
        if count > DECLARED_LIMIT - self.used.declared {
            place.all("required").for_each(|clause| self.tell(clause, sketch));
            return Undeclared::Lost;
        }
        self.used.declared += count;
        Undeclared::Declared
    }

    /// Takes what this object needs from the dialect's limits.
    fn reserve(&mut self, members: &Members<'_, 'c>) -> Allowance {
        let optional = members.optional_count();
        if self.says_null() {
            return Allowance { omitted: 0 };
        }
        let left = self.table.limits.optionals.saturating_sub(self.used.optionals);
        let omitted = optional.min(left);
        self.used.optionals += omitted;
        self.used.unions += optional - omitted;
        Allowance { omitted }
    }

    /// Says what may stand beside the declared members.
    fn extras(
        &mut self,
        place: &Place<'c>,
        members: &Members<'_, 'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<(), Unportable> {
        let key = || "additionalProperties".to_owned();
        if self.table.extras == Extras::Forbidden {
            if !members.is_closed() {
                self.narrow(place.pointer(), Unsayable::UndeclaredMembers);
            }
            sketch.schema.insert(key(), json!(false));
            return Ok(());
        }
        if members.has_patterns() && !self.patterns(members, sketch, depth)? {
            for facet in &members.facets {
                let speaking = [facet.patterns, facet.extras.filter(|_| facet.patterns.is_some())];
                for clause in speaking.into_iter().flatten() {
                    self.tell(clause, sketch);
                }
            }
        }
        if let Some(rest) = members.rest(&self.original) {
            let lowered = self.place(&rest, depth + 1)?;
            let value = lowered.map_or(json!(false), |lowered| Value::Object(lowered.schema));
            sketch.schema.insert(key(), value);
        } else if self.table.extras == Extras::Explicit {
            sketch.schema.entry(key()).or_insert(json!(true));
        }
        if self.table.leaves == Leaves::Grammar && grammar::unspeakable(&sketch.schema).is_some() {
            self.narrow(place.pointer(), Unsayable::UndeclaredMembers);
            sketch.schema.insert(key(), json!(false));
        }
        Ok(())
    }

    /// Keeps `patternProperties`; claims that this was possible.
    fn patterns(
        &mut self,
        members: &Members<'_, 'c>,
        sketch: &mut Sketch,
        depth: usize,
    ) -> Result<bool, Unportable> {
        let [facet @ Facet { patterns: Some(patterns), extras, .. }] = members.facets.as_slice()
        else {
            return Ok(false);
        };
        let listed = patterns.value.as_object().into_iter().flatten();
        let names = listed.clone().map(|(pattern, _)| self.table.patterns.read(pattern));
        let Some(names) = names.collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        // Two that are the same in the words of the dialect cannot stand side by side.
        let are_distinct = names.iter().collect::<BTreeSet<_>>().len() == names.len();
        let declared: Vec<&str> = facet.keys().collect();
        let mut beside =
            names.iter().map(|name| self.table.patterns.stands_beside(name, &declared));
        if !self.table.supports("patternProperties") || !are_distinct || !beside.all(|it| it) {
            return Ok(false);
        }
        let mut lowered = Map::new();
        for (name, (pattern, schema)) in names.into_iter().zip(listed) {
            let child = self.original.place(schema, &patterns.inside(Some(pattern)));
            let value = self.place(&child, depth + 1)?;
            let value = value.map_or(json!(false), |lowered| Value::Object(lowered.schema));
            lowered.insert(name, value);
        }
        sketch.schema.insert("patternProperties".to_owned(), Value::Object(lowered));
        if let Some(clause) = extras {
            let rest = self.original.place(clause.value, &clause.inside(None));
            let value = self.place(&rest, depth + 1)?;
            let value = value.map_or(json!(false), |lowered| Value::Object(lowered.schema));
            sketch.schema.insert("additionalProperties".to_owned(), value);
        }
        Ok(true)
    }
}

impl Allowance {
    fn presence(&mut self, is_required: bool, means_null: bool, says_null: bool) -> Presence {
        match (is_required, means_null) {
            (true, false) => return Presence::Required,
            (true, true) => return Presence::RequiredOrNull,
            (false, _) => {}
        }
        if !says_null && self.omitted > 0 {
            self.omitted -= 1;
            return if means_null { Presence::OptionalOrNull } else { Presence::Optional };
        }
        if means_null { Presence::RequiredOrNull } else { Presence::NullIfAbsent }
    }
}

/// Returns the strings that a member must be one of.
fn tags(schema: &Map<String, Value>) -> Vec<String> {
    let choices = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(choices)), _) => choices.as_slice(),
        (_, Some(constant)) => std::slice::from_ref(constant),
        _ => &[],
    };
    let strings = choices.iter().map(|choice| choice.as_str().map(str::to_owned));
    strings.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Lets a schema accept `null` as well.
fn make_nullable(lowered: &mut Lowered) {
    let schema = &mut lowered.schema;
    if let Some(constant) = schema.remove("const") {
        schema.insert("enum".to_owned(), json!([constant]));
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.push(Value::Null);
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.push(json!({"type": "null"}));
        return;
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) => types.push(json!("null")),
        Some(single) => *single = json!([single.take(), "null"]),
        None => {
            let branch = Value::Object(std::mem::take(schema));
            schema.insert("anyOf".to_owned(), json!([branch, {"type": "null"}]));
        }
    }
}
