//! `airtight runs prune`: delete what is not kept any longer.

use airtight_store::{Filter, Page, Review, RunState, RunSummary};

use super::Asked;
use crate::cli::PruneArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span};

/// How many runs are in memory at once.
const AT_ONCE: u32 = 1_000;

/// Deletes runs whose time is over.
pub(super) async fn run(
    args: &PruneArgs,
    asked: &Asked,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let now_ms = asked.ledger.now_ms();
    let before_ms = args
        .older_than
        .map(|period| now_ms.saturating_sub(i64::try_from(period.as_millis()).unwrap_or(i64::MAX)));
    if args.dry_run {
        let count = count(asked, now_ms, before_ms).await?;
        printer.line(&[Span::plain(format!("{count} runs would be deleted"))])?;
        return Ok(Outcome::Met);
    }
    let mut deleted = asked.ledger.prune(now_ms).await.map_err(asked.failed())?.runs;
    if let Some(before_ms) = before_ms {
        deleted += asked.ledger.prune_older(before_ms).await.map_err(asked.failed())?.runs;
    }
    printer.line(&[Span::plain(format!("{deleted} runs deleted"))])?;
    Ok(Outcome::Met)
}

/// Counts what would be deleted, by the rules of the ledger.
async fn count(asked: &Asked, now_ms: i64, before_ms: Option<i64>) -> Result<usize, Error> {
    let filter = Filter::default();
    let is_over = |run: &RunSummary| {
        let is_old = before_ms.is_some_and(|before| run.started_at < before);
        let is_due = run.expires_at.is_some_and(|at| at <= now_ms)
            || (is_old && run.review != Review::Flagged);
        // Somebody is at a run that is open.
        is_due && run.state != RunState::Open
    };
    let (mut count, mut after) = (0, None);
    loop {
        let page = Page { limit: AT_ONCE, after, ..Page::default() };
        let runs = asked.ledger.runs(&filter, page).await.map_err(asked.failed())?;
        let Some(last) = runs.last() else { return Ok(count) };
        after = Some(last.number);
        count += runs.iter().filter(|run| is_over(run)).count();
    }
}
