//! Does one schema accept everything that another one accepts?
//!
//! Beside [`root`](super::root) the only file that knows `jsonschema::canonical`, and as careful with
//! it: an estimate keeps it from starting on what would take long, it runs on a stack of its own, and
//! whatever goes wrong is `Unknown`. It knows nothing of rules; who asks has to.

use std::collections::HashMap;

use jsonschema::canonical::{CanonicalSchema, CanonicalizeOptions, Containment, Satisfiability};
use jsonschema::{Draft, Registry};
use serde_json::Value;

use super::Patterns;
use super::compile::{Engine, count_patterns, weigh_patterns};
use super::references::References;
use super::root::STACK_BYTES;
use super::root::cost::{self, Estimate, WORK_LIMIT};
use super::root::digits::Digits;
use super::subschemas::Subschemas;
use crate::Answer;

/// How two schemas relate. `No` is never said: only a value can show it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Coverage {
    /// Whether the second accepts everything that the first accepts.
    pub(crate) kept: Answer,
    /// Whether the first accepts everything that the second accepts.
    pub(crate) within: Answer,
    /// Describes values that only the first accepts.
    pub(crate) lost: Option<Value>,
    /// Describes values that only the second accepts.
    pub(crate) gained: Option<Value>,
}

/// How schemas are read while they are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) draft: Draft,
    pub(crate) patterns: Patterns,
}

/// How many subschemas two schemas may have for the difference to be written out, which takes time
/// proportional to the cube of them.
const DIFFERENCE_LIMIT: usize = 24;

/// How many values two schemas may list together: each is compared with each.
const LISTED_LIMIT: usize = 2_000;

/// What the search for a difference costs at most: the canonical form gives up after 20,000
/// intersections.
const SEARCH_COST: u64 = 75_000;

/// How many pairs of subschemas are compared in one unit of [`cost`]: a list of members is looked
/// through for each of the others.
const PAIRS_PER_UNIT: u64 = 50;

/// Compares two schemas that refer to nothing outside of themselves, and pays for it from `budget`,
/// in the units of [`cost`].
pub(crate) fn compare(first: &Value, second: &Value, terms: Terms, budget: &mut u64) -> Coverage {
    if *budget == 0 {
        return Coverage::default();
    }
    let (Some(left), Some(right)) = (weigh(first, terms), weigh(second, terms)) else {
        return Coverage::default();
    };
    let subschemas = left.subschemas + right.subschemas;
    // Even to weigh them takes time.
    *budget = budget.saturating_sub(u64::try_from(subschemas).unwrap_or(u64::MAX));
    let square = u64::try_from(subschemas.saturating_mul(subschemas)).unwrap_or(u64::MAX);
    let search = square.saturating_mul(8).min(SEARCH_COST);
    // To compile a range of characters, as often as it is done, takes about one unit.
    let compiling = left.automata.saturating_add(right.automata);
    let comparing = left.estimate.against(right.estimate).saturating_add(square / PAIRS_PER_UNIT);
    let cost = comparing.saturating_add(compiling);
    if left.listed + right.listed > LISTED_LIMIT || left.digits.and(right.digits).may_round() {
        return Coverage::default();
    }
    if cost > WORK_LIMIT {
        return Coverage::default();
    }
    if cost.saturating_add(search) > *budget {
        // What is left is too little for anything of this size, so that nothing more is weighed.
        *budget = 0;
        return Coverage::default();
    }
    *budget -= cost + search;
    let engine = Engine::new(terms.patterns, left.patterns + right.patterns);
    let detail = if subschemas > DIFFERENCE_LIMIT { Detail::Answer } else { Detail::Difference };
    let question = Question { first, second, draft: terms.draft, engine, detail };
    let answered = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, || question.answer()).ok()?.join().ok()
    });
    answered.flatten().unwrap_or_default()
}

/// A schema that is cheap enough to be compared.
struct Weighed {
    estimate: Estimate,
    patterns: usize,
    /// How large their automata get.
    automata: u64,
    /// How many of its subschemas ask for anything.
    subschemas: usize,
    /// How many values they list.
    listed: usize,
    digits: Digits,
}

/// How much is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Answer,
    /// And what makes the difference.
    Difference,
}

