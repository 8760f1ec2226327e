//! One place's demands.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::Validator;

use crate::json::meter::Meter;
use crate::json::probe::{Probe, Tape};
use crate::json::{Document, Kind, Number};
use crate::stream::lexicon::Lexicon;

/// A shape's place in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::stream) struct ShapeId(pub(super) u32);

impl ShapeId {
    /// The shape of every value.
    pub(in crate::stream) const ANYTHING: Self = Self(0);
    /// The shape of no value.
    pub(in crate::stream) const NOTHING: Self = Self(1);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of kinds, with `true` and `false` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stream) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const ALL: Self = Self(0x7F);
    pub(super) const TRUE: Self = Self(2);
    pub(super) const FALSE: Self = Self(4);

    pub(super) const fn of(kind: Kind) -> Self {
        Self(match kind {
            Kind::Null => 1,
            Kind::Boolean => 2 | 4,
            Kind::Number => 8,
            Kind::String => 16,
            Kind::Array => 32,
            Kind::Object => 64,
        })
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the kinds by name: `string or null`.
    fn names(self) -> String {
        let all =
            [Kind::Object, Kind::Array, Kind::String, Kind::Number, Kind::Boolean, Kind::Null];
        let names = all.iter().filter(|kind| self.meets(Self::of(**kind))).map(|kind| kind.name());
        names.collect::<Vec<_>>().join(" or ")
    }
}

/// What a value must be to satisfy a schema; everything left out is free.
#[derive(Debug)]
pub(in crate::stream) struct Shape {
    /// The kinds that `type` admits.
    pub(super) kinds: Kinds,
    /// The values that `enum` or `const` admits.
    pub(super) choice: Option<Box<Choice>>,
    pub(super) number: Option<Box<NumberShape>>,
    pub(in crate::stream) text: Option<Box<TextShape>>,
    pub(in crate::stream) array: Option<Box<ArrayShape>>,
    pub(in crate::stream) object: Option<Box<ObjectShape>>,
    /// Shapes that the same value must have too.
    pub(in crate::stream) all: Vec<ShapeId>,
    /// Sets of shapes, of each of which the same value must have one.
    pub(in crate::stream) any: Vec<Alternatives>,
}

/// The branches of `anyOf` or `oneOf`.
#[derive(Debug)]
pub(in crate::stream) struct Alternatives {
    pub(in crate::stream) keyword: &'static str,
    pub(in crate::stream) shapes: Vec<ShapeId>,
}

/// The members of `enum`, or the one of `const`.
#[derive(Debug)]
pub(in crate::stream) struct Choice {
    pub(super) keyword: &'static str,
    pub(super) kinds: Kinds,
    pub(in crate::stream) texts: Lexicon,
    pub(super) numbers: Vec<f64>,
}

#[derive(Debug, Default)]
pub(in crate::stream) struct NumberShape {
    pub(super) is_whole: bool,
    pub(super) bounds: Vec<Bound>,
    pub(super) multiple_of: Option<Judge>,
}

/// One end of a range of numbers.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) keyword: &'static str,
    pub(super) end: End,
    pub(super) limit: serde_json::Number,
    pub(super) is_exclusive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Least,
    Most,
}

#[derive(Debug, Default)]
pub(in crate::stream) struct TextShape {
    pub(in crate::stream) least: usize,
    pub(in crate::stream) most: Option<usize>,
    pub(super) pattern: Option<Judge>,
    pub(super) format: Option<Judge>,
}

/// A keyword that `jsonschema` judges, so that its meaning is the verdict's.
pub(super) type Judge = Arc<Validator<Tape>>;

#[derive(Debug, Default)]
pub(in crate::stream) struct ArrayShape {
    pub(super) prefix: Vec<ShapeId>,
    pub(super) rest: Option<ShapeId>,
    pub(in crate::stream) least: usize,
    pub(in crate::stream) most: Option<usize>,
}

#[derive(Debug, Default)]
pub(in crate::stream) struct ObjectShape {
    pub(super) properties: HashMap<Box<str>, ShapeId>,
    pub(super) patterns: Vec<(Judge, ShapeId)>,
    pub(super) additional: Option<ShapeId>,
    /// Every possible key, if no other is.
    pub(in crate::stream) keys: Option<Lexicon>,
    pub(in crate::stream) required: Vec<Box<str>>,
    pub(in crate::stream) least: usize,
    pub(in crate::stream) most: Option<usize>,
}

