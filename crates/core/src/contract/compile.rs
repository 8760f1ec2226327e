//! From a schema to a validator: the declared draft, asserted formats, bounded patterns, no I/O.

use std::borrow::Cow;

use jsonschema::{Draft, PatternOptions, Registry, ValidationOptions};
use regex_syntax::ast::ErrorKind;
use serde_json::{Value, json};

use super::automaton;
use super::cycle::Expansion;
use super::diagnostic::Diagnostic;
use super::faults;
use super::rules;
use super::source::Origin;
use super::subschemas::{SiteId, Subschemas};
use crate::json::Pointer;
use crate::json::probe::Tape;
use crate::verdict::toll::{levy, with_toll};
use crate::verdict::validator::{Validator, build};

/// Which patterns a contract may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patterns {
    /// Those that match in linear time.
    #[default]
    Linear,
    /// Also look-around and back-references, with a limit on backtracking.
    LookAround,
}

/// How many bytes all compiled patterns may take together; compiling these takes half a second.
const PATTERN_BUDGET_BYTES: usize = 48 * 1024 * 1024;

/// What one pattern may take at most: a thousand times what usual ones take.
const PATTERN_CEILING_BYTES: usize = 2 * 1024 * 1024;

/// What a pattern may take at least, however many there are: enough for some Unicode classes.
const PATTERN_FLOOR_BYTES: usize = 16 * 1024;

/// With this limit a pattern is compiled once more to tell whether its size was all that is wrong.
const PATTERN_DIAGNOSIS_BYTES: usize = 16 * 1024 * 1024;

/// How many refused patterns are looked into, since each may take a tenth of a second.
const REFUSED_LIMIT: usize = 5;

/// How often one match may backtrack: some milliseconds.
const BACKTRACK_LIMIT: usize = 100_000;

/// How many schemas may be applied to one value for the price of the step into it.
const FREE_EXPANSION: u64 = 64;

/// How the validator and the canonicaliser read patterns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Engine {
    patterns: Patterns,
    size_limit: usize,
}

impl Engine {
    /// Shares the budget among the patterns of a contract.
    pub(super) fn new(patterns: Patterns, count: usize) -> Self {
        let share = PATTERN_BUDGET_BYTES / count.max(1);
        Self { patterns, size_limit: share.clamp(PATTERN_FLOOR_BYTES, PATTERN_CEILING_BYTES) }
    }

    /// Hands the options of the chosen engine to `linear` or `look_around`.
    pub(super) fn apply<T>(
        self,
        to: T,
        linear: impl FnOnce(T, PatternOptions<jsonschema::Regex>) -> T,
        look_around: impl FnOnce(T, PatternOptions<jsonschema::FancyRegex>) -> T,
    ) -> T {
        match self.patterns {
            Patterns::Linear => linear(to, PatternOptions::regex().size_limit(self.size_limit)),
            Patterns::LookAround => {
                let options = PatternOptions::fancy_regex()
                    .size_limit(self.size_limit)
                    .backtrack_limit(BACKTRACK_LIMIT);
                look_around(to, options)
            }
        }
    }
}

/// A pattern and where it stands.
struct Pattern<'s> {
    text: &'s str,
    /// The subschema.
    id: SiteId,
    keyword: &'static str,
}

impl Pattern<'_> {
    /// Returns where the keyword stands that holds it.
    fn holder(&self, subschemas: &Subschemas<'_>) -> Pointer {
        subschemas.pointer(self.id).key(self.keyword)
    }

    /// Returns where it stands itself, which may be a key.
    fn pointer(&self, subschemas: &Subschemas<'_>) -> Pointer {
        let holder = self.holder(subschemas);
        if self.keyword == "pattern" { holder } else { holder.key(self.text) }
    }
}

/// What a schema is compiled with.
pub(super) struct Compiler<'c> {
    pub(super) draft: Draft,
    pub(super) engine: Engine,
    /// The documents that it may refer to.
    pub(super) registry: &'c Registry<'c>,
    /// Decides what an error may repeat of it.
    pub(super) origin: Origin,
}

