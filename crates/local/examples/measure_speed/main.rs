//! Measures the speed of the embedded model, for `bench/local.py`.
//!
//! - `measure_speed pull FOLDER` fetches the default weights unless they are there; prints their path.
//! - `measure_speed questions WEIGHTS PROMPTS` prints what everybody is asked, so many prompts for
//!   each contract of `fixtures/local/contracts.json`, and the vocabulary.
//! - `measure_speed constrained|free|plain WEIGHTS PROMPTS THREADS BUDGET` answers greedily: under
//!   the grammar, without, or under it but token by token (forced ones too). Prints the time to
//!   load and each answer.
//! - `measure_speed judge FILE` reads `{"schema", "text"}` lines; prints how many conform.
//! - `measure_speed masks WEIGHTS FILE` follows `{"schema", "tokens"}` lines through their
//!   grammars; prints what compiling and each mask took.

mod asked;
mod masks;
mod plain;

use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use airtight_core::{Allowance, Contract, Strictness, Verdict, judge};
use airtight_local::{
    Closing, Completion, Embedded, Models, Package, Question, Sampling, Tokenizer, Weights,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use asked::Asked;
use plain::Plain;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["pull", folder] => pull(folder)?,
        ["questions", weights, prompts] => questions(weights, prompts.parse()?)?,
        ["judge", file] => conforming(file)?,
        ["masks", weights, file] => masks::measure(&tokenizer(weights)?, &lines(file)?)?,
        ["plain", weights, prompts, threads, budget] => {
            let asked = asked::all(prompts.parse()?)?;
            token_by_token(weights, &asked, threads.parse()?, budget.parse()?)?
        }
        [mode @ ("constrained" | "free"), weights, prompts, threads, budget] => {
            let asked = asked::all(prompts.parse()?)?;
            whole(weights, &asked, threads.parse()?, (mode == "free", budget.parse()?))?
        }
        _ => return Err("see the beginning of measure_speed/main.rs".into()),
    };
    Ok(writeln!(std::io::stdout(), "{outcome}")?)
}

fn pull(folder: &str) -> Result<Value, Box<dyn Error>> {
    let default = Package::usual();
    let path = Models::in_folder(folder).pull(default, &mut |_| ControlFlow::Continue(()))?;
    Ok(json!({"path": path, "title": default.title}))
}

fn tokenizer(weights: &str) -> Result<Tokenizer, Box<dyn Error>> {
    Ok(Tokenizer::of(Weights::open(Path::new(weights))?.header())?)
}

/// Returns the questions and the vocabulary, each token as the characters U+0000 to U+00FF that
/// its bytes are; control tokens are empty.
fn questions(weights: &str, prompts: usize) -> Result<Value, Box<dyn Error>> {
    let tokenizer = tokenizer(weights)?;
    let letters = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
    let vocabulary: Vec<String> =
        (0..tokenizer.size()).map(|token| letters(tokenizer.bytes(token))).collect();
    let questions: Vec<Value> = asked::all(prompts)?.iter().map(Asked::described).collect();
    Ok(json!({"end": tokenizer.end(), "vocabulary": vocabulary, "questions": questions}))
}

/// Answers as the product does.
fn whole(
    weights: &str,
    asked: &[Asked],
    threads: usize,
    (free, budget): (bool, usize),
) -> Result<Value, Box<dyn Error>> {
    let started = Instant::now();
    let mut embedded = Embedded::open(Path::new(weights), threads)?;
    let load = started.elapsed();
    let tokenizer = tokenizer(weights)?;
    let mut answers = Vec::new();
    for asked in asked {
        let schema = (!free).then_some(asked.lowered.as_ref());
        let question = Question {
            turns: &asked.turns,
            schema,
            sampling: Sampling::Greedy,
            budget,
            closing: Closing::Anything,
        };
        let started = Instant::now();
        let completion = embedded.answer(question, &mut |_| ControlFlow::Continue(()))?;
        answers.push(described(&completion, started.elapsed(), &tokenizer));
    }
    Ok(json!({"load_ns": nanoseconds(load), "answers": answers}))
}

fn described(completion: &Completion, all: Duration, tokenizer: &Tokenizer) -> Value {
    json!({
        "text": completion.text,
        "tokens": tokenizer.encode(&completion.text),
        "ns": nanoseconds(all),
        "prompt_ns": nanoseconds(completion.timings.prompt),
        "prompt_tokens": completion.prompt_tokens - completion.reused_tokens,
        "answer_ns": nanoseconds(completion.timings.answer),
        "answer_tokens": completion.answer_tokens(),
        "forced_tokens": completion.forced_tokens,
    })
}

/// Answers under the grammar, but asks the model for every token.
fn token_by_token(
    weights: &str,
    asked: &[Asked],
    threads: usize,
    budget: usize,
) -> Result<Value, Box<dyn Error>> {
    let started = Instant::now();
    let mut plain = Plain::open(Path::new(weights), threads)?;
    let load = started.elapsed();
    let answers: Result<Vec<Value>, _> =
        asked.iter().map(|asked| plain.answer(asked, budget)).collect();
    Ok(json!({"load_ns": nanoseconds(load), "answers": answers?}))
}

#[derive(Deserialize)]
struct Answered {
    schema: Value,
    text: String,
}

fn conforming(file: &str) -> Result<Value, Box<dyn Error>> {
    let allowance = Allowance { strictness: Strictness::Strict, ..Allowance::default() };
    let mut conforming = 0;
    for Answered { schema, text } in lines(file)? {
        let verdict = judge(&Contract::compile(schema)?, &text, &allowance);
        conforming += usize::from(matches!(verdict, Verdict::Accepted(_)));
    }
    Ok(json!(conforming))
}

fn lines<T: DeserializeOwned>(file: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let lines = BufReader::new(std::fs::File::open(file)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
