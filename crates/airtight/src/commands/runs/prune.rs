//! `airtight runs prune`: delete what is not kept any longer.

use std::pin::pin;

use airtight_store::{Filter, Review, RunState};
use futures_util::StreamExt as _;

use super::Asked;
use crate::cli::PruneArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span};

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
async fn count(asked: &Asked, now_ms: i64, before_ms: Option<i64>) -> Result<u64, Error> {
    let filter = Filter { state: Some(RunState::Done), ..Filter::default() };
    let mut runs = pin!(asked.ledger.export(&filter));
    let mut count = 0;
    while let Some(run) = runs.next().await {
        let run = run.map_err(asked.failed())?.summary;
        let is_over = run.expires_at.is_some_and(|at| at <= now_ms);
        let is_old = before_ms.is_some_and(|before| run.started_at < before);
        count += u64::from(is_over || (is_old && run.review != Review::Flagged));
    }
    Ok(count)
}
