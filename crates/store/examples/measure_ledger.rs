//! Measures the ledger on SQLite: runs stored durably in a second, what a run costs as the ledger
//! grows, and how long questions to a large one take.
//!
//! `cargo run --release -p airtight-store --example measure_ledger [FOLDER] [RUNS]`

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_store::{
    Begun, ContractRow, Driver, Filter, Finish, GroupBy, Job, Ledger, Location, NewAttempt, NewRun,
    Order, Page, StatsFilter, StoreError,
};

/// Runs that are measured at each size.
const SAMPLE: u64 = 5_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let most: u64 = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let path = folder.join(format!("measure-{}.db", std::process::id()));
    let ledger = Ledger::open(&Location::Sqlite(path.clone())).await?;
    let mut out = io::stdout();
    writeln!(out, "writers   runs/s   commits/run")?;
    for writers in [1, 8, 64, 256] {
        let (rate, commits) = measure(&ledger, writers, SAMPLE.min(most)).await?;
        writeln!(out, "{writers:7} {rate:8.0} {commits:13.3}")?;
    }
    writeln!(out, "\nruns in the ledger   runs/s with 64 writers")?;
    for size in [1_000, 100_000, 1_000_000] {
        if size > most {
            break;
        }
        let stored = ledger.stats(&StatsFilter::default(), &[]).await?;
        let stored = stored.first().map_or(0, |stat| stat.runs);
        measure(&ledger, 256, size.saturating_sub(stored)).await?;
        let (rate, _) = measure(&ledger, 64, SAMPLE).await?;
        writeln!(out, "{size:18} {rate:8.0}")?;
    }
    writeln!(out, "\nquestions to it")?;
    questions(&ledger, &mut out).await?;
    let bytes = std::fs::metadata(&path)?.len();
    writeln!(out, "{:40} {:8} MB", "size of the file", bytes >> 20)?;
    ledger.close().await;
    std::fs::remove_file(path)?;
    Ok(())
}

/// Stores `runs` runs by so many writers at once, and returns runs a second and commits a run.
async fn measure(ledger: &Ledger, writers: u64, runs: u64) -> Result<(f64, f64), StoreError> {
    if runs == 0 {
        return Ok((0.0, 0.0));
    }
    let left = Arc::new(AtomicU64::new(runs));
    let commits = ledger.commits();
    let begun = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..writers {
        let (ledger, left) = (ledger.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
            {
                store(&ledger).await?;
            }
            Ok::<(), StoreError>(())
        });
    }
    for done in tasks.join_all().await {
        done?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let [runs, commits] = [runs, ledger.commits() - commits].map(count);
    Ok((runs / seconds, commits / runs))
}

#[expect(clippy::cast_precision_loss, reason = "counts of a measurement")]
fn count(n: u64) -> f64 {
    n as f64
}

async fn store(ledger: &Ledger) -> Result<(), StoreError> {
    let model = fastrand::choice(["claude-x", "gpt-y", "gemini-z"]).unwrap_or_default();
    let run = NewRun {
        key: Some(format!("{:032x}", fastrand::u128(..))),
        contract: ContractRow {
            fingerprint: "f00d".repeat(16),
            name: "blog-writer".to_owned(),
            version: "1".to_owned(),
            schema: r#"{"type":"object"}"#.to_owned(),
        },
        job: Job { prompt: "Summarise the document. ".repeat(10), ..Job::default() },
        driver: Driver {
            driver: "api".to_owned(),
            provider: "fake".to_owned(),
            model: model.to_owned(),
            mode: "tool".to_owned(),
        },
        attempt: Some(NewAttempt::default()),
        ..NewRun::default()
    };
    let Begun::Fresh(token) = ledger.begin(run).await? else { return Ok(()) };
    let answer = r#"{"title":"A title that says something","tags":["a","b"]}"#;
    let finish = Finish {
        outcome: "met".to_owned(),
        rung: Some("tool".to_owned()),
        output: Some(answer.as_bytes().to_vec()),
        parsed: Some(answer.to_owned()),
        attempts: 1,
        usage: Usage { input_tokens: Some(400), output_tokens: Some(60), ..Usage::default() },
        cost: Cost::from_usd(0.002),
        elapsed: Some(Duration::from_millis(fastrand::u64(200..20_000))),
        ended: vec![airtight_store::AttemptEnd {
            number: 1,
            ending: "accepted".to_owned(),
            ..airtight_store::AttemptEnd::default()
        }],
        ..Finish::default()
    };
    ledger.finish(&token, finish).await
}

async fn questions(
    ledger: &Ledger,
    out: &mut io::Stdout,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut told = |what: &str, begun: Instant| {
        writeln!(out, "{what:40} {:8.1} ms", begun.elapsed().as_secs_f64() * 1000.0)
    };
    let begun = Instant::now();
    ledger.stats(&StatsFilter::default(), &[GroupBy::Provider, GroupBy::Model]).await?;
    told("stats by provider and model", begun)?;
    let begun = Instant::now();
    ledger.stats(&StatsFilter::default(), &[GroupBy::Day, GroupBy::Contract]).await?;
    told("stats by day and contract", begun)?;
    let begun = Instant::now();
    ledger.runs(&Filter::default(), Page::default()).await?;
    told("the newest 50 runs", begun)?;
    let begun = Instant::now();
    let oldest = Page { limit: 50, after: Some(10), order: Order::OldestFirst };
    ledger.runs(&Filter::default(), oldest).await?;
    told("50 runs from the other end", begun)?;
    let begun = Instant::now();
    let rare = Filter { outcome: Some("refused".to_owned()), ..Filter::default() };
    ledger.runs(&rare, Page::default()).await?;
    told("an outcome that no run has", begun)?;
    Ok(())
}
