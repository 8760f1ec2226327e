//! The extraction set is itself right: every value conforms, and no example gives an item away.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use airtight_core::{Allowance, Contract, Verdict, judge};
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the tasks, each with its contract in place.
fn tasks() -> Vec<Value> {
    let entries = fs::read_dir(Path::new(ROOT).join("fixtures/local/usefulness")).unwrap();
    let mut tasks: Vec<Value> = entries.map(|entry| read(&entry.unwrap().path())).collect();
    for task in &mut tasks {
        if let Some(path) = task["contract"].as_str() {
            task["contract"] = read(&Path::new(ROOT).join(path));
        }
    }
    tasks
}

fn pairs<'a>(task: &'a Value, list: &str) -> Vec<&'a Value> {
    task[list].as_array().unwrap().iter().collect()
}

#[test]
fn every_right_value_conforms_to_its_contract() {
    for task in tasks() {
        let contract = Contract::compile(task["contract"].clone()).unwrap();
        for pair in [pairs(&task, "examples"), pairs(&task, "items")].concat() {
            let verdict = judge(&contract, pair["output"].to_string(), &Allowance::default());
            assert!(matches!(verdict, Verdict::Accepted(_)), "{pair}: {verdict:?}");
        }
    }
}

#[test]
fn examples_are_held_apart_from_the_items() {
    for task in tasks() {
        let items = pairs(&task, "items");
        let inputs: HashSet<_> = items.iter().map(|item| item["input"].as_str()).collect();
        assert_eq!(inputs.len(), items.len(), "an item comes twice");
        for example in pairs(&task, "examples") {
            assert!(!inputs.contains(&example["input"].as_str()), "{example}");
            assert!(items.iter().all(|item| item["output"] != example["output"]), "{example}");
        }
    }
}

#[test]
fn the_set_is_large_enough_to_say_something() {
    let tasks = tasks();
    let items: usize = tasks.iter().map(|task| pairs(task, "items").len()).sum();
    assert!(tasks.len() >= 4 && items >= 50, "{items} items in {} tasks", tasks.len());
}
