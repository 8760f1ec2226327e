//! Measures the embedded model: how many answers conform, and how fast they come.
//!
//! `measure_local WEIGHTS [--prompts N] [--temperature T] [--budget N] [--threads N]
//!     [--minutes N] [--free]`
//!
//! Asks every contract of `fixtures/local/contracts.json` N of the hundred prompts there (its own
//! first), under the grammar or, with `--free`, without. An answer that was led to its end is asked for
//! again as `airtight run` does, which cuts it where the model would have to be spoken for. Prints one line of JSON for each answer
//! and a summary at the end, which comes early if the minutes are over or it is interrupted. After
//! each contract the summary so far goes to standard error.

use std::error::Error;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use airtight_core::{Allowance, Contract, Dialect, Strictness, Verdict, judge, lower};
use airtight_local::{Closing, Completion, Embedded, Question, Sampling, Stop, conversation};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

const CONTRACTS: &str = include_str!("../../../fixtures/local/contracts.json");

#[derive(Deserialize)]
struct Task {
    name: String,
    schema: Value,
    prompts: Vec<String>,
}

struct Settings {
    weights: PathBuf,
    prompts: usize,
    temperature: f32,
    budget: usize,
    threads: usize,
    time: Duration,
    free: bool,
}

#[derive(Default)]
struct Sums {
    answers: usize,
    strict: usize,
    lenient: usize,
    cut: usize,
    closed: usize,
    /// Of these, how many `airtight run` would have cut: it makes nothing up.
    cut_in_run: usize,
    over_budget: usize,
    tokens: usize,
    forced: usize,
    prompt_tokens: usize,
    read_tokens: usize,
    prompt: Duration,
    answer: Duration,
    grammar: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let settings = settings()?;
    let tasks: Vec<Task> = serde_json::from_str(CONTRACTS)?;
    let mut embedded = Embedded::open(&settings.weights, settings.threads)?;
    let (mut sums, started) = (Sums::default(), Instant::now());
    let interrupted = interrupted()?;
    let over = || started.elapsed() >= settings.time || interrupted.load(Ordering::Relaxed);
    for (place, task) in tasks.iter().enumerate().take_while(|_| !over()) {
        let contract = Contract::compile(task.schema.clone())?;
        let others = tasks.iter().cycle().skip(place).take(tasks.len());
        let prompts = others.flat_map(|task| &task.prompts).take(settings.prompts);
        for (seed, prompt) in (0..).zip(prompts).take_while(|_| !over()) {
            let mut put =
                |closing| ask(&mut embedded, &settings, &contract, (prompt, seed), closing);
            let completion = put(Closing::Anything)?;
            // The same words up to where it was led to its end: only these differ in `airtight run`.
            if is_led(&completion) && put(Closing::Ends)?.stop == Stop::Cut {
                sums.cut_in_run += 1;
            }
            let strict = accepted(&contract, &completion.text, Strictness::Strict);
            let lenient = accepted(&contract, &completion.text, Strictness::Lenient);
            sums.add(&completion, strict, lenient, settings.budget);
            let stop = format!("{:?}", completion.stop);
            let line = json!({"contract": task.name, "prompt": prompt, "conforms": strict,
                "recovered": lenient, "stop": stop, "tokens": completion.answer_tokens(),
                "text": completion.text});
            writeln!(std::io::stdout(), "{line}")?;
        }
        writeln!(std::io::stderr(), "{} of {}: {}", place + 1, tasks.len(), sums.summary())?;
    }
    writeln!(std::io::stdout(), "{}", sums.summary())?;
    Ok(())
}

/// Returns what becomes true with Ctrl-C or `kill`; the answer under way is still counted.
fn interrupted() -> Result<Arc<AtomicBool>, Box<dyn Error>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut terminate = runtime.block_on(async { signal(SignalKind::terminate()) })?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        });
        flag.store(true, Ordering::Relaxed);
    });
    Ok(interrupted)
}

fn ask(
    embedded: &mut Embedded,
    settings: &Settings,
    contract: &Contract,
    (prompt, seed): (&str, u64),
    closing: Closing,
) -> Result<Completion, Box<dyn Error>> {
    let lowered = lower(contract, Dialect::Llguidance)?;
    let turns = conversation(contract, None, prompt);
    let sampling = match settings.temperature {
        temperature if temperature > 0.0 => Sampling::Random { temperature, seed },
        _ => Sampling::Greedy,
    };
    let schema = (!settings.free).then_some(lowered.schema.as_ref());
    let question = Question { turns: &turns, schema, sampling, budget: settings.budget, closing };
    Ok(embedded.answer(question, &mut |_| ControlFlow::Continue(()))?)
}

fn is_led(completion: &Completion) -> bool {
    matches!(completion.stop, Stop::Closed | Stop::Circles)
}

fn accepted(contract: &Contract, text: &str, strictness: Strictness) -> bool {
    let allowance = Allowance { strictness, ..Allowance::default() };
    matches!(judge(contract, text, &allowance), Verdict::Accepted(_))
}

impl Sums {
    fn add(&mut self, completion: &Completion, strict: bool, lenient: bool, budget: usize) {
        self.answers += 1;
        self.strict += usize::from(strict);
        self.lenient += usize::from(lenient);
        self.cut += usize::from(completion.stop == Stop::Cut);
        self.closed += usize::from(is_led(completion));
        self.over_budget += usize::from(completion.answer_tokens() > budget);
        self.tokens += completion.answer_tokens();
        self.forced += completion.forced_tokens;
        self.prompt_tokens += completion.prompt_tokens;
        self.read_tokens += completion.prompt_tokens - completion.reused_tokens;
        self.prompt += completion.timings.prompt;
        self.answer += completion.timings.answer;
        self.grammar += completion.timings.grammar;
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn summary(&self) -> Value {
        let per_second = |count: usize, time: Duration| count as f64 / time.as_secs_f64();
        json!({
            "answers": self.answers, "conform": self.strict, "recovered": self.lenient,
            "cut": self.cut, "led to their end": self.closed,
            "thereof cut in `run`": self.cut_in_run, "over budget": self.over_budget,
            "answer tokens": self.tokens, "forced": self.forced,
            "prompt tokens": self.prompt_tokens, "thereof read": self.read_tokens,
            "read per second": per_second(self.read_tokens, self.prompt),
            "written per second": per_second(self.tokens, self.answer),
            "seconds per answer": self.answer.as_secs_f64() / self.answers as f64,
            "grammar share": self.grammar.as_secs_f64() / self.answer.as_secs_f64(),
        })
    }
}

fn settings() -> Result<Settings, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let weights = arguments.next().ok_or("name the weights")?.into();
    let mut settings = Settings {
        weights,
        prompts: 5,
        temperature: 0.8,
        budget: 256,
        threads: 2,
        time: Duration::MAX,
        free: false,
    };
    while let Some(name) = arguments.next() {
        let mut number = || arguments.next().ok_or_else(|| format!("{name} needs a number"));
        match name.as_str() {
            "--prompts" => settings.prompts = number()?.parse()?,
            "--temperature" => settings.temperature = number()?.parse()?,
            "--budget" => settings.budget = number()?.parse()?,
            "--threads" => settings.threads = number()?.parse()?,
            "--minutes" => settings.time = Duration::from_secs(60 * number()?.parse::<u64>()?),
            "--free" => settings.free = true,
            _ => return Err(format!("unknown option: `{name}`").into()),
        }
    }
    Ok(settings)
}