impl Compiler<'_> {
    /// Compiles `schema`, or says which parts cannot be.
    pub(super) fn compile(
        &self,
        schema: &Value,
        subschemas: &Subschemas<'_>,
        expansion: Expansion,
    ) -> Result<Validator, Vec<Diagnostic>> {
        // Building would tell them, too, at any cost.
        if let Some(finding) = faults::beyond_telling(schema, self.draft) {
            return Err(vec![finding]);
        }
        let mut options = jsonschema::options_for::<Tape>()
            .offline()
            .with_registry(self.registry)
            .should_validate_formats(true);
        // A custom meta-schema is found by its URI.
        if self.draft != Draft::Unknown {
            options = options.with_draft(self.draft);
        }
        let options = self.engine.apply(
            options,
            ValidationOptions::with_pattern_options,
            ValidationOptions::with_pattern_options,
        );
        let flaws = rules::Findings::default();
        let options = rules::with_rules(options, &flaws);
        let is_alike = subschemas.iter().all(|(_, site)| site.draft == self.draft);
        let draft = is_alike.then_some(self.draft);
        let built = if expansion.schemas > FREE_EXPANSION {
            build(with_toll(options), &metered(schema, subschemas), draft)
        } else {
            build(options, schema, draft)
        };
        let built = built.map_err(|error| {
            let refused = refused_patterns(subschemas, self.engine);
            let mut findings = faults::of(schema, self.draft, self.origin);
            // Some meta-schemas tell them, too, and those that are not looked into.
            if refused.len() < REFUSED_LIMIT {
                findings.retain(|finding| {
                    !refused.iter().any(|(_, holder)| *holder == finding.pointer)
                });
            }
            findings.extend(refused.into_iter().map(|(finding, _)| finding));
            if findings.is_empty() {
                findings = faults::told(&error, self.origin);
            }
            findings
        });
        match flaws.take() {
            flaws if flaws.is_empty() => built,
            flaws => Err(built.err().into_iter().flatten().chain(flaws).collect()),
        }
    }
}

/// Returns a copy of `schema` in which applying schemas in place costs.
fn metered(schema: &Value, subschemas: &Subschemas<'_>) -> Value {
    let mut copy = schema.clone();
    for id in subschemas.of_contract().filter(|id| subschemas.branches(*id).next().is_some()) {
        let place = copy.pointer_mut(subschemas.pointer(id).as_str());
        place.and_then(Value::as_object_mut).map(levy);
    }
    copy
}

/// Counts the patterns of a contract.
pub(super) fn count_patterns(subschemas: &Subschemas<'_>) -> usize {
    patterns(subschemas).count()
}

/// Returns how large the automata of all patterns of a contract get, as [`automaton::weigh`] counts.
pub(super) fn weigh_patterns(subschemas: &Subschemas<'_>) -> u64 {
    let weights = patterns(subschemas).map(|pattern| automaton::weigh(pattern.text));
    weights.fold(0, u64::saturating_add)
}

fn patterns<'f>(subschemas: &'f Subschemas<'_>) -> impl Iterator<Item = Pattern<'f>> {
    subschemas.iter().flat_map(|(id, site)| {
        let pattern = site.keyword("pattern").and_then(Value::as_str);
        let pattern = pattern.map(|text| Pattern { text, id, keyword: "pattern" });
        let keys = site.keyword("patternProperties").and_then(Value::as_object);
        let keys = keys.into_iter().flat_map(|members| members.keys());
        pattern.into_iter().chain(keys.map(move |text| Pattern {
            text,
            id,
            keyword: "patternProperties",
        }))
    })
}