/// What makes a value break a shape for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stream) enum Breach {
    Kind,
    Choice,
    Whole,
    Bound(&'static str),
    MultipleOf,
    TooShort,
    TooLong,
    Pattern,
    Format,
    UnknownKey,
    Required(usize),
    TooFewItems,
    TooManyItems,
    TooFewProperties,
    TooManyProperties,
    NoAlternative(&'static str),
}

impl Shape {
    pub(in crate::stream) const fn anything() -> Self {
        Self {
            kinds: Kinds::ALL,
            choice: None,
            number: None,
            text: None,
            array: None,
            object: None,
            all: Vec::new(),
            any: Vec::new(),
        }
    }

    pub(super) fn nothing() -> Self {
        Self { kinds: Kinds::NONE, ..Self::anything() }
    }

    /// Claims that every value has this shape.
    pub(in crate::stream) fn is_free(&self) -> bool {
        self.kinds == Kinds::ALL
            && self.choice.is_none()
            && self.number.is_none()
            && self.text.is_none()
            && self.array.is_none()
            && self.object.is_none()
            && self.all.is_empty()
            && self.any.is_empty()
    }

    /// Claims that some value of this kind may have this shape.
    pub(in crate::stream) fn admits(&self, kind: Kind) -> bool {
        let kinds = Kinds::of(kind);
        self.kinds.meets(kinds)
            && self.choice.as_ref().is_none_or(|choice| choice.kinds.meets(kinds))
    }

    /// Returns the strings that `enum` or `const` admits.
    pub(in crate::stream) fn texts(&self) -> Option<&Lexicon> {
        self.choice.as_ref().map(|choice| &choice.texts)
    }

    /// Judges a whole number or word.
    pub(in crate::stream) fn judge_literal(&self, kind: Kind, literal: &str) -> Result<(), Breach> {
        if kind == Kind::Number {
            return self.judge_number(literal);
        }
        let kinds = match literal {
            "true" => Kinds::TRUE,
            "false" => Kinds::FALSE,
            _ => Kinds::of(Kind::Null),
        };
        match &self.choice {
            Some(choice) if !choice.kinds.meets(kinds) => Err(Breach::Choice),
            _ => Ok(()),
        }
    }

    fn judge_number(&self, literal: &str) -> Result<(), Breach> {
        let number = Number::new(literal);
        let value = number.to_f64();
        // Rounding keeps order, so floats that differ stand for numbers that differ.
        let is_near =
            |member: &f64| value.total_cmp(member).is_eq() || value == 0.0 && *member == 0.0;
        if self.choice.as_ref().is_some_and(|choice| !choice.numbers.iter().any(is_near)) {
            return Err(Breach::Choice);
        }
        let Some(shape) = &self.number else {
            return Ok(());
        };
        if shape.is_whole && !number.is_integer() {
            return Err(Breach::Whole);
        }
        if let Some(bound) = shape.bounds.iter().find(|bound| bound.excludes(number, value)) {
            return Err(Breach::Bound(bound.keyword));
        }
        let Some(judge) = &shape.multiple_of else {
            return Ok(());
        };
        let meter = unmetered();
        let is_multiple = Document::parse(literal)
            .is_ok_and(|number| judge.is_valid(Probe::Node(number.root(), &meter)));
        if is_multiple { Ok(()) } else { Err(Breach::MultipleOf) }
    }

    /// Names the keyword that `breach` breaks, and says what would be right.
    pub(in crate::stream) fn explain(&self, breach: Breach) -> (&'static str, String) {
        match breach {
            Breach::Kind => match &self.choice {
                Some(choice) if self.kinds == Kinds::ALL => {
                    (choice.keyword, format!("expected {}", choice.kinds.names()))
                }
                _ if self.kinds == Kinds::NONE => ("false", "nothing is allowed here".to_owned()),
                _ => ("type", format!("expected {}", self.kinds.names())),
            },
            Breach::Choice => match &self.choice {
                Some(choice) => (choice.keyword, choice.describe()),
                None => ("enum", "not one of the allowed values".to_owned()),
            },
            Breach::Whole => ("type", "expected integer".to_owned()),
            Breach::Bound(keyword) => (keyword, self.describe_bound(keyword)),
            Breach::MultipleOf => ("multipleOf", "not a multiple of the given number".to_owned()),
            Breach::TooShort => ("minLength", "the string is too short".to_owned()),
            Breach::TooLong => ("maxLength", "the string is too long".to_owned()),
            Breach::Pattern => ("pattern", "the string does not match the pattern".to_owned()),
            Breach::Format => ("format", "the string does not have the format".to_owned()),
            Breach::UnknownKey => ("additionalProperties", self.describe_keys()),
            Breach::Required(place) => {
                let name = self.object.as_ref().and_then(|object| object.required.get(place));
                ("required", format!("`{}` is missing", name.map_or("", |name| name)))
            }
            Breach::TooFewItems => ("minItems", "the array has too few items".to_owned()),
            Breach::TooManyItems => ("maxItems", "the array has too many items".to_owned()),
            Breach::TooFewProperties => {
                ("minProperties", "the object has too few members".to_owned())
            }
            Breach::TooManyProperties => {
                ("maxProperties", "the object has too many members".to_owned())
            }
            Breach::NoAlternative(keyword) => {
                (keyword, "no alternative admits a value of this kind".to_owned())
            }
        }
    }

    fn describe_bound(&self, keyword: &str) -> String {
        let mut bounds = self.number.iter().flat_map(|number| &number.bounds);
        match bounds.find(|bound| bound.keyword == keyword) {
            Some(Bound { end: End::Least, limit, is_exclusive, .. }) => {
                format!("expected {} {limit}", if *is_exclusive { "more than" } else { "at least" })
            }
            Some(Bound { end: End::Most, limit, is_exclusive, .. }) => {
                format!("expected {} {limit}", if *is_exclusive { "less than" } else { "at most" })
            }
            None => "the number is out of bounds".to_owned(),
        }
    }

    fn describe_keys(&self) -> String {
        let keys = self.object.as_ref().and_then(|object| object.keys.as_ref());
        keys.map_or_else(|| "the key is not allowed".to_owned(), |keys| one_of(keys, "the key"))
    }
}

impl Choice {
    fn describe(&self) -> String {
        one_of(&self.texts, "the value")
    }
}

/// Lists the first of `words`.
fn one_of(words: &Lexicon, what: &str) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = words.words().take(SHOWN + 1).map(|w| format!("`{w}`")).collect();
    if names.is_empty() {
        return format!("{what} is not allowed");
    }
    if names.len() > SHOWN {
        names.pop();
        names.push("…".to_owned());
    }
    format!("{what} is not one of {}", names.join(", "))
}

