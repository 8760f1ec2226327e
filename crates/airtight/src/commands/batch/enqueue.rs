//! Inputs into the queue, for workers.

use airtight_store::{Enqueued, Ledger, NewJob};
use serde_json::json;

use super::inputs::Inputs;
use super::plan::Plan;
use super::require_usable;
use crate::batch::{Payload, unusable};
use crate::cli::BatchArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};

/// How many jobs are queued at once, and so kept in memory.
const CHUNK: usize = 500;

/// How many bytes of jobs are.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Queues every input that has no result yet.
pub(super) async fn run(
    plan: &Plan,
    inputs: Inputs,
    args: &BatchArgs,
    ledger: &Ledger,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let kind = plan.kind()?;
    let limit = usize::try_from(args.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let (mut jobs, mut bytes) = (Vec::new(), 0);
    let mut queued = Enqueued::default();
    let mut bad = 0_u64;
    for input in inputs.take(limit) {
        let prepared = match plan.desk.prepare(&input) {
            Ok(prepared) => prepared,
            Err(why) => {
                let message =
                    format!("input {} (`{}`) cannot be used: {why}", input.position, input.place);
                if args.strict_inputs {
                    return Err(Error::new(Outcome::Input, message));
                }
                printer.note(&[
                    Span::new(Tone::Warning, "warning:"),
                    Span::plain(format!(" {message}")),
                ]);
                bad += 1;
                continue;
            }
        };
        let payload = Payload::new(kind.clone(), prepared.prompt);
        let payload = serde_json::to_string(&payload)
            .map_err(|error| Error::from(std::io::Error::from(error)))?;
        bytes += payload.len();
        jobs.push(NewJob {
            key: Some(prepared.key),
            queue: args.queue.clone(),
            batch: Some(plan.batch.clone()),
            position: i64::try_from(input.position).ok(),
            payload,
            ..NewJob::default()
        });
        if jobs.len() >= CHUNK || bytes >= CHUNK_BYTES {
            bytes = 0;
            add(&mut queued, plan, ledger, std::mem::take(&mut jobs)).await?;
        }
    }
    add(&mut queued, plan, ledger, jobs).await?;
    conclude(plan, queued, bad, args, printer)
}

async fn add(
    queued: &mut Enqueued,
    plan: &Plan,
    ledger: &Ledger,
    jobs: Vec<NewJob>,
) -> Result<(), Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    let more = ledger.enqueue(jobs).await.map_err(|error| unusable(error, &plan.books.place()))?;
    queued.added += more.added;
    queued.known += more.known;
    Ok(())
}

fn conclude(
    plan: &Plan,
    queued: Enqueued,
    bad: u64,
    args: &BatchArgs,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let Enqueued { added, known } = queued;
    let batch = &plan.batch;
    if args.json {
        let summary = json!({ "batch": batch, "queued": added, "known": known, "unusable": bad });
        printer.json(&summary.to_string())?;
    } else {
        let words = format!("batch {batch}: {added} queued, {known} known, {bad} unusable");
        printer.line(&[Span::plain(words)])?;
    }
    require_usable(bad, added + known + bad)
}
