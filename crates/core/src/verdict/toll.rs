//! The price of applying schemas in place.
//!
//! Twenty definitions that each refer to the next one twice make a validator apply a million
//! subschemas to one scalar, without a step into the value that the [meter] would notice. In such
//! contracts each schema that applies others in place gets a branch that takes a unit.
//!
//! [meter]: crate::json::meter

use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value, json};

use super::validator::Options;
use crate::json::probe::{Probe, Tape};

const KEYWORD: &str = "x-airtight-meter";

/// Adds the toll to `schema`.
pub(crate) fn levy(schema: &mut Map<String, Value>) {
    // `jsonschema` applies `allOf` before every other choice and keywords of ours last, when a
    // choice may have failed already. At the end, so that branches keep their numbers: if an
    // earlier one fails, the validator does not go on, and nothing multiplies.
    let toll = json!({ KEYWORD: true });
    match schema.get_mut("allOf") {
        Some(Value::Array(branches)) => branches.push(toll),
        _ => {
            schema.insert("allOf".to_owned(), Value::Array(vec![toll]));
        }
    }
}

/// Gives the toll its meaning.
pub(crate) fn with_toll(options: Options<'_>) -> Options<'_> {
    options.with_keyword(KEYWORD, |_, _, _| Ok(Box::new(Toll)))
}

/// Takes a unit and has no other opinion.
struct Toll;

impl<'i> Keyword<'i, Tape> for Toll {
    fn validate(&self, instance: Probe<'i>) -> Result<(), ValidationError<'i>> {
        instance.meter().spend();
        Ok(())
    }

    fn is_valid(&self, instance: Probe<'i>) -> bool {
        instance.meter().spend();
        true
    }
}
