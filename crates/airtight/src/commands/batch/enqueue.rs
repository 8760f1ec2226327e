//! Inputs into the queue, for workers.

use std::collections::HashMap;

use airtight_store::{Enqueued, Ledger, NewJob, Repeat};
use serde_json::json;

use super::inputs::{Input, Inputs, Place};
use super::plan::Plan;
use super::require_usable;
use super::texts::{Text, Texts};
use crate::batch::{Kind, Payload, unusable};
use crate::cli::BatchArgs;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};

/// How many jobs are queued at once, and so kept in memory.
const CHUNK: usize = 500;

/// How many bytes of jobs are.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// The inputs on their way into the queue.
struct Line<'a> {
    plan: &'a Plan,
    kind: Kind,
    args: &'a BatchArgs,
    ledger: &'a Ledger,
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
    queued: Enqueued,
    bad: u64,
}

/// An input that is queued if its key belongs to no other.
struct Waiting {
    position: u64,
    place: Place,
    key: String,
    /// Absent where no other input can have the key.
    text: Option<Text>,
    job: NewJob,
}

/// Queues every input that has no result yet.
pub(super) async fn run(
    plan: &Plan,
    inputs: Inputs,
    args: &BatchArgs,
    ledger: &Ledger,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let mut line = Line {
        plan,
        kind: plan.kind()?,
        args,
        ledger,
        waiting: Vec::new(),
        waiting_bytes: 0,
        queued: Enqueued::default(),
        bad: 0,
    };
    let limit = usize::try_from(args.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    for input in inputs.take(limit) {
        line.take(input, printer)?;
        if line.waiting.len() >= CHUNK || line.waiting_bytes >= CHUNK_BYTES {
            line.add(printer).await?;
        }
    }
    line.add(printer).await?;
    line.conclude(printer)
}

impl Line<'_> {
    /// Makes a job of an input.
    fn take(&mut self, input: Input, printer: &mut Printer) -> Result<(), Error> {
        let prepared = self.plan.desk.prepare(&input);
        let Input { position, place, .. } = input;
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(why) if self.args.strict_inputs => {
                return Err(Error::new(Outcome::Input, unfit(position, &place, &why)).hint(
                    format!("mend or remove input {position}, then type the same command again"),
                ));
            }
            Err(why) => {
                self.refuse(position, &place, &why, printer);
                return Ok(());
            }
        };
        let (text, key) = (Text::of(&prepared, self.plan), prepared.key);
        let payload = Payload::new(self.kind.clone(), prepared.prompt);
        let payload = serde_json::to_string(&payload)
            .map_err(|error| Error::from(std::io::Error::from(error)))?;
        self.waiting_bytes += payload.len();
        let job = NewJob {
            key: Some(key.clone()),
            queue: self.args.queue.clone(),
            batch: Some(self.plan.batch.clone()),
            position: i64::try_from(position).ok(),
            payload,
            ..NewJob::default()
        };
        self.waiting.push(Waiting { position, place, key, text, job });
        Ok(())
    }

    /// Counts an input that cannot be used, and says why.
    fn refuse(&mut self, position: u64, place: &Place, why: &str, printer: &mut Printer) {
        let message = format!(" {}", unfit(position, place, why));
        printer.note(&[Span::new(Tone::Warning, "warning:"), Span::plain(message)]);
        self.bad += 1;
    }

    /// Queues what waits, but for those whose key belongs to another text.
    async fn add(&mut self, printer: &mut Printer) -> Result<(), Error> {
        let on_record = self.on_record().await?;
        let mut texts = Texts::default();
        let mut jobs = Vec::new();
        self.waiting_bytes = 0;
        for Waiting { position, place, key, text, job } in std::mem::take(&mut self.waiting) {
            match text.map(|text| texts.take(&key, &text, &on_record)) {
                Some(Err(why)) => self.refuse(position, &place, &why, printer),
                Some(Ok(_)) | None => jobs.push(job),
            }
        }
        if jobs.is_empty() {
            return Ok(());
        }
        let more = self.ledger.enqueue(jobs).await;
        let more = more.map_err(|error| unusable(error, &self.plan.books.place()))?;
        self.queued.added += more.added;
        self.queued.known += more.known;
        Ok(())
    }

    /// Returns which texts the ledger has under the keys of what waits: in the queue, or in a run, which a
    /// worker would find first.
    async fn on_record(&self) -> Result<HashMap<String, String>, Error> {
        let named = self.waiting.iter().filter(|one| one.text.is_some());
        let keys: Vec<String> = named.map(|one| one.key.clone()).collect();
        // What cannot be read is of a newer version: its worker finds out.
        let digest = |payload: &str| {
            Payload::read(payload).ok().map(|payload| self.plan.digest(&payload.prompt))
        };
        let failed = |error| unusable(error, &self.plan.books.place());
        // The queue first: a job that is done meanwhile leaves it, and its run is there.
        let queued = self.ledger.payloads(&keys, digest).await.map_err(failed)?;
        let asked = self.ledger.asked(&keys, Repeat::Never).await.map_err(failed)?;
        let queued = queued.into_iter().filter_map(|(key, digest)| Some((key, digest?)));
        Ok(queued.chain(asked).collect())
    }

    fn conclude(self, printer: &mut Printer) -> Result<Outcome, Error> {
        let Self { plan, args, queued, bad, .. } = self;
        let Enqueued { added, known } = queued;
        let batch = &plan.batch;
        if args.json {
            let summary =
                json!({ "batch": batch, "queued": added, "known": known, "unusable": bad });
            printer.json(&summary.to_string())?;
        } else {
            let words = format!("batch {batch}: {added} queued, {known} known, {bad} unusable");
            printer.line(&[Span::plain(words)])?;
        }
        require_usable(bad, added + known + bad)
    }
}

/// Says that an input cannot be used.
fn unfit(position: u64, place: &Place, why: &str) -> String {
    format!("input {position} (`{place}`) cannot be used: {why}")
}
