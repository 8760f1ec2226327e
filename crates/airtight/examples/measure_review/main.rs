//! Measures how often a review cannot be used, by how it was asked for: seed 003's experiment again.
//!
//! `measure_review WEIGHTS [--answers N] [--first SEED] [--temperature T] [--budget N] [--reasks N]
//!     [--minutes N] [--manner NAME] [--log FILE]`
//!
//! Each change of `fixtures/review/changes.json` is put to an embedded model in five manners: prose
//! instructions, the same with three examples, the schema in the prompt, the terminal tool, and under the
//! grammar. The first two are read by a parser as one writes it for such output, the others are judged by
//! the contract `code-review` and asked for again. N answers (100) for each manner, with seeds from 0 on, so
//! that the same command has the same answers, and `--first` goes on where another was cut. Prints a table in
//! Markdown; `--log` has a line of JSON for each answer. Progress goes to standard error.

mod manner;
mod prose;
mod tally;

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use airtight_agent::provider::Embedded;
use serde::Deserialize;

use manner::{Asker, Manner};
use tally::Tally;

const CHANGES: &str = include_str!("../../../../fixtures/review/changes.json");

/// What is reviewed.
#[derive(Deserialize)]
struct Fixture {
    changes: Vec<Change>,
}

/// A change with one bug.
#[derive(Deserialize)]
struct Change {
    name: String,
    file: String,
    /// The line of the bug in the new version.
    line: u32,
    diff: String,
}

struct Settings {
    weights: PathBuf,
    answers: u64,
    first: u64,
    temperature: f64,
    budget: u32,
    reasks: u8,
    time: Duration,
    manners: Vec<Manner>,
    log: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let settings = settings()?;
    let fixture: Fixture = serde_json::from_str(CHANGES)?;
    let mut log = settings.log.as_ref().map(File::create).transpose()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let asker = Asker::new(Embedded::open(&settings.weights)?, &settings)?;
    let started = Instant::now();
    let mut tallies = Vec::new();
    for manner in &settings.manners {
        let mut tally = Tally::new(*manner);
        let changes = fixture.changes.iter().cycle();
        let seeds = (0..settings.first + settings.answers).zip(changes);
        for (seed, change) in seeds.filter(|(seed, _)| *seed >= settings.first) {
            if started.elapsed() >= settings.time {
                break;
            }
            let answer = runtime.block_on(asker.ask(*manner, change, seed))?;
            if let Some(log) = &mut log {
                writeln!(log, "{}", answer.line(*manner, change, seed))?;
            }
            tally.add(&answer);
        }
        writeln!(std::io::stderr(), "{} after {:.0?}", tally.row(), started.elapsed())?;
        tallies.push(tally);
    }
    write!(std::io::stdout(), "{}", tally::table(&tallies))?;
    Ok(())
}

fn settings() -> Result<Settings, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut settings = Settings {
        weights: arguments.next().ok_or("name the weights")?.into(),
        answers: 100,
        first: 0,
        temperature: 0.8,
        budget: 256,
        reasks: 2,
        time: Duration::MAX,
        manners: Manner::ALL.to_vec(),
        log: None,
    };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--answers" => settings.answers = value.parse()?,
            "--first" => settings.first = value.parse()?,
            "--temperature" => settings.temperature = value.parse()?,
            "--budget" => settings.budget = value.parse()?,
            "--reasks" => settings.reasks = value.parse()?,
            "--minutes" => settings.time = Duration::from_secs(60 * value.parse::<u64>()?),
            "--manner" => {
                let named = Manner::ALL.into_iter().find(|manner| manner.name() == value);
                settings.manners = vec![named.ok_or_else(|| format!("no such manner: `{value}`"))?];
            }
            "--log" => settings.log = Some(value.into()),
            _ => return Err(format!("unknown option: `{name}`").into()),
        }
    }
    Ok(settings)
}