fn weigh(schema: &Value, terms: Terms) -> Option<Weighed> {
    let mut subschemas = Subschemas::of(schema, terms.draft);
    let mut flaws = Vec::new();
    let references = References::resolve(&mut subschemas, HashMap::new(), &mut flaws);
    if !flaws.is_empty() {
        return None;
    }
    let estimate = cost::estimate(&subschemas, &references).ok()?;
    let asking = || subschemas.iter().filter_map(|(_, site)| site.members());
    let lists = asking().filter_map(|members| members.get("enum")?.as_array());
    let listed = lists.map(Vec::len).sum();
    let (patterns, automata) = (count_patterns(&subschemas), weigh_patterns(&subschemas));
    let digits = Digits::of(&subschemas);
    let subschemas = asking().count();
    Some(Weighed { estimate, patterns, automata, subschemas, listed, digits })
}

struct Question<'q> {
    first: &'q Value,
    second: &'q Value,
    draft: Draft,
    engine: Engine,
    detail: Detail,
}

impl Question<'_> {
    fn answer(&self) -> Option<Coverage> {
        let registry = Registry::new().prepare().ok()?;
        let first = self.canonical(self.first, &registry)?;
        let second = self.canonical(self.second, &registry)?;
        let (kept, lost) = self.compared(&second, &first);
        let (within, gained) = self.compared(&first, &second);
        Some(Coverage { kept, within, lost, gained })
    }

    fn canonical(&self, schema: &Value, registry: &Registry<'_>) -> Option<CanonicalSchema> {
        let options = jsonschema::canonical::options()
            .offline()
            .with_registry(registry)
            .with_draft(self.draft)
            .should_validate_formats(true);
        let options = self.engine.apply(
            options,
            CanonicalizeOptions::with_pattern_options,
            CanonicalizeOptions::with_pattern_options,
        );
        options.canonicalize(schema).ok()
    }

    /// Answers whether `outer` accepts everything that `inner` does, and if that is not sure, describes
    /// what it may leave out.
    fn compared(
        &self,
        outer: &CanonicalSchema,
        inner: &CanonicalSchema,
    ) -> (Answer, Option<Value>) {
        match outer.covers(inner) {
            Ok(Containment::Yes) => (Answer::Yes, None),
            Ok(Containment::No | Containment::Unknown) if self.detail == Detail::Difference => {
                let rest = inner.subtract(outer).ok();
                let rest = rest.filter(|rest| rest.satisfiability() != Satisfiability::No);
                (Answer::Unknown, rest.map(|rest| rest.to_json_schema()))
            }
            Ok(Containment::No | Containment::Unknown) | Err(_) => (Answer::Unknown, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TERMS: Terms = Terms { draft: Draft::Draft202012, patterns: Patterns::Linear };

    #[test]
    fn what_makes_the_difference_is_described() {
        let (narrow, wide) = (json!({"maxLength": 3, "type": "string"}), json!({"type": "string"}));
        let found = compare(&narrow, &wide, TERMS, &mut 1_000);
        let gained = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string", "minLength": 4});
        let (kept, within) = (Answer::Yes, Answer::Unknown);
        assert_eq!(found, Coverage { kept, within, lost: None, gained: Some(gained) });
    }

    #[test]
    fn what_would_take_long_is_not_begun_and_costs_little() {
        let branch =
            |n: usize| json!({"anyOf": [{"minLength": n}, {"maximum": n}, {"minItems": n}]});
        let product = json!({"allOf": (0..12).map(branch).collect::<Vec<_>>()});
        let mut budget = 1_000_000;
        assert_eq!(compare(&product, &json!({}), TERMS, &mut budget), Coverage::default());
        assert!((999_900..=1_000_000).contains(&budget), "{budget}");
        assert_eq!(compare(&json!({}), &json!({}), TERMS, &mut 0), Coverage::default());
    }

    #[test]
    fn patterns_are_paid_for_by_the_size_of_their_automata() {
        let left_of = |pattern: &str| {
            let schema = json!({"type": "string", "pattern": pattern});
            let mut budget = 1_000_000;
            let found = compare(&schema, &schema, TERMS, &mut budget);
            (found.kept, 1_000_000 - budget)
        };
        let (kept, plain) = left_of("^[a-z]+$");
        assert!(kept == Answer::Yes && plain < 100, "{plain}");
        let (kept, letters) = left_of(r"^\p{L}+$");
        assert!(kept == Answer::Yes && letters > 600, "{letters}");
        // Together they would take too long even once.
        assert_eq!(left_of(r"^(\p{L}{20}){20}$").0, Answer::Unknown);
    }
}
