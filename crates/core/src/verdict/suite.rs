//! The official JSON Schema test suite, run through our documents and our validator.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jsonschema::{Draft, PatternOptions, Registry, ValidationError};
use serde_json::Value;

use super::validator::{Validator, build};
use crate::contract::Options;
use crate::json::meter::{Meter, bounded};
use crate::json::probe::{Probe, Tape};
use crate::page::compare;
use crate::suite::{DRAFTS, Group, Suite, Test};
use crate::verdict::check;

/// Whether `format` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatCheck {
    Asserted,
    AsTheDraftSays,
}

/// Compiles `schema`, which may refer to the documents in `registry`.
fn compile_among(
    registry: &Registry<'_>,
    schema: &Value,
    draft: Draft,
    formats: FormatCheck,
) -> Result<Validator, ValidationError<'static>> {
    let options = jsonschema::options_for::<Tape>()
        .offline()
        .with_draft(draft)
        .with_registry(registry)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(formats == FormatCheck::Asserted);
    build(options, schema, None)
}

#[derive(Debug, Default, Clone, Copy)]
struct Score {
    passed: usize,
    total: usize,
}

/// Registers the remote documents that tests of a draft may refer to.
fn registry(suite: &Suite, name: &str, draft: Draft) -> Registry<'static> {
    let documents = suite.documents(name).into_iter();
    let resources = documents.map(|(uri, schema)| (uri, draft.create_resource(schema)));
    Registry::new().draft(draft).extend(resources).unwrap().prepare().unwrap()
}

/// Counts the tests on which the bare validator agrees with the suite.
fn score(groups: &[Group], registry: &Registry<'_>, draft: Draft, formats: FormatCheck) -> Score {
    let mut score = Score::default();
    for group in groups {
        let validator = compile_among(registry, &group.schema, draft, formats);
        for test in &group.tests {
            score.total += 1;
            let passed = validator.as_ref().is_ok_and(|validator| agrees(validator, test));
            score.passed += usize::from(passed);
        }
    }
    score
}

/// Claims that every way of asking gives the expected answer.
fn agrees(validator: &Validator, test: &Test) -> bool {
    let meter = Meter::strict(1_000_000);
    let probe = || Probe::Node(test.value.root(), &meter);
    let is_valid = bounded(|| validator.is_valid(probe()));
    let has_errors = bounded(|| validator.iter_errors(probe()).next().is_some());
    is_valid == Ok(test.conforms) && has_errors == Ok(!test.conforms)
}

/// Lists the tests on which a contract and its verdict do not agree with the suite.
fn disagreements(group: &Group, options: &Options) -> Vec<String> {
    let contract = match group.contract(options) {
        Ok(contract) => contract,
        Err(refusal) => return vec![format!("{}: {refusal}", group.name)],
    };
    let is_wrong = |test: &&Test| check(&contract, &test.value).is_empty() != test.conforms;
    group
        .tests
        .iter()
        .filter(is_wrong)
        .map(|test| format!("{} {}", group.name, test.name))
        .collect()
}

#[test]
fn every_required_test_passes() {
    let Some(suite) = Suite::open() else {
        return;
    };
    for (name, draft) in DRAFTS {
        let options = suite.options(name, draft);
        let registry = registry(&suite, name, draft);
        let mut failures = Vec::new();
        let mut total = 0;
        for file in suite.required(name) {
            let groups = Group::read(&file).unwrap();
            total += groups.iter().map(|group| group.tests.len()).sum::<usize>();
            // There the suite takes `format` for an annotation; a contract asserts it.
            if file.ends_with("format.json") {
                let Score { passed, total } =
                    score(&groups, &registry, draft, FormatCheck::AsTheDraftSays);
                assert_eq!(passed, total, "{}", file.display());
                continue;
            }
            failures.extend(groups.iter().flat_map(|group| disagreements(group, &options)));
        }
        assert!(failures.is_empty(), "{name}: {} of {total}: {failures:#?}", failures.len());
        assert!(total > 500, "{name} has only {total} tests");
    }
}

#[test]
fn the_table_of_formats_is_up_to_date() {
    let Some(suite) = Suite::open() else {
        return;
    };
    let mut table: BTreeMap<String, [Option<Score>; DRAFTS.len()]> = BTreeMap::new();
    for (column, (name, draft)) in DRAFTS.into_iter().enumerate() {
        let registry = registry(&suite, name, draft);
        for (place, file) in suite.optional(name) {
            // A file with a number beyond any machine is none that we read.
            let Some(groups) = Group::read(&file) else {
                continue;
            };
            let score = score(&groups, &registry, draft, FormatCheck::Asserted);
            table.entry(place).or_default()[column] = Some(score);
        }
    }
    compare("docs/reference/format-support.md", &render(&table));
}

fn render(table: &BTreeMap<String, [Option<Score>; DRAFTS.len()]>) -> String {
    let mut page = String::from(
        "# Formats and optional behaviour\n\n\
         Passed of all optional tests of the official JSON Schema test suite, with `format` asserted.\n\
         Every required test passes. Patterns run on a linear-time engine, which has no look-around\n\
         and no back-references. Written by the test `the_table_of_formats_is_up_to_date`; run it with\n\
         `AIRTIGHT_BLESS=1` to write this page anew.\n\n",
    );
    let names: Vec<&str> = DRAFTS.iter().map(|(name, _)| *name).collect();
    writeln!(page, "| tests | {} |", names.join(" | ")).unwrap();
    writeln!(page, "|---|{}", "--:|".repeat(DRAFTS.len())).unwrap();
    for (place, scores) in table {
        let cells = scores.map(|score| match score {
            Some(Score { passed, total }) if passed == total => format!("all {total}"),
            Some(Score { passed, total }) => format!("**{passed} of {total}**"),
            None => String::new(),
        });
        writeln!(page, "| {place} | {} |", cells.join(" | ")).unwrap();
    }
    page
}
