//! Bounds, multiples and constants, by the digits of numbers.
//!
//! `jsonschema` compares numbers as 64-bit integers and floats. An integer beyond them would be
//! judged by its nearest float, and so sometimes wrongly accepted.

use jsonschema::json::Node;
use jsonschema::{Draft, Keyword, ValidationError};
use serde_json::{Map, Value};

use super::validator::Options;
use crate::json::Number;
use crate::json::probe::{Probe, Tape};

/// The keyword of constants.
pub(super) const CONSTANT: &str = "const";

type Judge = Box<dyn for<'i> Keyword<'i, Tape>>;

/// What a number must be, in relation to the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtLeast,
    Above,
    AtMost,
    Below,
    MultipleOf,
}

struct Comparison {
    relation: Relation,
    literal: String,
}

impl Comparison {
    fn holds(&self, number: Number<'_>) -> bool {
        let limit = Number::new(&self.literal);
        match self.relation {
            Relation::AtLeast => number.compare(&limit).is_ge(),
            Relation::Above => number.compare(&limit).is_gt(),
            Relation::AtMost => number.compare(&limit).is_le(),
            Relation::Below => number.compare(&limit).is_lt(),
            Relation::MultipleOf => number.is_multiple_of(&limit),
        }
    }

    fn demand(&self) -> String {
        let relation = match self.relation {
            Relation::AtLeast => "at least",
            Relation::Above => "more than",
            Relation::AtMost => "at most",
            Relation::Below => "less than",
            Relation::MultipleOf => "a multiple of",
        };
        format!("must be {relation} {}", self.literal)
    }
}

impl<'i> Keyword<'i, Tape> for Comparison {
    fn validate(&self, instance: Probe<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(self.demand()))
    }

    fn is_valid(&self, instance: Probe<'i>) -> bool {
        instance.as_number().is_none_or(|number| self.holds(number))
    }
}

/// A constant; `jsonschema` compares numbers as floats.
///
/// Its error holds the constant itself, as JSON, for those who put errors in words.
struct Constant(Value);

impl<'i> Keyword<'i, Tape> for Constant {
    fn validate(&self, instance: Probe<'i>) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(self.0.to_string()))
    }

    fn is_valid(&self, instance: Probe<'i>) -> bool {
        instance.equals_value(&self.0)
    }
}

/// What rejects nothing: draft 4's boolean `exclusiveMinimum`, which only changes how its neighbour is read,
/// and what a draft does not know.
struct Unheeded;

impl<'i> Keyword<'i, Tape> for Unheeded {
    fn validate(&self, _: Probe<'i>) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: Probe<'i>) -> bool {
        true
    }
}

/// Makes `options` judge numbers exactly.
pub(super) fn with_exact_numbers(options: Options<'_>) -> Options<'_> {
    options
        .with_keyword("minimum", |parent, limit, _| {
            let exclusive = is_modified(parent, "exclusiveMinimum");
            Ok(compile(if exclusive { Relation::Above } else { Relation::AtLeast }, limit))
        })
        .with_keyword("maximum", |parent, limit, _| {
            let exclusive = is_modified(parent, "exclusiveMaximum");
            Ok(compile(if exclusive { Relation::Below } else { Relation::AtMost }, limit))
        })
        .with_keyword("exclusiveMinimum", |_, limit, _| Ok(compile(Relation::Above, limit)))
        .with_keyword("exclusiveMaximum", |_, limit, _| Ok(compile(Relation::Below, limit)))
        .with_keyword(CONSTANT, |_, expected, _| Ok(Box::new(Constant(expected.clone()))))
        .with_keyword("multipleOf", |_, limit, _| Ok(compile(Relation::MultipleOf, limit)))
}

/// Makes `options` pass over what `draft` does not know, and `jsonschema` or we would judge all the same.
pub(super) fn without_later_words(options: Options<'_>, draft: Draft) -> Options<'_> {
    let later: &[&str] = match draft {
        Draft::Draft4 => &[CONSTANT],
        Draft::Draft6 => &["contentEncoding", "contentMediaType"],
        Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012 | _ => &[],
    };
    later.iter().fold(options, |options, keyword| {
        options.with_keyword(*keyword, |_, _, _| Ok(Box::new(Unheeded)))
    })
}

/// Claims that a bound excludes its limit by a boolean beside it, which only draft 4 allows.
fn is_modified(parent: &Map<String, Value>, modifier: &str) -> bool {
    parent.get(modifier) == Some(&Value::Bool(true))
}

/// The meta-schema has checked that `limit` is a number, or a boolean in draft 4.
fn compile(relation: Relation, limit: &Value) -> Judge {
    match limit {
        Value::Number(number) => Box::new(Comparison { relation, literal: number.to_string() }),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Box::new(Unheeded)
        }
    }
}
