//! Times one task of Airtight. Usage: `measure TASK INPUT [SCHEMA]`
//!
//! Prints `{"ns": best of several}` or `{"refused": why}`, as `bench/measure.mjs` and
//! `bench/measure.py` do for its peers. A text that is refused by design (a truncated one) is
//! timed all the same, and its reason stands beside the time.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use airtight_core::contract::Options;
use airtight_core::json::Limits;
use airtight_core::verdict::check;
use airtight_core::{
    Allowance, Contract, Document, Follower, Origin, Plan, Preflight, Progress, Verdict, judge,
};
use serde_json::{Value, json};

/// The size of a delta in bytes; the inputs are ASCII.
const DELTA: usize = 4;

/// How long a task is repeated.
const PATIENCE: Duration = Duration::from_millis(500);

/// What went wrong, for whoever reads the table.
type Refused = String;

#[expect(clippy::print_stdout, reason = "the time is what this program is for")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [task, input] => measure(task, input, None),
        [task, input, schema] => measure(task, input, Some(schema)),
        _ => Err("usage: measure TASK INPUT [SCHEMA]".to_owned()),
    };
    println!("{}", outcome.unwrap_or_else(|refused| json!({ "refused": refused })));
}

fn measure(task: &str, input: &str, schema: Option<&String>) -> Result<Value, Refused> {
    let input = read(input)?;
    let schema = schema.map_or_else(|| Ok(Vec::new()), |path| read(path))?;
    match task {
        "compile" => compile(&schema),
        "follow" => follow(&input, &schema),
        "preflight" => preflight(&input),
        "recover" => recover(&input, &schema),
        "verdict" => verdict(&input, &schema),
        _ => Err(format!("no such task: {task}")),
    }
}

fn read(path: &str) -> Result<Vec<u8>, Refused> {
    std::fs::read(path).map_err(|error| error.to_string())
}

fn contract(schema: &[u8]) -> Result<Contract, Refused> {
    let preflight = Preflight::run(schema, Origin::File, &Options::default());
    preflight.into_result().map_err(|refusal| refusal.to_string())
}

/// Compiles a schema that was parsed before.
fn compile(schema: &[u8]) -> Result<Value, Refused> {
    let schema: Value = serde_json::from_slice(schema).map_err(|error| error.to_string())?;
    best(|| Contract::compile(black_box(&schema).clone()).map_err(|refusal| refusal.to_string()))
}

/// Inspects the bytes of a schema.
fn preflight(schema: &[u8]) -> Result<Value, Refused> {
    best(|| contract(black_box(schema)))
}

/// Judges the bytes of an answer, which must conform.
fn verdict(answer: &[u8], schema: &[u8]) -> Result<Value, Refused> {
    let contract = contract(schema)?;
    best(|| {
        let document = Document::parse_bytes(black_box(answer), &Limits::default());
        let document = document.map_err(|error| error.to_string())?;
        if !check(&contract, &document).is_empty() {
            return Err("rejected".to_owned());
        }
        Ok(document)
    })
}

/// Judges a text that is not JSON.
fn recover(text: &[u8], schema: &[u8]) -> Result<Value, Refused> {
    let contract = contract(schema)?;
    let mut reason = None;
    let mut outcome = best(|| {
        let verdict = judge(&contract, black_box(text), &Allowance::default());
        if let Verdict::Rejected(rejected) = &verdict {
            reason = Some(rejected.reason.clone());
        }
        Ok(verdict)
    })?;
    if let (Some(reason), Some(members)) = (reason, outcome.as_object_mut()) {
        members.insert("reason".to_owned(), json!(reason));
    }
    Ok(outcome)
}

/// Follows a conforming answer, with its value and its check up to date after each delta.
fn follow(answer: &[u8], schema: &[u8]) -> Result<Value, Refused> {
    let plan = Arc::new(Plan::compile(&contract(schema)?));
    best(|| {
        let mut follower = Follower::new(Arc::clone(&plan));
        for delta in black_box(answer).chunks(DELTA) {
            black_box(follower.push(delta));
            black_box(follower.growing().root());
        }
        if follower.finish() != &Progress::Complete {
            return Err("rejected".to_owned());
        }
        Ok(follower)
    })
}

/// Repeats until half a second is spent, at least once, and keeps the best.
///
/// Dropping what was made is part of making it.
fn best<T>(mut run: impl FnMut() -> Result<T, Refused>) -> Result<Value, Refused> {
    let begin = Instant::now();
    let mut least = Duration::MAX;
    while least == Duration::MAX || begin.elapsed() < PATIENCE {
        let start = Instant::now();
        drop(black_box(run()?));
        least = least.min(start.elapsed());
    }
    Ok(json!({ "ns": u64::try_from(least.as_nanos()).unwrap_or(u64::MAX) }))
}
