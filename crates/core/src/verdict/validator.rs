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

/// Compiles `schema` by `options`; `draft` is that of all its parts, if they have one.
pub(crate) fn build(
    options: Options<'_>,
    schema: &Value,
    draft: Option<Draft>,
) -> Result<Validator, ValidationError<'static>> {
    // A meta-schema of its own may leave out the numeric keywords; ours cannot be left out.
    let is_custom = Draft::default().detect(schema) == Draft::Unknown;
    let options = if is_custom { options } else { with_exact_numbers(options) };
    match draft {
        Some(draft) => without_later_words(options, draft).build(schema),
        None => options.build(schema),
    }
}
