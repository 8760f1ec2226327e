//! What holds for every contract.

use std::path::{Path, PathBuf};

use jsonschema::Draft;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Options, Preflight, Strictness};
use crate::arbitrary::case;
use crate::verdict::check;
use crate::{Answer, Contract, Document};

/// Claims what seed 001's walk claims: that a root may accept an object. References are deferred.
fn walk(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return schema == &Value::Bool(true) };
    let includes_object = |types: &Value| {
        types == "object" || types.as_array().is_some_and(|list| list.contains(&json!("object")))
    };
    let branches = |keyword: &str| members.get(keyword).and_then(Value::as_array);
    let bare_negation = members.get("not").and_then(Value::as_object).filter(|it| it.len() == 1);
    let chosen = match members.get("if") {
        Some(Value::Bool(true)) => members.get("then"),
        Some(Value::Bool(false)) => members.get("else"),
        Some(_) | None => None,
    };
    members.get("type").is_none_or(includes_object)
        && members.get("const").is_none_or(Value::is_object)
        && branches("enum").is_none_or(|list| list.iter().any(Value::is_object))
        && branches("anyOf").is_none_or(|list| list.iter().any(walk))
        && branches("oneOf").is_none_or(|list| list.iter().any(walk))
        && branches("allOf").is_none_or(|list| list.iter().all(walk))
        && !bare_negation.and_then(|it| it.get("type")).is_some_and(includes_object)
        && chosen.is_none_or(walk)
}

/// Generates roots of all the keywords that decide about objects.
fn root() -> impl Strategy<Value = Value> {
    let types = prop_oneof![
        Just(json!("object")),
        Just(json!("string")),
        Just(json!(["object", "null"])),
        Just(json!(["integer", "array"])),
    ];
    let value =
        prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!({})), Just(json!({"a": 1}))];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        Just(json!({})),
        types.clone().prop_map(|types| json!({ "type": types })),
        types.prop_map(|types| json!({"not": {"type": types}})),
        value.clone().prop_map(|value| json!({ "const": value })),
        vec(value, 1..3).prop_map(|mut values| {
            values.dedup();
            json!({ "enum": values })
        }),
        Just(json!({"required": ["a"]})),
        Just(json!({"properties": {"a": {"type": "string"}}})),
        Just(json!({"minProperties": 2, "properties": {"a": {}}, "additionalProperties": false})),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        let list = vec(inner.clone(), 1..4);
        prop_oneof![
            list.clone().prop_map(|list| json!({ "anyOf": list })),
            list.clone().prop_map(|list| json!({ "oneOf": list })),
            list.prop_map(|list| json!({ "allOf": list })),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            inner.clone().prop_map(|inner| json!({ "not": inner })),
            inner.prop_map(|inner| json!({"$ref": "#/$defs/a", "$defs": {"a": inner}})),
        ]
    });
    nested.prop_filter("a root with definitions of its own", |schema| {
        let text = schema.to_string();
        schema.is_object()
            && text.matches("$ref").count() <= usize::from(schema.get("$ref").is_some())
    })
}

fn permissive() -> Options {
    Options { strictness: Strictness::Permissive, ..Options::default() }
}

proptest! {
    #[test]
    fn contracts_with_a_conforming_answer_pass(case in case()) {
        let report = Preflight::of(case.schema.clone(), &Options::default());
        prop_assert!(report.contract.is_some(), "{:?} {}", report.diagnostics, case.schema);
        prop_assert_ne!(report.satisfiable.answer, Answer::No);
        if case.answer.is_object() {
            prop_assert_ne!(report.accepts_object.answer, Answer::No);
        }
    }

    #[test]
    fn what_the_seed_rejects_is_never_said_to_accept_objects(schema in root()) {
        let report = Preflight::of(schema.clone(), &permissive());
        if !walk(&schema) {
            prop_assert_ne!(report.accepts_object.answer, Answer::Yes, "{}", schema);
        }
    }

    #[test]
    fn answers_agree_with_the_verdict(schema in root()) {
        let report = Preflight::of(schema.clone(), &permissive());
        let contract = report.contract.as_ref().unwrap();
        let samples = [json!({}), json!({"a": 1}), json!({"a": "x"}), json!({"b": 1, "c": 2}),
            json!(1), json!("a"), json!(null), json!([]), json!(true)];
        for sample in samples {
            let conforms = check(contract, &Document::from_value(&sample).unwrap()).is_empty();
            if conforms {
                prop_assert_ne!(report.satisfiable.answer, Answer::No, "{} {}", schema, sample);
            }
            if conforms && sample.is_object() {
                prop_assert_ne!(report.accepts_object.answer, Answer::No, "{} {}", schema, sample);
            }
        }
    }
}

const SUITE: &str = "/work/shared/suites/json-schema-test-suite";

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { json_files(&path) } else { vec![path] }).collect()
}

fn read(path: &Path) -> Value {
    Document::parse(std::fs::read_to_string(path).unwrap()).unwrap().to_value()
}

/// The official suite is not part of this repository; where it is at hand, all of its required
/// schemas must compile and judge as it says.
#[test]
fn the_official_suite_compiles_and_judges() {
    let suite = Path::new(SUITE);
    if !suite.exists() {
        let notice = "skipped: the official JSON Schema test suite is not at hand";
        std::io::Write::write_all(&mut std::io::stderr(), notice.as_bytes()).unwrap();
        return;
    }
    let remotes = suite.join("remotes");
    let documents: Vec<(String, Value)> = json_files(&remotes)
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&remotes).unwrap().display();
            (format!("http://localhost:1234/{name}"), read(path))
        })
        .collect();
    let drafts = [
        ("draft4", Draft::Draft4),
        ("draft6", Draft::Draft6),
        ("draft7", Draft::Draft7),
        ("draft2019-09", Draft::Draft201909),
        ("draft2020-12", Draft::Draft202012),
    ];
    let mut failures = Vec::new();
    for (folder, default_draft) in drafts {
        let others = drafts.map(|(other, _)| other).into_iter().chain(["v1"]);
        let foreign: Vec<String> =
            others.filter(|other| *other != folder).map(|other| format!("/{other}/")).collect();
        let mut documents = documents.clone();
        documents.retain(|(uri, _)| !foreign.iter().any(|it| uri.contains(it)));
        let options = Options { default_draft, documents, ..permissive() };
        let files = json_files(&suite.join(folder));
        for file in
            files.iter().filter(|file| !file.components().any(|it| it.as_os_str() == "optional"))
        {
            for group in read(file).as_array().unwrap() {
                judge_group(file, group, &options, &mut failures);
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn judge_group(file: &Path, group: &Value, options: &Options, failures: &mut Vec<String>) {
    let name = format!("{} {}", file.display(), group["description"]);
    // A contract is an object; these say the same.
    let schema = match group["schema"].as_bool() {
        Some(true) => json!({}),
        Some(false) => json!({"not": {}}),
        None => group["schema"].clone(),
    };
    let contract: Contract = match Preflight::of(schema, options).into_result() {
        Ok(contract) => contract,
        Err(refusal) => {
            failures.push(format!("{name}: {:?}", refusal.diagnostics[0]));
            return;
        }
    };
    // The suite takes `format` for an annotation; a contract asserts it.
    if file.ends_with("format.json") {
        return;
    }
    for test in group["tests"].as_array().unwrap() {
        let conforms = check(&contract, &Document::from_value(&test["data"]).unwrap()).is_empty();
        if conforms != test["valid"].as_bool().unwrap() {
            failures.push(format!("{name} {}", test["description"]));
        }
    }
}
