//! Contracts: a JSON Schema that passed preflight, ready to judge.

mod diagnostic;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::json::probe::Tape;

pub use diagnostic::{Diagnostic, Refusal, Severity};

/// A JSON Schema with its rules and identity, compiled.
#[derive(Debug)]
pub struct Contract {
    schema: Value,
    draft: Draft,
    validator: Validator<Tape>,
}

impl Contract {
    /// Compiles `schema`, or refuses it with all that is wrong.
    pub fn compile(schema: Value) -> Result<Self, Refusal> {
        let draft = Draft::Draft202012.detect(&schema);
        let validator = jsonschema::options_for::<Tape>()
            .with_draft(draft)
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .build(&schema)
            .map_err(|error| {
                Refusal::from(Diagnostic::error(
                    error.instance_path().as_str().into(),
                    "not_a_schema",
                    error.to_string(),
                ))
            })?;
        Ok(Self { schema, draft, validator })
    }

    /// Returns the schema as it was given.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Returns the draft that the schema declares, 2020-12 if none.
    pub fn draft(&self) -> Draft {
        self.draft
    }

    pub(crate) fn validator(&self) -> &Validator<Tape> {
        &self.validator
    }
}