/// Finds out which patterns the engine refuses, and why; and where meta-schemas tell of them.
fn refused_patterns(subschemas: &Subschemas<'_>, engine: Engine) -> Vec<(Diagnostic, Pointer)> {
    let builds = |text: &str, engine: Engine| {
        let options = engine.apply(
            jsonschema::options(),
            ValidationOptions::with_pattern_options,
            ValidationOptions::with_pattern_options,
        );
        options.build(&json!({ "pattern": text })).is_ok()
    };
    let refused = patterns(subschemas).filter(|pattern| !builds(pattern.text, engine));
    refused
        .take(REFUSED_LIMIT)
        .map(|pattern| {
            let pointer = pattern.pointer(subschemas);
            let finding = |code, message: &str| Diagnostic::error(pointer, code, message);
            let roomy = |patterns| Engine { patterns, size_limit: PATTERN_DIAGNOSIS_BYTES };
            let finding = if is_linear(pattern.text)
                || builds(pattern.text, roomy(engine.patterns))
            {
                let message = "this pattern is too large, or there are too many of its size";
                finding("pattern_too_large", message)
                    .with_hint("use smaller repeat counts or narrower character classes")
            } else if builds(pattern.text, roomy(Patterns::LookAround)) {
                let message = "this pattern needs look-around or back-references, which can take exponential time";
                finding("needs_look_around", message)
                    .with_hint("rewrite it, or opt in with `--look-around`")
            } else {
                let why = unreadable(pattern.text);
                finding("invalid_pattern", &format!("this pattern cannot be read: {why}")).with_hint(
                    "write a mark that stands for itself as `\\{`, the character 0 as `\\x00`, any \
                     character as `[\\s\\S]`",
                )
            };
            (finding, pattern.holder(subschemas))
        })
        .collect()
}

/// Says why a pattern is none.
fn unreadable(pattern: &str) -> String {
    // What cannot be translated is told as it is written.
    let translated = jsonschema_regex::to_rust_regex(pattern).unwrap_or(Cow::Borrowed(pattern));
    let why = match regex_syntax::Parser::new().parse(&translated) {
        // These it may have where it is read by the other engine.
        Err(regex_syntax::Error::Parse(error))
            if matches!(
                error.kind(),
                ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference
            ) =>
        {
            None
        }
        Err(regex_syntax::Error::Parse(error)) => Some(error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => Some(error.kind().to_string()),
        _ => None,
    };
    why.unwrap_or_else(|| "it is no regular expression".to_owned())
}

/// Claims that a pattern is one for the linear engine, however large it is.
fn is_linear(pattern: &str) -> bool {
    jsonschema_regex::to_rust_regex(pattern)
        .is_ok_and(|translated| regex_syntax::Parser::new().parse(&translated).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contract;
    use crate::contract::references::References;
    use std::collections::HashMap;
    use test_case::test_case;

    #[test]
    fn only_schemas_are_metered_and_never_their_data() {
        let schema = json!({
            "const": {"anyOf": []},
            "properties": {"anyOf": {"anyOf": [{"$ref": "#/x-shared/a"}, {"enum": [{"not": 1}]}]}},
            "x-shared": {"a": {"allOf": [{}]}, "b": {"not": {}}},
        });
        let mut subschemas = Subschemas::of(&schema, Draft::Draft202012);
        References::resolve(&mut subschemas, HashMap::new(), &mut Vec::new());
        let mut expected = schema.clone();
        levy(expected["properties"]["anyOf"].as_object_mut().unwrap());
        levy(expected["x-shared"]["a"].as_object_mut().unwrap());
        assert_eq!(metered(&schema, &subschemas), expected);
    }

    #[test_case("^(?:[a-z]{1000}){1000}$", "pattern_too_large"; "huge")]
    #[test_case("^(?=a)b", "needs_look_around"; "look-around")]
    #[test_case(r"^(a)\1$", "needs_look_around"; "back-reference")]
    #[test_case("(", "invalid_pattern"; "broken")]
    fn a_refused_pattern_is_told_by_what_is_wrong_with_it(pattern: &str, code: &str) {
        let diagnostics = Contract::compile(json!({ "pattern": pattern })).unwrap_err().diagnostics;
        assert_eq!(diagnostics[0].code, code, "{diagnostics:?}");
    }

    #[test_case("(" => "unclosed group".to_owned())]
    #[test_case("[^]" => "unclosed character class".to_owned())]
    #[test_case("(?=a)(" => "it is no regular expression".to_owned(); "beside look-around")]
    fn why_a_pattern_is_none_is_told(pattern: &str) -> String {
        unreadable(pattern)
    }
}
