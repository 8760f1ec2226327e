//! Keywords without schemas inside: choices, bounds, lengths, patterns and formats.

use serde_json::{Value, json};

use super::EnforcedBy;
use super::automata;
use super::dialect::{Bounds, EnumMembers, Formats, Leaves, Table};
use super::grammar;
use super::lowerer::Lowerer;
use super::original::{Clause, Place};
use super::place::Sketch;

/// An `enum` with more members than this has its characters counted by some providers.
pub(super) const LARGE_ENUM: usize = 250;

/// Each keyword with the types that it speaks about.
const LEAVES: [(&str, &[&str]); 13] = [
    ("minLength", &["string"]),
    ("maxLength", &["string"]),
    ("pattern", &["string"]),
    ("format", &["string"]),
    ("minimum", &["number", "integer"]),
    ("maximum", &["number", "integer"]),
    ("exclusiveMinimum", &["number", "integer"]),
    ("exclusiveMaximum", &["number", "integer"]),
    ("multipleOf", &["number", "integer"]),
    ("minItems", &["array"]),
    ("maxItems", &["array"]),
    ("minProperties", &["object"]),
    ("maxProperties", &["object"]),
];

impl<'c> Lowerer<'c> {
    /// Claims that this place lists values that a dialect of scalars cannot list.
    pub(super) fn has_compound_choices(&self, place: &Place<'c>) -> bool {
        self.table.enum_members == EnumMembers::Scalars
            && place
                .all("enum")
                .chain(place.all("const"))
                .flat_map(choices_of)
                .any(|choice| choice.is_array() || choice.is_object())
    }

    /// Adds `enum` or `const`; claims that something is left to choose.
    pub(super) fn choices(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        sketch: &mut Sketch,
    ) -> bool {
        let mut clauses = place.all("enum").chain(place.all("const"));
        let Some(first) = clauses.next() else {
            return true;
        };
        let choices: Vec<Value> =
            choices_of(first).filter(|choice| admits(types, choice)).cloned().collect();
        if choices.is_empty() {
            return false;
        }
        if self.can_list(&choices) {
            self.used.enum_values += choices.len();
            let (keyword, value) = match choices.as_slice() {
                [constant] if first.keyword == "const" && self.table.supports("const") => {
                    ("const", constant.clone())
                }
                _ => ("enum", Value::Array(choices)),
            };
            sketch.schema.insert(keyword.to_owned(), value);
        } else {
            self.tell(first, sketch);
        }
        for other in clauses.filter(|other| other.value != first.value) {
            self.leave(other, sketch);
        }
        true
    }

    fn can_list(&self, choices: &[Value]) -> bool {
        let are_listable = choices.iter().all(|choice| match self.table.enum_members {
            EnumMembers::Any => true,
            EnumMembers::Scalars => !choice.is_array() && !choice.is_object(),
            EnumMembers::StringsAndNumbers => choice.is_string() || choice.is_number(),
        });
        let characters: usize =
            choices.iter().filter_map(Value::as_str).map(|text| text.chars().count()).sum();
        let limits = self.table.limits;
        are_listable
            && (self.table.leaves != Leaves::Automata || choices.iter().all(automata::lists))
            && self.used.enum_values + choices.len() <= limits.enum_values
            && (choices.len() <= LARGE_ENUM || characters <= limits.enum_chars)
    }

    /// Adds bounds, lengths, patterns and formats.
    pub(super) fn leaves(
        &mut self,
        place: &Place<'c>,
        types: Option<&[&str]>,
        sketch: &mut Sketch,
    ) {
        for (keyword, about) in LEAVES {
            let is_relevant = |kind: &&str| types.is_none_or(|types| types.contains(kind));
            if !about.iter().any(is_relevant) {
                continue;
            }
            let mut clauses = place.all(keyword);
            let Some(first) = clauses.next() else {
                continue;
            };
            self.leaf(first, types, sketch);
            for other in clauses.filter(|other| other.value != first.value) {
                self.leave(other, sketch);
            }
        }
        self.separate(place, sketch);
        let is_rough = match self.table.leaves {
            Leaves::AsWritten => false,
            Leaves::Automata => automata::is_rough(&sketch.schema),
            Leaves::Grammar => grammar::is_rough(&sketch.schema),
        };
        // It stays in the schema, where the model reads it.
        for clause in place.all("format").filter(|_| is_rough).take(1) {
            self.lose(&clause.at, clause.keyword, EnforcedBy::Description);
        }
        for clause in place.all("uniqueItems").filter(|clause| clause.value == &json!(true)) {
            if self.table.supports("uniqueItems") {
                sketch.schema.insert("uniqueItems".to_owned(), json!(true));
            } else {
                self.tell(clause, sketch);
            }
        }
    }

