//! The grammar of a contract: which tokens may come next.
//!
//! The grammar follows what it can of the lowered schema and ignores the rest, with a warning;
//! the verdict on the finished answer decides.

use llguidance::api::TopLevelGrammar;
use llguidance::{JsonCompileOptions, Matcher, ParserFactory};
use serde_json::{Value, json};
use thiserror::Error;
use toktrie::{SimpleVob, TokEnv, TokenId};

/// Why a grammar cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ConstraintError {
    /// The schema accepts nothing.
    #[error("the schema accepts nothing")]
    Unsatisfiable,
    /// The schema has no grammar.
    #[error("the schema has no grammar: {0}")]
    Refused(String),
    /// The grammar ran into a limit while it was followed.
    #[error("the grammar cannot be followed any further: {0}")]
    Lost(String),
}

/// Makes grammars for one vocabulary.
pub(crate) struct Grammars {
    factory: ParserFactory,
}

impl Grammars {
    pub(crate) fn new(environment: &TokEnv) -> Result<Self, ConstraintError> {
        let mut factory = ParserFactory::new_simple(environment)
            .map_err(|error| ConstraintError::Refused(error.to_string()))?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory })
    }

    /// Compiles the grammar of a schema in the dialect `llguidance`.
    pub(crate) fn compile(&self, schema: &Value) -> Result<Constraint, ConstraintError> {
        if *schema == Value::Bool(false) {
            return Err(ConstraintError::Unsatisfiable);
        }
        // What is no object is `true`, and accepts anything.
        let mut schema = Value::Object(schema.as_object().cloned().unwrap_or_default());
        let options = JsonCompileOptions {
            whitespace_flexible: false,
            lenient: true,
            ..JsonCompileOptions::default()
        };
        tighten_formats(&mut schema);
        options.apply_to(&mut schema);
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema));
        let mut matcher = Matcher::new(parser);
        if let Some(error) = matcher.get_error() {
            return Err(ConstraintError::Refused(error));
        }
        let warnings = matcher.grammar_warnings();
        Ok(Constraint { matcher, warnings })
    }
}

/// Where an answer stands in its grammar.
#[derive(Clone)]
pub(crate) struct Constraint {
    matcher: Matcher,
    warnings: Vec<String>,
}

impl Constraint {
    /// Returns what the grammar does not follow.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the tokens that must come next, whatever the model thinks.
    pub(crate) fn forced(&mut self) -> Vec<TokenId> {
        self.matcher.compute_ff_tokens()
    }

    /// Returns the tokens that may come next.
    pub(crate) fn allowed(&mut self) -> Result<SimpleVob, ConstraintError> {
        self.matcher.compute_mask().map_err(|error| lost(&error))
    }

    /// Claims that this token may come next.
    pub(crate) fn allows(&mut self, token: TokenId) -> bool {
        self.matcher.validate_tokens(&[token]).is_ok_and(|valid| valid == 1)
    }

    /// Takes tokens that the grammar allows.
    pub(crate) fn take(&mut self, tokens: &[TokenId]) -> Result<(), ConstraintError> {
        self.matcher.consume_tokens(tokens).map_err(|error| lost(&error))
    }

    /// Takes back the last tokens.
    pub(crate) fn take_back(&mut self, tokens: usize) -> Result<(), ConstraintError> {
        self.matcher.rollback(tokens).map_err(|error| lost(&error))
    }

    /// Claims that nothing can follow.
    pub(crate) fn is_over(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// Claims that the answer is complete, though more may follow.
    pub(crate) fn is_complete(&mut self) -> bool {
        self.is_over() || self.matcher.is_accepting().unwrap_or(false)
    }

    /// Claims that all of `tokens` may follow.
    pub(crate) fn allows_all(&mut self, tokens: &[TokenId]) -> Result<bool, ConstraintError> {
        let taken = self.matcher.try_consume_tokens(tokens).map_err(|error| lost(&error))?;
        self.take_back(taken)?;
        Ok(taken == tokens.len())
    }

    /// Claims that the answer is complete after `tokens`, all of which are allowed.
    pub(crate) fn completes(&mut self, tokens: &[TokenId]) -> Result<bool, ConstraintError> {
        let taken = self.matcher.try_consume_tokens(tokens).map_err(|error| lost(&error))?;
        let complete = taken == tokens.len() && self.is_complete();
        self.take_back(taken)?;
        Ok(complete)
    }
}

/// How a date begins if it is not 29 February, or is and the year has one.
macro_rules! date {
    () => {
        "^(?:.{4}-(?:0[13-9]|1[0-2])|.{4}-02-(?:[01]|2[0-8])\
         |(?:..(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
    };
}

/// Patterns for formats of which the grammar allows more than the format does: 29 February in any
/// year, second 60 at any time, and names of any length. They exclude only what the format does:
/// a pattern that excludes more makes the model write something else than it meant.
const FORMAT_PATTERNS: [(&str, &str); 6] = [
    ("date", date!()),
    ("date-time", concat!(date!(), "[^:]*:[0-5][0-9]:[0-5]")),
    ("time", "^[^:]+:[0-5][0-9]:[0-5]"),
    ("email", r"^[^@]{1,64}@[^@.]{1,63}(\.[^@.]{1,63})*$"),
    ("email", "^[^@]+@[^@]{1,253}$"),
    ("hostname", "^.{1,253}$"),
];

/// Adds to formats what the grammar overlooks; a schema that has a pattern of its own keeps it.
fn tighten_formats(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(tighten_formats),
        Value::Object(members) => {
            let format = members.get("format").and_then(Value::as_str);
            let known = FORMAT_PATTERNS.iter().filter(|(name, _)| Some(*name) == format);
            let known: Vec<&str> = known.map(|(_, pattern)| *pattern).collect();
            if let ([first, more @ ..], false) = (&*known, members.contains_key("pattern")) {
                members.insert("pattern".to_owned(), (*first).into());
                let more = more.iter().map(|pattern| json!({ "pattern": pattern }));
                if more.len() > 0
                    && let Some(all) =
                        members.entry("allOf").or_insert_with(|| json!([])).as_array_mut()
                {
                    all.extend(more);
                }
            }
            let schemas = members.iter_mut().filter(|(key, _)| *key != "enum" && *key != "const");
            schemas.for_each(|(_, schema)| tighten_formats(schema));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn lost(error: &impl ToString) -> ConstraintError {
    ConstraintError::Lost(error.to_string())
}
