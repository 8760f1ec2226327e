//! Measures how useful an embedded model is: how many fields it extracts exactly.
//!
//! `measure_usefulness [--threads N] [--answers] WEIGHTS…`
//!
//! Each file of `fixtures/local/usefulness` is a task: a contract (or the path of one), examples,
//! texts with the value that is right for them, and the members that have no single right form and
//! are therefore not compared. Every text is put to every model without the examples and with
//! them, greedily and under the grammar. Prints how many fields are right, as a table in Markdown,
//! beside what one gets right who always says the same; with `--answers`, first a line of JSON for
//! each answer. Progress goes to standard error.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use airtight_core::{Allowance, Contract, Dialect, Strictness, Verdict, judge, lower};
use airtight_local::{Closing, Embedded, Question, Sampling, conversation};
use serde::Deserialize;
use serde_json::{Value, json};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// More than the longest right answer takes, and less than the model can see.
const BUDGET: usize = 256;

const MANNERS: [Manner; 2] = [Manner::ZeroShot, Manner::FewShot];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Manner {
    ZeroShot,
    FewShot,
}

#[derive(Deserialize)]
struct Task {
    contract: Value,
    free: Vec<String>,
    examples: Vec<Value>,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    input: String,
    output: Value,
}

struct Settings {
    weights: Vec<PathBuf>,
    threads: usize,
    answers: bool,
}

/// How many fields are right, by task and field.
type Scores = BTreeMap<(String, String), BTreeMap<Manner, usize>>;

fn main() -> Result<(), Box<dyn Error>> {
    let settings = settings()?;
    let tasks = tasks()?;
    for weights in &settings.weights {
        let mut embedded = Embedded::open(weights, settings.threads)?;
        let mut scores = Scores::new();
        for (name, task) in &tasks {
            for manner in MANNERS {
                measure(&mut embedded, &settings, (name, task), manner, &mut scores)?;
            }
        }
        print_table(weights, &tasks, &scores)?;
    }
    Ok(())
}

fn tasks() -> Result<BTreeMap<String, Task>, Box<dyn Error>> {
    let mut tasks = BTreeMap::new();
    for entry in std::fs::read_dir(Path::new(ROOT).join("fixtures/local/usefulness"))? {
        let path = entry?.path();
        let mut task: Task = serde_json::from_str(&std::fs::read_to_string(&path)?)?;
        if let Value::String(contract) = &task.contract {
            let text = std::fs::read_to_string(Path::new(ROOT).join(contract))?;
            task.contract = serde_json::from_str(&text)?;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        tasks.insert(name, task);
    }
    Ok(tasks)
}

impl Task {
    /// Returns the contract, with its examples or without.
    fn contract(&self, manner: Manner) -> Result<Contract, Box<dyn Error>> {
        let mut schema = self.contract.clone();
        if let Some(members) = schema.as_object_mut() {
            let examples = match manner {
                Manner::ZeroShot => Vec::new(),
                Manner::FewShot => self.examples.clone(),
            };
            members.insert("x-examples".to_owned(), examples.into());
        }
        Ok(Contract::compile(schema)?)
    }

    /// Returns the members that are compared.
    fn fields(&self) -> Vec<&String> {
        let members = self.contract.get("properties").and_then(Value::as_object);
        members
            .into_iter()
            .flat_map(|members| members.keys())
            .filter(|f| !self.free.contains(f))
            .collect()
    }

    /// Returns how often one is right who always says the same.
    fn guess(&self, field: &str) -> usize {
        let right = || self.items.iter().map(|item| item.output.get(field));
        right().map(|said| right().filter(|other| same(said, *other)).count()).max().unwrap_or(0)
    }
}

/// Puts every text of a task to the model.
fn measure(
    embedded: &mut Embedded,
    settings: &Settings,
    (name, task): (&str, &Task),
    manner: Manner,
    scores: &mut Scores,
) -> Result<(), Box<dyn Error>> {
    let contract = task.contract(manner)?;
    for (place, item) in task.items.iter().enumerate() {
        if !accepts(&contract, &item.output.to_string()) {
            return Err(format!("item {place} of `{name}` does not conform itself").into());
        }
        let text = ask(embedded, &contract, &item.input)?;
        // What does not conform has no field right.
        let answer =
            if accepts(&contract, &text) { serde_json::from_str(&text)? } else { Value::Null };
        for field in task.fields() {
            let right = same(answer.get(field), item.output.get(field));
            let scores = scores.entry((name.to_owned(), field.clone())).or_default();
            *scores.entry(manner).or_default() += usize::from(right);
        }
        if settings.answers {
            let line = json!({"task": name, "manner": manner.name(), "input": item.input,
                "right": item.output, "answer": text});
            writeln!(std::io::stdout(), "{line}")?;
        }
        write!(std::io::stderr(), ".")?;
    }
    Ok(writeln!(std::io::stderr(), " {name}, {}", manner.name())?)
}

fn ask(
    embedded: &mut Embedded,
    contract: &Contract,
    input: &str,
) -> Result<String, Box<dyn Error>> {
    let lowered = lower(contract, Dialect::Llguidance)?;
    let turns = conversation(contract, None, input);
    let question = Question {
        turns: &turns,
        schema: Some(&lowered.schema),
        sampling: Sampling::Greedy,
        budget: BUDGET,
        closing: Closing::Anything,
    };
    Ok(embedded.answer(question, &mut |_| ControlFlow::Continue(()))?.text)
}

fn accepts(contract: &Contract, text: &str) -> bool {
    let allowance = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    matches!(judge(contract, text, &allowance), Verdict::Accepted(_))
}

/// Claims that a field is exactly right; 189 and 189.0 are the same number.
fn same(said: Option<&Value>, right: Option<&Value>) -> bool {
    let numbers = said.and_then(Value::as_f64).zip(right.and_then(Value::as_f64));
    said.is_some() && numbers.map_or(said == right, |(said, right)| said.total_cmp(&right).is_eq())
}

impl Manner {
    fn name(self) -> &'static str {
        match self {
            Self::ZeroShot => "zero-shot",
            Self::FewShot => "few-shot",
        }
    }
}

fn print_table(
    weights: &Path,
    tasks: &BTreeMap<String, Task>,
    scores: &Scores,
) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let name = weights.file_stem().unwrap_or_default().to_string_lossy();
    writeln!(
        out,
        "\n## {name}\n\n| task | field | zero-shot | few-shot | guess |\n|---|---|--:|--:|--:|"
    )?;
    let mut all = [0, 0, 0, 0];
    for (name, task) in tasks {
        let count = task.items.len();
        for field in task.fields() {
            let right = scores.get(&(name.clone(), field.clone()));
            let right = |manner| right.and_then(|right| right.get(&manner)).copied().unwrap_or(0);
            let ([zero, few], guess) = (MANNERS.map(right), task.guess(field));
            writeln!(out, "| {name} | {field} | {zero} | {few} | {guess} of {count} |")?;
            all = [all[0] + count, all[1] + zero, all[2] + few, all[3] + guess];
        }
    }
    let [count, zero, few, guess] = all;
    Ok(writeln!(out, "| all | | {zero} | {few} | {guess} of {count} |")?)
}

fn settings() -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings { weights: Vec::new(), threads: 2, answers: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => {
                settings.threads = arguments.next().ok_or("--threads needs a number")?.parse()?;
            }
            "--answers" => settings.answers = true,
            weights => settings.weights.push(weights.into()),
        }
    }
    if settings.weights.is_empty() {
        return Err("name the weights".into());
    }
    Ok(settings)
}
