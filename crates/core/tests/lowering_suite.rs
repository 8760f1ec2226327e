//! The laws of lowering over the official JSON Schema test suite, where it is at hand.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::fs;
use std::path::{Path, PathBuf};

use airtight_core::verdict::check;
use airtight_core::{Contract, Dialect, Document, lower};
use serde_json::{Value, json};

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// How often each thing happened.
#[derive(Debug, Default)]
struct Tally {
    said: usize,
    narrowed: usize,
    caught_by_the_verdict: usize,
    prevented: usize,
    refused: usize,
}

fn suite() -> PathBuf {
    let beside_the_repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/suites");
    let suites = option_env!("AIRTIGHT_SUITES").unwrap_or(beside_the_repository);
    Path::new(suites).join("json-schema-test-suite")
}

/// Returns the groups of a draft's required tests, each with its file.
fn groups(folder: &Path) -> Vec<(String, Value)> {
    let mut groups = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let list: Vec<Value> =
                serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            groups.extend(list.into_iter().map(|group| (name.clone(), group)));
        }
    }
    groups
}

fn contract(schema: &Value, uri: &str) -> Option<Contract> {
    let mut schema = schema.clone();
    // Custom meta-schemas are none of lowering's business.
    if schema.get("$schema").is_some_and(|declared| declared != uri) {
        return None;
    }
    if let Value::Object(keywords) = &mut schema {
        keywords.entry("$schema").or_insert(json!(uri));
    }
    // Contracts that need remote schemas are refused, as they should be.
    Contract::compile(schema).ok()
}

fn tally(contract: &Contract, group: &Value, file: &str, tally: &mut Tally) {
    let values = || group["tests"].as_array().unwrap().iter().map(|test| &test["data"]);
    let conforms =
        |value: &Value| check(contract, &Document::from_value(value).unwrap()).is_empty();
    for dialect in Dialect::ALL {
        let lowering = match lower(contract, dialect) {
            Ok(lowering) => lowering,
            Err(refusal) => {
                tally.refused += 1;
                assert!(!values().any(conforms), "{file}: {dialect:?}: {refusal}\n{group}");
                continue;
            }
        };
        assert_eq!(dialect.problems(&lowering.schema), [], "{file}: {group}");
        for value in values() {
            let context = || {
                format!("{file}: {dialect:?}: {value}\n{}\n{}", group["schema"], lowering.schema)
            };
            match (conforms(value), lowering.pre_image(value).is_some()) {
                (true, true) => tally.said += 1,
                (true, false) => {
                    tally.narrowed += 1;
                    assert!(!lowering.narrowings.is_empty(), "cannot be said: {}", context());
                }
                (false, true) => {
                    tally.caught_by_the_verdict += 1;
                    assert!(!lowering.losses.is_empty(), "dropped silently: {}", context());
                }
                (false, false) => tally.prevented += 1,
            }
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "an absent suite must not look like a passed one")]
fn the_suite_can_be_said_and_nothing_is_dropped_silently() {
    let suite = suite();
    if !suite.is_dir() {
        eprintln!("NOT RUN: the JSON Schema test suite is not at {}", suite.display());
        return;
    }
    for (draft, uri) in DRAFTS {
        let mut counts = Tally::default();
        for (file, group) in groups(&suite.join(draft)) {
            if let Some(contract) = contract(&group["schema"], uri) {
                tally(&contract, &group, &file, &mut counts);
            }
        }
        eprintln!("{draft}: {counts:?}");
        assert!(counts.said > counts.narrowed, "{draft}: {counts:?}");
    }
}
