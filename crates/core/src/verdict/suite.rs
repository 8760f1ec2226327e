//! The official JSON Schema test suite, run through our documents and our validator.
//!
//! The suite is no part of this repository: without it the test says so and passes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use jsonschema::{Draft, PatternOptions, Registry, Resource, ValidationError};
use serde_json::Value;

use super::validator::{Validator, build};
use crate::json::meter::{Meter, bounded};
use crate::json::probe::{Probe, Tape};
use crate::json::{Document, Node};

const DRAFTS: [(&str, Draft); 5] = [
    ("draft4", Draft::Draft4),
    ("draft6", Draft::Draft6),
    ("draft7", Draft::Draft7),
    ("draft2019-09", Draft::Draft201909),
    ("draft2020-12", Draft::Draft202012),
];

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
    build(options, schema)
}

/// Returns the suite's folder, or says aloud that there is none.
fn suite() -> Option<PathBuf> {
    let shared = env::var_os("AIRTIGHT_SUITES").map(PathBuf::from);
    let root = shared.unwrap_or_else(|| repository().join("../shared/suites"));
    let suite = root.join("json-schema-test-suite");
    if suite.is_dir() {
        return Some(suite);
    }
    #[expect(
        clippy::print_stderr,
        reason = "a test that did nothing must not look like one that did"
    )]
    {
        eprintln!(
            "SKIPPED: no JSON Schema test suite at {} (set AIRTIGHT_SUITES)",
            suite.display()
        );
    }
    None
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Registers the remote documents that tests of `name` may refer to.
fn registry(suite: &Path, name: &str, draft: Draft) -> Registry<'static> {
    let remotes = suite.join("remotes");
    let documents = json_files(&remotes).into_iter().filter_map(|path| {
        let place = path.strip_prefix(&remotes).unwrap().to_str().unwrap().to_owned();
        let other_draft = (place.starts_with("draft") || place.starts_with("v1/"))
            && !place.starts_with(&format!("{name}/"));
        let schema = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let resource = draft.create_resource(schema);
        (!other_draft).then(|| (format!("http://localhost:1234/{place}"), resource))
    });
    let documents: Vec<(String, Resource)> = documents.collect();
    Registry::new().draft(draft).extend(documents).unwrap().prepare().unwrap()
}

#[derive(Debug, Default, Clone, Copy)]
struct Score {
    passed: usize,
    total: usize,
}

/// Runs one file; failures are appended to `failures`.
fn run_file(
    path: &Path,
    registry: &Registry<'_>,
    (draft, formats): (Draft, FormatCheck),
    failures: &mut Vec<String>,
) -> Score {
    let mut score = Score::default();
    let document = Document::parse(fs::read_to_string(path).unwrap()).unwrap();
    for group in document.root().items() {
        let schema = group.member("schema").unwrap().to_value();
        let validator = compile_among(registry, &schema, draft, formats);
        for test in group.member("tests").unwrap().items() {
            let expected = test.member("valid").unwrap().as_boolean().unwrap();
            let passed =
                validator.as_ref().is_ok_and(|validator| agrees(validator, test, expected));
            score.total += 1;
            score.passed += usize::from(passed);
            if !passed {
                let text = |node: Node<'_>| node.member("description").unwrap().raw().to_owned();
                let reason = validator.as_ref().err().map(ToString::to_string);
                failures.push(format!(
                    "{} {} {} {reason:?}",
                    path.display(),
                    text(group),
                    text(test)
                ));
            }
        }
    }
    score
}

/// Claims that every way of asking gives the `expected` answer.
fn agrees(validator: &Validator, test: Node<'_>, expected: bool) -> bool {
    let data = Document::parse(test.member("data").unwrap().raw()).unwrap();
    let meter = Meter::strict(1_000_000);
    let probe = || Probe::Node(data.root(), &meter);
    let is_valid = bounded(|| validator.is_valid(probe()));
    let has_errors = bounded(|| validator.iter_errors(probe()).next().is_some());
    is_valid == Ok(expected) && has_errors == Ok(!expected)
}

#[test]
fn every_required_test_passes() {
    let Some(suite) = suite() else {
        return;
    };
    for (name, draft) in DRAFTS {
        let registry = registry(&suite, name, draft);
        let mut failures = Vec::new();
        let mut total = 0;
        for path in json_files(&suite.join(name)) {
            if !path.components().any(|part| part.as_os_str() == "optional") {
                let rules = (draft, FormatCheck::AsTheDraftSays);
                total += run_file(&path, &registry, rules, &mut failures).total;
            }
        }
        assert!(failures.is_empty(), "{name}: {} of {total}: {failures:#?}", failures.len());
        assert!(total > 500, "{name} has only {total} tests");
    }
}

/// Tests that are about JSON texts which no document can hold.
fn is_unrepresentable(path: &Path) -> bool {
    Document::parse(fs::read_to_string(path).unwrap()).is_err()
}

#[test]
fn the_table_of_formats_is_up_to_date() {
    let Some(suite) = suite() else {
        return;
    };
    let mut table: BTreeMap<String, [Option<Score>; DRAFTS.len()]> = BTreeMap::new();
    for (column, (name, draft)) in DRAFTS.into_iter().enumerate() {
        let registry = registry(&suite, name, draft);
        for path in json_files(&suite.join(name).join("optional")) {
            if is_unrepresentable(&path) {
                continue;
            }
            let place = path.strip_prefix(suite.join(name).join("optional")).unwrap();
            let rules = (draft, FormatCheck::Asserted);
            let score = run_file(&path, &registry, rules, &mut Vec::new());
            let row = table.entry(place.with_extension("").to_str().unwrap().to_owned());
            row.or_default()[column] = Some(score);
        }
    }
    compare(&repository().join("docs/reference/format-support.md"), &render(&table));
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

/// Compares a generated page with the one in the repository, or writes it if asked to.
fn compare(path: &Path, page: &str) {
    if env::var_os("AIRTIGHT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, page).unwrap();
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "{} is out of date: run with AIRTIGHT_BLESS=1", path.display());
}
