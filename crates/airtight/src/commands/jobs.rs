//! `airtight jobs`: see and change what waits in the queue of a ledger.

use std::collections::BTreeSet;
use std::path::Path;

use airtight_core::redact::Redactor;
use airtight_store::{
    JobFilter, JobState, Ledger, Order, Page, QueueCounts, StoreError, StoredJob,
};
use serde_json::json;
use tokio::runtime;

use crate::batch::unusable;
use crate::cli::{JobListArgs, JobsAction, JobsArgs, State, WhichArgs};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::ledger::Books;
use crate::printer::{Printer, Span, Tone};
use crate::shell_word::shell_word;

/// Runs what was typed.
pub(super) fn run(
    args: &JobsArgs,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let which = match &args.action {
        JobsAction::List(list) => &list.which,
        JobsAction::Counts(which) | JobsAction::Retry(which) | JobsAction::Cancel(which) => which,
    };
    let books = Books::asked(which.ledger.database.as_deref(), environment)?;
    require_ledger(&books)?;
    let place = books.place();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let ledger = books.open(Redactor::new(environment.secrets())).await?;
        let done = perform(&args.action, &ledger, &place, printer).await;
        ledger.close().await;
        done
    })
}

/// Refuses a file that is not there or empty, of which a ledger would be made: whoever looks for jobs looks
/// where some were queued, or has mistyped it.
pub(super) fn require_ledger(books: &Books) -> Result<(), Error> {
    let is_none = |file: &&Path| file.metadata().map_or(true, |it| it.is_file() && it.len() == 0);
    let Some(file) = books.file().filter(is_none) else { return Ok(()) };
    let word = shell_word(&file.to_string_lossy());
    let queue = format!("airtight batch CONTRACT INPUTS --enqueue --database {word}");
    Err(Error::new(Outcome::Store, format!("there is no ledger: `{}`", file.display()))
        .hint("name the one that jobs are queued in by `--database`")
        .hint(format!("or queue some there: `{queue}`")))
}

async fn perform(
    action: &JobsAction,
    ledger: &Ledger,
    place: &str,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let failed = |error: StoreError| unusable(error, place);
    match action {
        JobsAction::List(args) => list(args, ledger, place, printer).await?,
        JobsAction::Counts(which) => {
            let mut counts = QueueCounts::default();
            for filter in filters(which) {
                let counted = ledger.queue_counts(&filter).await.map_err(failed)?;
                counts.ready += counted.ready;
                counts.claimed += counted.claimed;
                counts.quarantined += counted.quarantined;
            }
            if which.json || !printer.is_terminal() {
                printer.json(&json!(counts).to_string())?;
            } else {
                let words = format!(
                    "{} ready, {} claimed, {} quarantined",
                    counts.ready, counts.claimed, counts.quarantined
                );
                printer.line(&[Span::plain(words)])?;
            }
        }
        JobsAction::Retry(which) => {
            require_jobs(which, ledger, place).await?;
            let mut changed = 0;
            for filter in chosen(which)? {
                changed += ledger.retry(&filter).await.map_err(failed)?;
            }
            tell(which, "retried", changed, printer)?;
        }
        JobsAction::Cancel(which) => {
            require_jobs(which, ledger, place).await?;
            let mut changed = 0;
            for filter in chosen(which)? {
                changed += ledger.cancel(&filter).await.map_err(failed)?;
            }
            tell(which, "cancelled", changed, printer)?;
        }
    }
    Ok(Outcome::Met)
}

/// Refuses a number that no job has, before anything is changed.
async fn require_jobs(which: &WhichArgs, ledger: &Ledger, place: &str) -> Result<(), Error> {
    for number in &which.jobs {
        let filter = JobFilter { number: Some(*number), ..JobFilter::default() };
        let found = ledger.jobs(&filter, Page::default()).await;
        if found.map_err(|error| unusable(error, place))?.is_empty() {
            let message = format!("the queue has no job `{number}`");
            return Err(Error::new(Outcome::Input, message)
                .hint("`airtight jobs list` shows what there is; a job that is done is a run"));
        }
    }
    Ok(())
}

fn tell(which: &WhichArgs, what: &str, count: u64, printer: &mut Printer) -> Result<(), Error> {
    if which.json {
        return printer.json(&json!({ what: count }).to_string());
    }
    let noun = if count == 1 { "job" } else { "jobs" };
    printer.line(&[Span::plain(format!("{count} {noun} {what}"))])
}

/// Returns which jobs are changed; all of them only if that was said.
fn chosen(which: &WhichArgs) -> Result<Vec<JobFilter>, Error> {
    let is_narrow = which.queue.is_some() || which.batch.is_some() || which.state.is_some();
    if which.jobs.is_empty() && !is_narrow && !which.all {
        return Err(Error::new(Outcome::Usage, "which jobs?")
            .hint("give their numbers, `--batch`, `--queue`, `--state`, or `--all`"));
    }
    Ok(filters(which))
}

/// Returns which jobs are meant: those with the numbers, or all that the flags leave.
fn filters(which: &WhichArgs) -> Vec<JobFilter> {
    if which.jobs.is_empty() {
        return vec![filter(which, None)];
    }
    let numbers: BTreeSet<i64> = which.jobs.iter().copied().collect();
    numbers.into_iter().map(|number| filter(which, Some(number))).collect()
}

fn filter(which: &WhichArgs, number: Option<i64>) -> JobFilter {
    JobFilter {
        number,
        queue: which.queue.clone(),
        batch: which.batch.clone(),
        state: which.state.map(|state| match state {
            State::Ready => JobState::Ready,
            State::Claimed => JobState::Claimed,
            State::Quarantined => JobState::Quarantined,
        }),
    }
}

async fn list(
    args: &JobListArgs,
    ledger: &Ledger,
    place: &str,
    printer: &mut Printer,
) -> Result<(), Error> {
    let page = Page { limit: args.limit, order: Order::OldestFirst, ..Page::default() };
    let mut jobs = Vec::new();
    for filter in filters(&args.which) {
        let found = ledger.jobs(&filter, page).await;
        jobs.extend(found.map_err(|error| unusable(error, place))?);
    }
    if args.which.json || !printer.is_terminal() {
        return jobs
            .iter()
            .try_for_each(|job| printer.json(&serde_json::to_string(job).unwrap_or_default()));
    }
    if jobs.is_empty() {
        return printer.line(&[Span::plain("no jobs")]);
    }
    let titles = ["job", "state", "batch", "input", "claims", "why"];
    let mut rows = vec![titles.map(|title| Span::new(Tone::Strong, title)).to_vec()];
    rows.extend(jobs.iter().map(row));
    printer.table(0, &rows)
}

fn row(job: &StoredJob) -> Vec<Span> {
    let tone = match job.state {
        JobState::Ready => Tone::Plain,
        JobState::Claimed => Tone::Good,
        JobState::Quarantined => Tone::Bad,
    };
    let position = job.position.map(|position| position.to_string()).unwrap_or_default();
    let why = job.error.as_deref().or(job.worker.as_deref()).unwrap_or_default();
    vec![
        Span::plain(job.number.to_string()),
        Span::new(tone, job.state.name()),
        Span::plain(job.batch.as_deref().unwrap_or_default()),
        Span::plain(position),
        Span::plain(job.claims.to_string()),
        Span::plain(why),
    ]
}
