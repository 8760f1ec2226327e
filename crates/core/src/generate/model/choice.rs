//! Choices: `enum` and `const`.

use jsonschema::Draft;
use serde_json::Value;

use super::build::{Builder, inner_name, kind_name};
use super::{Form, Id, Integer, Number, Type};
use crate::contract::Keyword;
use crate::lower::original::{Clause, Place};

/// How many bytes of a listed value count like one place.
const BYTES_PER_PLACE: usize = 64;

/// What is listed, by kind.
#[derive(Default)]
struct Listed {
    words: Vec<String>,
    numbers: Vec<serde_json::Number>,
    flags: Vec<bool>,
    has_null: bool,
    has_arrays: bool,
    has_objects: bool,
}

impl<'c> Builder<'c> {
    /// Reads a place that lists its values.
    pub(super) fn choice(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        name: &str,
        into: Option<Id>,
    ) -> Option<Type> {
        let mut listed = Listed::default();
        for value in values(place, types) {
            self.spend(value.as_str().map_or(1, |text| 1 + text.len() / BYTES_PER_PLACE));
            listed.add(value);
        }
        self.lose_beside(place, &listed);
        if self.original.draft == Draft::Draft4 && !listed.numbers.is_empty() {
            self.lose_every(place, &["type"]);
        }
        let kinds = listed.kinds();
        let several = kinds.iter().filter(|kind| **kind != "null").count() > 1;
        // A kind of values may take the waiting definition if it is all there is.
        let direct = into.filter(|_| kinds.len() == 1);
        let mut found = Vec::new();
        for kind in kinds {
            let suffix = kind_name(kind);
            let wished = match direct {
                Some(_) => name.to_owned(),
                None => inner_name(name, several.then_some(suffix), into),
            };
            let of = self.listed(&listed, kind, place, (&wished, direct));
            found.push((suffix.to_owned(), of));
        }
        self.combine(found, place, name, into)
    }

    fn listed(
        &mut self,
        listed: &Listed,
        kind: &str,
        place: &Place<'c>,
        (name, into): (&str, Option<Id>),
    ) -> Type {
        let form = match kind {
            "string" => Form::Words(listed.words.clone()),
            "number" => match listed.integers() {
                Some(allowed) => Form::Integer(Integer { allowed, ..Integer::default() }),
                None => {
                    let allowed = listed.numbers.iter().filter_map(serde_json::Number::as_f64);
                    Form::Number(Number { allowed: allowed.collect(), ..Number::default() })
                }
            },
            "boolean" => match listed.flags.as_slice() {
                [flag] => Form::Flag(*flag),
                _ => return Type::Boolean,
            },
            "array" => return Type::List(Box::new(Type::Any)),
            "object" => return Type::Map(Box::new(Type::Any)),
            _ => return Type::Null,
        };
        self.hoist(form, name, into, place)
    }

    /// Records what is said beside the list: it may rule some of it out. Lists of arrays and objects are
    /// in no type at all.
    fn lose_beside(&mut self, place: &Place<'c>, listed: &Listed) {
        let kinds = listed.kinds();
        let is_exact = listed.numbers.iter().all(is_exact);
        let is_compound = listed.has_arrays || listed.has_objects;
        for clause in place.constraints() {
            let is_lost = match clause.keyword {
                "enum" | "const" => is_compound || !is_exact,
                keyword => Keyword::named(keyword)
                    .and_then(Keyword::restricted_type)
                    .is_some_and(|kind| kinds.contains(&kind)),
            };
            if is_lost {
                self.lose_every(place, &[clause.keyword]);
            }
        }
    }
}

impl Listed {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Null => self.has_null = true,
            Value::Bool(flag) if !self.flags.contains(flag) => self.flags.push(*flag),
            Value::String(text) if !self.words.contains(text) => self.words.push(text.clone()),
            Value::Number(number) => self.numbers.push(number.clone()),
            Value::Array(_) => self.has_arrays = true,
            Value::Object(_) => self.has_objects = true,
            Value::Bool(_) | Value::String(_) => {}
        }
    }

    fn kinds(&self) -> Vec<&'static str> {
        let kinds = [
            ("string", !self.words.is_empty()),
            ("number", !self.numbers.is_empty()),
            ("boolean", !self.flags.is_empty()),
            ("array", self.has_arrays),
            ("object", self.has_objects),
            ("null", self.has_null),
        ];
        kinds.into_iter().filter(|(_, is_listed)| *is_listed).map(|(kind, _)| kind).collect()
    }

    /// Returns the numbers, if all are integers of 64 bits.
    fn integers(&self) -> Option<Vec<i64>> {
        let mut integers = Vec::new();
        for number in &self.numbers {
            let integer = whole(number)?;
            if !integers.contains(&integer) {
                integers.push(integer);
            }
        }
        Some(integers)
    }
}

/// Returns the values that every list of a place has and its types allow.
fn values<'p, 'c>(
    place: &'p Place<'c>,
    types: Option<&'p [&str]>,
) -> impl Iterator<Item = &'c Value> + use<'p, 'c> {
    let mut lists = place.all("enum").chain(place.all("const")).map(list);
    let first = lists.next().unwrap_or_default();
    let others: Vec<&'c [Value]> = lists.collect();
    first.iter().filter(move |value| {
        let is_in = |list: &&[Value]| list.iter().any(|other| is_same(value, other));
        others.iter().all(is_in)
            && types.is_none_or(|types| types.iter().any(|it| is_of(value, it)))
    })
}

fn list<'c>(clause: &Clause<'c>) -> &'c [Value] {
    match clause.keyword {
        "enum" => clause.value.as_array().map(Vec::as_slice).unwrap_or_default(),
        _ => std::slice::from_ref(clause.value),
    }
}

/// Claims that JSON Schema takes both for the same: `1` is `1.0`.
fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.as_f64() == right.as_f64() && is_exact(left) && is_exact(right))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, it)| right.get(key).is_some_and(|other| is_same(it, other)))
        }
        _ => left == right,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            kind == "number"
                || kind == "integer"
                    && (!number.is_f64() || number.as_f64().is_some_and(|it| it.fract() == 0.0))
        }
    }
}

/// Returns an integer of 64 bits, however it is written.
pub(super) fn whole(number: &serde_json::Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
        // Rust writes whole floats without an exponent.
        format!("{float:.0}").parse().ok()
    })
}

/// Claims that a float of 64 bits holds the number as it is.
pub(super) fn is_exact(number: &serde_json::Number) -> bool {
    number.is_f64()
        || number.as_f64().is_some_and(|float| format!("{float:.0}") == number.to_string())
}
