//! What is generated, what is judged, and whether both agree.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use airtight_core::contract::{Options, Preflight, Scrutiny};
use airtight_core::generate::{Generated, Order, Target, generate};
use airtight_core::lower::{Loss, Unsayable};
use airtight_core::verdict::check;
use airtight_core::{Contract, Document, Pointer};
use serde_json::{Value, json};

use crate::contracts::{Subject, subjects};
use crate::instances::instances;

/// How many disagreements are told.
const TOLD: usize = 20;

/// A contract, what was generated of it, and the values that both judge.
pub(crate) struct Trial {
    /// What its file and module are called.
    pub(crate) name: &'static str,
    /// What the type of its root is called.
    pub(crate) root: String,
    pub(crate) generated: Generated,
    contract: Contract,
    /// The contract without what the target says it does not check.
    weakened: Contract,
    instances: Vec<Value>,
}

/// Generates code of every contract.
pub(crate) fn trials(target: Target) -> Vec<Trial> {
    subjects().into_iter().map(|subject| trial(subject, target)).collect()
}

fn trial(subject: Subject, target: Target) -> Trial {
    let contract = Contract::compile(subject.schema.clone()).unwrap();
    let root = "Root".to_owned();
    let order = Order { target, contract: subject.name, root: Some(&root), dialect: None };
    let generated = generate(&contract, &order).unwrap();
    let weakened = weakened(subject.schema, &generated.losses);
    let instances = instances(&contract, &subject.instances);
    Trial { name: subject.name, root, generated, contract, weakened, instances }
}

/// Returns a schema without what is lost.
fn weakened(mut schema: Value, losses: &[Loss]) -> Contract {
    for Loss { pointer, keyword, .. } in losses.iter().rev() {
        lose(&mut schema, pointer, keyword);
    }
    let options = Options { scrutiny: Scrutiny::Permissive, ..Options::default() };
    Preflight::of(schema, &options).contract.unwrap()
}

fn lose(schema: &mut Value, pointer: &Pointer, keyword: &str) {
    let Some(place) = schema.pointer_mut(pointer.as_str()) else { return };
    if keyword == "false" {
        *place = json!(true);
        return;
    }
    let keywords = place.as_object_mut().unwrap();
    let value = keywords.remove(keyword);
    if keyword == "oneOf" {
        let all = keywords.entry("allOf").or_insert_with(|| json!([]));
        all.as_array_mut().unwrap().push(json!({ "anyOf": value }));
    }
}

/// Writes the values of all trials, one a line: the name of the contract and the JSON.
pub(crate) fn write_instances(trials: &[Trial], path: &Path) {
    let mut lines = String::new();
    for trial in trials {
        for instance in &trial.instances {
            writeln!(lines, "{}\t{instance}", trial.name).unwrap();
        }
    }
    std::fs::write(path, lines).unwrap();
}

/// Runs a program that must succeed, and returns what it printed.
pub(crate) fn run(command: &mut Command, stdin: &Path) -> String {
    let stdin = std::fs::File::open(stdin).unwrap();
    let output = command.stdin(Stdio::from(stdin)).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Compares what a program said of each value, one a line: `-` if it refuses it, else `+` and what it
/// writes of it.
pub(crate) fn compare(trials: &[Trial], said: &str) {
    let judged: Vec<(&Trial, &Value)> =
        trials.iter().flat_map(|trial| trial.instances.iter().map(move |it| (trial, it))).collect();
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said.len(), judged.len());
    let (mut accepted, mut rejected) = (0, 0);
    let mut wrong = Vec::new();
    for ((trial, instance), said) in judged.into_iter().zip(said) {
        let written = said.strip_prefix('+');
        *(if written.is_some() { &mut accepted } else { &mut rejected }) += 1;
        if let Some(problem) = trial.problem(instance, written) {
            wrong.push(format!("{}: {problem}: {instance} {said}", trial.name));
        }
    }
    assert!(accepted > 100 && rejected > 1000, "{accepted} accepted, {rejected} rejected");
    let shown: Vec<&String> = wrong.iter().take(TOLD).collect();
    assert!(wrong.is_empty(), "{} disagree\n{shown:#?}", wrong.len());
}

impl Trial {
    /// Says what is wrong with what a program said of a value.
    fn problem(&self, instance: &Value, written: Option<&str>) -> Option<&'static str> {
        let conforms = accepts(&self.contract, instance);
        match written {
            None if conforms && !self.is_narrowed(instance) => Some("refused, but conforms"),
            Some(_) if !accepts(&self.weakened, instance) => {
                Some("accepted, but breaks what is checked")
            }
            Some(written) if conforms => {
                let written = serde_json::from_str(written).unwrap_or(Value::Null);
                (!accepts(&self.contract, &written)).then_some("what is written does not conform")
            }
            Some(_) | None => None,
        }
    }

    /// Claims that the target says it refuses such values.
    fn is_narrowed(&self, instance: &Value) -> bool {
        self.generated.narrowings.iter().any(|narrowing| match narrowing.unsayable {
            Unsayable::LargeIntegers => has_large(instance),
            Unsayable::OtherTypes => true,
            Unsayable::UndeclaredMembers | Unsayable::Absence => false,
        })
    }
}

fn accepts(contract: &Contract, value: &Value) -> bool {
    check(contract, &Document::from_value(value).unwrap()).is_empty()
}

fn has_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|it| it.abs() >= 9e18),
        Value::Array(items) => items.iter().any(has_large),
        Value::Object(members) => members.values().any(has_large),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}
