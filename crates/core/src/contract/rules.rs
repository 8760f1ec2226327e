//! Rules: what JSON Schema cannot say.
//!
//! `x-rules` holds CEL expressions over `self`, the value at that place, as Kubernetes CRDs do:
//! `[{"rule": "self.line_end >= self.line_start", "message": "…"}]`. `x-grounded: true` demands
//! that a string occurs in the source text. Both are assertions like any other keyword: the
//! validator itself calls them, so they hold wherever the schema applies (behind `$ref`, in the
//! branch of an `anyOf` that it makes fail, under `not`), in every draft, and cost nothing where
//! they are absent. A rule that cannot be evaluated is a violation, never a pass.
//!
//! Numbers: whole ones are `int` (`uint` beyond 63 bits) however they are written, all others
//! `double`, so mixed arithmetic needs `double(self.price)`; comparisons mix freely. A number
//! that neither holds exactly cannot be computed with. There are no timestamps: core has no clock.

mod evaluation;
mod expression;
mod grounding;

use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::Value;

use super::diagnostic::Diagnostic;
use crate::json::Pointer;
use crate::json::probe::{Probe, Tape};
use expression::{Expression, Reads};
use grounding::Grounded;

pub use grounding::Source;
pub(super) use grounding::names_grounding;

/// The keyword of CEL rules.
pub(crate) const RULES: &str = "x-rules";

/// The keyword of strings that must be quoted from the source text.
pub(crate) const GROUNDED: &str = "x-grounded";

/// How many rules one place may have, so that a contract's cost stays readable from its text.
const RULE_LIMIT: usize = 64;

/// What is wrong with the rules of a schema, collected while it compiles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings(Arc<Mutex<Vec<Diagnostic>>>);

impl Findings {
    fn add(&self, diagnostic: Diagnostic) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    }

    /// Takes everything that was found, each once.
    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        let mut found = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        found.sort_by(|left, right| left.pointer.cmp(&right.pointer));
        found.dedup();
        found
    }
}

/// Teaches a validator `x-rules` and `x-grounded`; what is wrong with them goes to `findings`.
pub(crate) fn with_rules<'o, R>(
    options: ValidationOptions<'o, R, Tape>,
    findings: &Findings,
) -> ValidationOptions<'o, R, Tape> {
    let of_rules = findings.clone();
    let of_grounding = findings.clone();
    options
        .with_keyword(RULES, move |_, value, location| {
            let (rules, flaws) = compile(value, &location.as_str().into());
            for flaw in flaws {
                of_rules.add(flaw);
            }
            Ok(Box::new(rules))
        })
        .with_keyword(GROUNDED, move |_, value, location| {
            if !value.is_boolean() {
                let pointer = location.as_str().into();
                let message = "`x-grounded` is neither true nor false";
                of_grounding.add(Diagnostic::error(pointer, "bad_grounding", message));
            }
            Ok(Box::new(Grounded::new(value.as_bool().unwrap_or(true))))
        })
}

/// One rule, ready to run.
#[derive(Debug)]
struct Rule {
    expression: Expression,
    message: String,
}

/// The rules of one place in the schema.
#[derive(Debug, Default)]
struct Rules {
    rules: Vec<Rule>,
    /// What of `self` they look at, all together.
    reads: Reads,
}

fn compile(list: &Value, pointer: &Pointer) -> (Rules, Vec<Diagnostic>) {
    let mut rules = Rules::default();
    let mut flaws = Vec::new();
    let Some(list) = list.as_array().filter(|list| list.len() <= RULE_LIMIT) else {
        let message = format!("`x-rules` is not an array of at most {RULE_LIMIT} rules");
        flaws.push(
            Diagnostic::error(pointer.clone(), "bad_rule", message)
                .with_hint(r#"write [{"rule": "self.end >= self.start", "message": "…"}]"#),
        );
        return (rules, flaws);
    };
    for (position, entry) in list.iter().enumerate() {
        match compile_rule(entry, &pointer.index(position)) {
            Ok(rule) => {
                rules.reads.extend(rule.expression.reads());
                rules.rules.push(rule);
            }
            Err(flaw) => flaws.push(flaw),
        }
    }
    (rules, flaws)
}

fn compile_rule(entry: &Value, pointer: &Pointer) -> Result<Rule, Diagnostic> {
    let flaw = |pointer: Pointer, message: String| Diagnostic::error(pointer, "bad_rule", message);
    let Some(members) = entry.as_object() else {
        return Err(flaw(pointer.clone(), "a rule is not an object".to_owned()));
    };
    if let Some(stranger) = members.keys().find(|key| !matches!(key.as_str(), "rule" | "message")) {
        let message = format!("a rule has `rule` and `message` only: `{stranger}`");
        return Err(flaw(pointer.key(stranger), message));
    }
    let Some(source) = members.get("rule") else {
        return Err(flaw(pointer.clone(), "a rule has no `rule`".to_owned()));
    };
    let Some(source) = source.as_str() else {
        return Err(flaw(pointer.key("rule"), "`rule` is not a string".to_owned()));
    };
    let message = match members.get("message") {
        None => format!("`{source}` does not hold"),
        Some(Value::String(message)) => message.clone(),
        Some(_) => {
            return Err(flaw(pointer.key("message"), "`message` is not a string".to_owned()));
        }
    };
    let expression = Expression::compile(source)
        .map_err(|error| flaw(pointer.key("rule"), error.to_string()))?;
    if let Some(why) = no_test(&expression) {
        let message = format!("rule `{source}` {why}");
        return Err(Diagnostic::error(pointer.key("rule"), "constant_rule", message).with_hint(
            "say something of `self` that is true or false, as `self.end >= self.start`",
        ));
    }
    Ok(Rule { expression, message })
}

/// Returns why an expression tells no value from another, if that can be seen without one.
fn no_test(expression: &Expression) -> Option<String> {
    const NO_BOOLEAN: &str = "is neither true nor false, so it is no test";
    if !expression.is_constant() {
        return expression.makes_no_boolean().then(|| NO_BOOLEAN.to_owned());
    }
    Some(match evaluation::constant(expression) {
        Ok(true) => "holds for every value, so it is no test".to_owned(),
        Ok(false) => "holds for no value, so it can never be satisfied".to_owned(),
        Err(evaluation::NO_BOOLEAN) => NO_BOOLEAN.to_owned(),
        Err(reason) => format!("can never be evaluated: {reason}"),
    })
}

impl Rules {
    fn broken(&self, instance: &Probe<'_>) -> Vec<String> {
        evaluation::broken(&self.rules, &self.reads, instance)
    }
}

impl<'i> Keyword<'i, Tape> for Rules {
    fn validate(&self, instance: Probe<'i>) -> Result<(), ValidationError<'i>> {
        match self.broken(&instance).into_iter().next() {
            Some(message) => Err(ValidationError::custom(message)),
            None => Ok(()),
        }
    }

    fn is_valid(&self, instance: Probe<'i>) -> bool {
        self.broken(&instance).is_empty()
    }

    fn iter_errors(
        &self,
        instance: Probe<'i>,
    ) -> Box<dyn Iterator<Item = ValidationError<'i>> + 'i> {
        let errors: Vec<ValidationError<'i>> = self
            .broken(&instance)
            .into_iter()
            .map(|message| ValidationError::custom(message))
            .collect();
        Box::new(errors.into_iter())
    }
}

#[cfg(test)]
mod tests;
