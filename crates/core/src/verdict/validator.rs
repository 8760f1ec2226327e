//! The validator that decides: `jsonschema` over the tape, with exact numbers.

use std::sync::Arc;

use jsonschema::{Draft, Retrieve, ValidationError, ValidationOptions};
use serde_json::Value;

use super::exact::{with_exact_numbers, without_later_words};
use crate::json::probe::Tape;

/// A compiled schema.
pub(crate) type Validator = jsonschema::Validator<Tape>;

/// How a schema is compiled.
pub(crate) type Options<'i> = ValidationOptions<'i, Arc<dyn Retrieve>, Tape>;

/// Compiles `schema` by `options`.
pub(crate) fn build(
    options: Options<'_>,
    schema: &Value,
) -> Result<Validator, ValidationError<'static>> {
    // A meta-schema of its own may leave out the numeric keywords; ours cannot be left out.
    let draft = Draft::default().detect(schema);
    let is_custom = draft == Draft::Unknown;
    let options = if is_custom { options } else { with_exact_numbers(options) };
    without_later_words(options, draft).build(schema)
}
