//! Measures the ledger on SQLite: runs stored durably in a second, what a run costs as the ledger
//! grows, and how long questions to a large one take.
//!
//! Its runs are spread over a year, several models and contracts, and four ways to end: what statistics
//! cost depends on how much there is to tell apart.
//!
//! `cargo run --release -p airtight-store --example measure_ledger [FOLDER] [RUNS]`

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use airtight_store::{
    Begun, ContractRow, Driver, Filter, Finish, GroupBy, Job, Ledger, Location, NewAttempt, NewRun,
    Order, Page, StatsFilter, StoreError,
};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Row as _};

/// Runs that are measured at each size.
const SAMPLE: u64 = 5_000;

const HOUR_MS: i64 = 3_600_000;

/// The hours of a year, over which runs are spread.
const HOURS: i64 = 8_760;

const MODELS: [(&str, &str); 3] =
    [("anthropic", "claude-x"), ("openai", "gpt-y"), ("google", "gemini-z")];

const CONTRACTS: [&str; 4] = ["blog-writer", "ticket", "invoice", "code-review"];

/// How runs end, and how many of a hundred do.
const ENDINGS: [(&str, Option<&str>, u64); 4] = [
    ("met", Some("tool"), 80),
    ("met", Some("repair"), 12),
    ("attempts_exhausted", None, 5),
    ("no_answer", None, 3),
];

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
    let mut year = Year::before(&ledger, &path, most).await?;
    for size in [1_000, 100_000, 1_000_000] {
        if size > most {
            break;
        }
        year.fill(&ledger, size).await?;
        let (rate, _) = measure(&ledger, 64, SAMPLE).await?;
        writeln!(out, "{size:18} {rate:8.0}")?;
    }
    writeln!(out, "\nquestions to it")?;
    questions(&ledger, &mut out).await?;
    for table in ["tallies_by_day", "tallies_by_hour"] {
        writeln!(out, "{:40} {:8}", format!("rows of {table}"), year.rows(table).await?)?;
    }
    let bytes = std::fs::metadata(&path)?.len();
    writeln!(out, "{:40} {:8} MB", "size of the file", bytes >> 20)?;
    ledger.close().await;
    std::fs::remove_file(path)?;
    Ok(())
}

/// The year before the measurement, which is filled hour by hour: runs are counted in the hour in which
/// they end, so what was counted is moved behind the ledger's back.
struct Year {
    connection: AnyConnection,
    /// The hour in which the measurement began.
    now: i64,
    hours_filled: i64,
    runs_an_hour: u64,
    runs: u64,
}

impl Year {
    async fn before(ledger: &Ledger, path: &Path, most: u64) -> Result<Self, sqlx::Error> {
        Ok(Self {
            connection: AnyConnection::connect(&format!("sqlite:{}", path.display())).await?,
            now: ledger.now_ms().div_euclid(HOUR_MS),
            hours_filled: 0,
            runs_an_hour: most.div_ceil(HOURS.unsigned_abs()),
            runs: 0,
        })
    }

    /// Stores runs until there are so many.
    async fn fill(&mut self, ledger: &Ledger, runs: u64) -> Result<(), Box<dyn std::error::Error>> {
        while self.runs < runs {
            measure(ledger, 256, self.runs_an_hour).await?;
            self.runs += self.runs_an_hour;
            let hour = self.now - HOURS + self.hours_filled % HOURS;
            self.hours_filled += 1;
            // An hour or a day that ends meanwhile costs the rows of another.
            self.say(format!(
                "UPDATE OR REPLACE tallies_by_hour SET hour = {hour} WHERE hour >= {}",
                self.now
            ))
            .await?;
            if hour % 24 == 23 {
                let (day, today) = (hour / 24, self.now / 24);
                self.say(format!(
                    "UPDATE OR REPLACE tallies_by_day SET day = {day} WHERE day >= {today}"
                ))
                .await?;
            }
        }
        Ok(())
    }

    async fn say(&mut self, sql: String) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut self.connection).await.map(drop)
    }

    async fn rows(&mut self, table: &str) -> Result<i64, sqlx::Error> {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut self.connection).await?.try_get(0)
    }
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
    let (provider, model) = fastrand::choice(MODELS).unwrap_or_default();
    let contract = fastrand::choice(CONTRACTS).unwrap_or_default();
    let run = NewRun {
        key: Some(format!("{:032x}", fastrand::u128(..))),
        contract: ContractRow {
            fingerprint: contract.repeat(6),
            name: contract.to_owned(),
            version: "1".to_owned(),
            schema: r#"{"type":"object"}"#.to_owned(),
        },
        job: Job { prompt: "Summarise the document. ".repeat(10), ..Job::default() },
        driver: Driver {
            driver: "api".to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            mode: "tool".to_owned(),
        },
        attempt: Some(NewAttempt::default()),
        ..NewRun::default()
    };
    let Begun::Fresh(token) = ledger.begin(run).await? else { return Ok(()) };
    ledger.finish(&token, finish()).await
}

/// How a run ends.
fn finish() -> Finish {
    let answer = r#"{"title":"A title that says something","tags":["a","b"]}"#;
    let mut chance = fastrand::u64(0..100);
    let ending = ENDINGS.into_iter().find(|(_, _, share)| {
        let is_it = chance < *share;
        chance = chance.saturating_sub(*share);
        is_it
    });
    let (outcome, rung, _) = ending.unwrap_or_default();
    Finish {
        outcome: outcome.to_owned(),
        rung: rung.map(str::to_owned),
        output: Some(answer.as_bytes().to_vec()),
        parsed: rung.map(|_| answer.to_owned()),
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
    }
}

async fn questions(
    ledger: &Ledger,
    out: &mut io::Stdout,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut told = |what: &str, begun: Instant| {
        writeln!(out, "{what:40} {:8.1} ms", begun.elapsed().as_secs_f64() * 1000.0)
    };
    let all = StatsFilter::default();
    let last = |days: i64| {
        let since = Some(ledger.now_ms() - days * 24 * HOUR_MS);
        StatsFilter { since, ..StatsFilter::default() }
    };
    let (month, week) = (last(30), last(7));
    let counts: [(&str, &StatsFilter, &[GroupBy]); 5] = [
        ("stats by provider and model", &all, &[GroupBy::Provider, GroupBy::Model]),
        ("stats by day and contract", &all, &[GroupBy::Day, GroupBy::Contract]),
        ("stats by day, of 30 days", &month, &[GroupBy::Day]),
        ("stats by provider and hour, of a week", &week, &[GroupBy::Provider, GroupBy::Hour]),
        ("stats by hour, of the year", &all, &[GroupBy::Hour]),
    ];
    for (what, filter, by) in counts {
        let begun = Instant::now();
        ledger.stats(filter, by).await?;
        told(what, begun)?;
    }
    let begun = Instant::now();
    ledger.drifts(ledger.now_ms() - 24 * HOUR_MS).await?;
    told("which models fail more than they did", begun)?;
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