    /// Loses what cannot stand beside the rest of what is said.
    pub(super) fn separate(&mut self, place: &Place<'c>, sketch: &mut Sketch) {
        let clash = match self.table.leaves {
            Leaves::AsWritten => |_: &_| None,
            Leaves::Automata => automata::clash,
            Leaves::Grammar => grammar::clash,
        };
        while let Some(keyword) = clash(&sketch.schema) {
            sketch.schema.remove(keyword);
            place.all(keyword).next().into_iter().for_each(|clause| self.tell(clause, sketch));
        }
    }

    fn leaf(&mut self, clause: &Clause<'c>, types: Option<&[&str]>, sketch: &mut Sketch) {
        let keyword = clause.keyword;
        let value = self.table.read(keyword, &whole(clause.value), types == Some(&["integer"]));
        if let Some(value) = value.filter(|_| self.table.supports(keyword)) {
            sketch.schema.insert(keyword.to_owned(), value);
            if keyword == "format" && self.table.formats == Formats::Annotation {
                self.lose(&clause.at, keyword, EnforcedBy::Description);
            }
            return;
        }
        self.tell(clause, sketch);
        let most = self.table.limits.min_items;
        let is_over = clause.value.as_u64().is_some_and(|count| count > most);
        if keyword == "minItems" && is_over && self.table.supports(keyword) {
            sketch.schema.insert(keyword.to_owned(), json!(most));
        }
    }

    /// Keeps a second clause of a keyword in an `allOf` branch, or loses it.
    fn leave(&mut self, clause: &Clause<'c>, sketch: &mut Sketch) {
        let mut branch = Sketch::default();
        let place = Place { clauses: vec![clause.clone()], never: None };
        if !self.table.supports("allOf") {
            self.tell(clause, sketch);
        } else if matches!(clause.keyword, "enum" | "const") {
            if !self.choices(&place, None, &mut branch) {
                return;
            }
        } else {
            self.leaf(clause, None, &mut branch);
        }
        add_branch(sketch, branch);
    }
}

/// Writes `2.0` as `2`, which every provider reads as a count.
fn whole(value: &Value) -> Value {
    let digits = value.as_f64().map(|_| value.to_string());
    let count = digits.and_then(|digits| digits.strip_suffix(".0")?.parse::<i64>().ok());
    count.map_or_else(|| value.clone(), Value::from)
}

/// Adds what `branch` says as a branch of `allOf`.
pub(super) fn add_branch(sketch: &mut Sketch, branch: Sketch) {
    sketch.notes.extend(branch.notes);
    if branch.schema.is_empty() {
        return;
    }
    let list = sketch.schema.entry("allOf").or_insert_with(|| json!([]));
    if let Value::Array(list) = list {
        list.push(Value::Object(branch.schema));
    }
}

fn choices_of<'c>(clause: &Clause<'c>) -> impl Iterator<Item = &'c Value> + use<'c> {
    let list = match clause.keyword {
        "enum" => clause.value.as_array().map(Vec::as_slice).unwrap_or_default(),
        _ => std::slice::from_ref(clause.value),
    };
    list.iter()
}

fn admits(types: Option<&[&str]>, value: &Value) -> bool {
    types.is_none_or(|types| {
        types.iter().any(|kind| match *kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "number" => value.is_number(),
            "integer" => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            _ => true,
        })
    })
}

impl Table {
    /// Returns the value of `keyword` as the dialect reads it, if it can; `integers` says that no
    /// other number is spoken of.
    pub(super) fn read(&self, keyword: &str, value: &Value, integers: bool) -> Option<Value> {
        let is_automaton = self.leaves == Leaves::Automata;
        let is_grammar = self.leaves == Leaves::Grammar;
        let can_read = match (keyword, value) {
            ("pattern", Value::String(pattern)) => {
                return self.patterns.read(pattern).map(Value::from);
            }
            ("format", Value::String(format)) => match self.formats {
                Formats::Listed(listed) => listed.contains(&format.as_str()),
                Formats::Annotation => true,
            },
            ("minLength" | "maxLength" | "minItems" | "maxItems", count) if is_automaton => {
                automata::counts(count)
            }
            ("minLength" | "maxLength" | "minItems" | "maxItems", count) if is_grammar => {
                grammar::counts(count)
            }
            ("minItems", count) => {
                count.as_u64().is_none_or(|count| count <= self.limits.min_items)
            }
            (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum",
                Value::Number(bound),
            ) => {
                match self.bounds {
                    Bounds::Numbers => !is_automaton || automata::bounds(bound),
                    // Others would be cut to integers.
                    Bounds::Integers => integers && grammar::bounds(bound),
                }
            }
            ("multipleOf", Value::Number(step)) => !is_automaton || automata::steps(step),
            _ => true,
        };
        can_read.then(|| value.clone())
    }
}
