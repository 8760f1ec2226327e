//! Can anything satisfy the contract, and can an object?
//!
//! The only file that knows `jsonschema::canonical`, which is experimental. Its work is bounded
//! twice: [`cost`] keeps it from starting on what would take long, and it runs on a stack of its
//! own, so that neither its depth nor a panic in it can reach the caller. Past a bound the answer
//! is `Unknown`, which lets the contract pass: the verdict decides later.

pub(super) mod cost;
pub(super) mod digits;

use std::collections::BTreeMap;

use jsonschema::canonical::{
    CanonicalSchema, CanonicalizeOptions, Cause, Satisfiability, UnsatisfiableReason,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::compile::Compiler;
use super::cycle;
use super::references::References;
use super::rules::{GROUNDED, RULES};
use super::subschemas::Subschemas;
use crate::Answer;
use crate::json::{Document, Kind, Pointer};
use digits::Digits;

/// The stack that canonicalisation gets: it recurses along references, of which [`cost`] lets a
/// few thousand in a row pass. Only what is touched takes memory.
pub(super) const STACK_BYTES: usize = 64 * 1024 * 1024;

/// What is said where the canonical form gives no reason.
const UNEXPLAINED: &str = "no value satisfies it";

/// An answer with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The answer.
    pub answer: Answer,
    /// Why, in one sentence without a period.
    pub reason: String,
    /// Which part of the schema decides; the root if the whole does.
    pub pointer: Pointer,
}

impl Decision {
    fn new(answer: Answer, reason: impl Into<String>) -> Self {
        Self { answer, reason: reason.into(), pointer: Pointer::root() }
    }

    pub(super) fn unknown(reason: impl Into<String>) -> Self {
        Self::new(Answer::Unknown, reason)
    }
}

/// What is known about the values that a contract accepts.
#[derive(Debug, Clone)]
pub(super) struct Root {
    pub(super) satisfiable: Decision,
    pub(super) accepts_object: Decision,
}

impl Root {
    pub(super) fn unknown(reason: &str) -> Self {
        Self { satisfiable: Decision::unknown(reason), accepts_object: Decision::unknown(reason) }
    }
}

/// Keywords under which an assertion more can admit values.
pub(crate) const INVERTING: [&str; 4] = ["not", "oneOf", "if", "maxContains"];

impl Root {
    /// Says only what also holds with rules, which the canonical form does not know.
    fn with_rules(self, subschemas: &Subschemas<'_>) -> Self {
        let is_inverting = has_any(subschemas, &INVERTING);
        let temper = |decision: Decision| match decision.answer {
            Answer::Yes => Decision::unknown("not decided: the rules are left to the verdict"),
            Answer::No if is_inverting => {
                Decision::unknown("not decided: rules take part in a choice")
            }
            Answer::No | Answer::Unknown => decision,
        };
        Self { satisfiable: temper(self.satisfiable), accepts_object: temper(self.accepts_object) }
    }

    /// Says that values have to hold each other without an end, if that is why there are none.
    fn name_round(&mut self, subschemas: &Subschemas<'_>, references: &References) {
        if let Some((pointer, path)) = cycle::required_round(subschemas, references) {
            let reason = format!("a value has to hold another such value without an end: {path}");
            self.satisfiable = Decision { pointer, ..Decision::new(Answer::No, reason) };
            self.accepts_object = self.satisfiable.clone();
        }
    }

    /// Takes an example for the proof that it is.
    pub(super) fn shown_by(&mut self, example: &Document) {
        if self.satisfiable.answer == Answer::Unknown {
            self.satisfiable = Decision::new(Answer::Yes, "an example satisfies it");
        }
        let is_object = example.root().kind() == Kind::Object;
        if is_object && self.accepts_object.answer == Answer::Unknown {
            self.accepts_object = Decision::new(Answer::Yes, "an example object satisfies it");
        }
    }
}

/// Decides both questions about a schema that compiles.
pub(super) fn decide(
    schema: &Value,
    compiler: &Compiler<'_>,
    subschemas: &Subschemas<'_>,
    references: &References,
) -> Root {
    if let Some(excess) = cost::excess(subschemas, references) {
        return Root::unknown(&format!("not decided: {excess}"));
    }
    if Digits::of(subschemas).may_round() {
        return Root::unknown("not decided: `multipleOf` stands beside numbers of many digits");
    }
    let question = Question { schema, compiler };
    let answered = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, || question.answer()).ok()?.join().ok()
    });
    let root = answered.flatten();
    let mut root = root.unwrap_or_else(|| Root::unknown("not decided: the schema is too unusual"));
    if root.satisfiable.answer == Answer::No && root.satisfiable.reason == UNEXPLAINED {
        root.name_round(subschemas, references);
    }
    if has_rules(subschemas) { root.with_rules(subschemas) } else { root }
}

/// Claims that the contract holds assertions that the canonical form does not know.
pub(super) fn has_rules(subschemas: &Subschemas<'_>) -> bool {
    has_any(subschemas, &[RULES, GROUNDED])
}

fn has_any(subschemas: &Subschemas<'_>, keywords: &[&str]) -> bool {
    subschemas
        .iter()
        .filter_map(|(_, site)| site.members())
        .any(|members| keywords.iter().any(|keyword| members.contains_key(*keyword)))
}