impl Bound {
    /// Claims that a number is out of bounds beyond any doubt of rounding.
    fn excludes(&self, number: Number<'_>, value: f64) -> bool {
        let Some(limit) = self.limit.as_f64() else {
            return false;
        };
        let is_outside = match self.end {
            End::Least => value < limit,
            End::Most => value > limit,
        };
        let is_equal = || number.compare(&Number::new(&self.limit.to_string())).is_eq();
        is_outside || (self.is_exclusive && is_equal())
    }
}

/// Returns a meter for one keyword on one scalar, which is bounded by itself.
fn unmetered() -> Meter {
    Meter::strict(u64::MAX)
}

impl TextShape {
    /// Judges a whole string.
    pub(in crate::stream) fn judge(&self, text: &str) -> Result<(), Breach> {
        let meter = unmetered();
        let fails = |judge: &Option<Judge>| {
            judge.as_ref().is_some_and(|judge| !judge.is_valid(Probe::Name(text, &meter)))
        };
        if fails(&self.pattern) {
            return Err(Breach::Pattern);
        }
        if fails(&self.format) { Err(Breach::Format) } else { Ok(()) }
    }

    /// Claims that the whole string is needed to judge it.
    pub(in crate::stream) fn needs_text(&self) -> bool {
        self.pattern.is_some() || self.format.is_some()
    }
}

impl ArrayShape {
    /// Returns the shape of the item at `position`.
    pub(in crate::stream) fn item(&self, position: usize) -> ShapeId {
        self.prefix.get(position).copied().or(self.rest).unwrap_or(ShapeId::ANYTHING)
    }
}

impl ObjectShape {
    /// Calls `found` with each shape that the member called `key` must have.
    pub(in crate::stream) fn member(&self, key: &str, mut found: impl FnMut(ShapeId)) {
        let named = self.properties.get(key).copied();
        let meter = unmetered();
        let name = Probe::Name(key, &meter);
        let matching = self.patterns.iter().filter(|(judge, _)| judge.is_valid(name));
        let mut is_additional = named.is_none();
        for shape in named.into_iter().chain(matching.map(|(_, shape)| *shape)) {
            is_additional = false;
            found(shape);
        }
        if let (true, Some(shape)) = (is_additional, self.additional) {
            found(shape);
        }
    }
}