struct Question<'q> {
    schema: &'q Value,
    compiler: &'q Compiler<'q>,
}

impl<'q> Question<'q> {
    fn options(&self) -> CanonicalizeOptions<'q> {
        let options = jsonschema::canonical::options()
            .offline()
            .with_registry(self.compiler.registry)
            .with_draft(self.compiler.draft)
            .should_validate_formats(true);
        self.compiler.engine.apply(
            options,
            CanonicalizeOptions::with_pattern_options,
            CanonicalizeOptions::with_pattern_options,
        )
    }

    fn answer(&self) -> Option<Root> {
        let prepared = self.options().prepare(self.schema).ok()?;
        let canonical = prepared.canonicalize().ok()?;
        let satisfiable = match canonical.satisfiability() {
            Satisfiability::Yes => Decision::new(Answer::Yes, "some value satisfies it"),
            Satisfiability::Unknown => Decision::unknown("not decided: it is left to the verdict"),
            Satisfiability::No => {
                explain(self.schema, &prepared.unsatisfiable().unwrap_or_default())
            }
        };
        let accepts_object = if satisfiable.answer == Answer::No {
            satisfiable.clone()
        } else {
            self.accepts_object(&canonical)
        };
        Some(Root { satisfiable, accepts_object })
    }

    fn accepts_object(&self, canonical: &CanonicalSchema) -> Decision {
        match self.accepts(canonical, "object") {
            Answer::Yes => Decision::new(Answer::Yes, "some object satisfies it"),
            Answer::Unknown => Decision::unknown("not decided: it is left to the verdict"),
            Answer::No => {
                let others = ["array", "string", "number", "boolean", "null"];
                let possible: Vec<_> = others
                    .into_iter()
                    .filter(|other| self.accepts(canonical, other) != Answer::No)
                    .collect();
                let reason = format!("the root accepts no object, only {}", possible.join(" or "));
                Decision::new(Answer::No, reason)
            }
        }
    }

    /// Answers whether some value of the type `name` satisfies the schema.
    fn accepts(&self, canonical: &CanonicalSchema, name: &str) -> Answer {
        let typed = self.options().canonicalize(&json!({ "type": name }));
        let both = typed.and_then(|typed| canonical.intersect(&typed));
        both.map_or(Answer::Unknown, |both| match both.satisfiability() {
            Satisfiability::Yes => Answer::Yes,
            Satisfiability::No => Answer::No,
            Satisfiability::Unknown => Answer::Unknown,
        })
    }
}

/// Follows the reasons from the root to the keywords that exclude each other.
fn explain(schema: &Value, reasons: &BTreeMap<String, UnsatisfiableReason>) -> Decision {
    let mut at = String::new();
    // Each step names another place; a longer way than there are places would be a cycle.
    for _ in 0..=reasons.len() {
        let inner = match reasons.get(&at) {
            Some(UnsatisfiableReason::Empty(cause)) if cause.keywords.is_empty() => {
                Some(cause.pointer.clone())
            }
            Some(UnsatisfiableReason::Conflict(_)) => required_part(schema, &at, reasons),
            Some(_) | None => None,
        };
        let Some(inner) = inner else { break };
        at = inner;
    }
    match reasons.get(&at) {
        Some(reason) => describe(reason, &at),
        None => Decision { pointer: at.as_str().into(), ..Decision::new(Answer::No, UNEXPLAINED) },
    }
}

/// Returns a required property of the object at `at` that nothing satisfies.
fn required_part(
    schema: &Value,
    at: &str,
    reasons: &BTreeMap<String, UnsatisfiableReason>,
) -> Option<String> {
    let required = schema.pointer(at)?.get("required")?.as_array()?;
    let properties = Pointer::from(at).key("properties");
    let place = |name: &Value| Some(properties.key(name.as_str()?).as_str().to_owned());
    required.iter().filter_map(place).find(|place| reasons.contains_key(place))
}

fn describe(reason: &UnsatisfiableReason, at: &str) -> Decision {
    let named = |cause: &Cause| {
        let keywords: Vec<String> = cause.keywords.iter().map(|it| format!("`{it}`")).collect();
        match (keywords.is_empty(), cause.pointer == at) {
            (true, _) => format!("the schema at {}", Pointer::from(cause.pointer.as_str())),
            (false, true) => keywords.join(" and "),
            (false, false) => {
                format!("{} at {}", keywords.join(" and "), Pointer::from(cause.pointer.as_str()))
            }
        }
    };
    let (text, pointer) = match reason {
        UnsatisfiableReason::Literal => ("`false` accepts nothing".to_owned(), at),
        UnsatisfiableReason::Empty(cause) => {
            let together = if cause.keywords.len() > 1 { " together" } else { "" };
            (format!("no value satisfies {}{together}", named(cause)), cause.pointer.as_str())
        }
        UnsatisfiableReason::Conflict(causes) => {
            let parts: Vec<String> = causes.iter().map(named).collect();
            (format!("no value satisfies all of {}", parts.join(", ")), at)
        }
    };
    Decision { answer: Answer::No, reason: text, pointer: pointer.into() }
}
