//! The results of a batch on their way into files, in order.
//!
//! Results that wait for an earlier one are kept in memory up to a limit; beyond it only their names
//! are, and the ledger has the rest.

use std::collections::BTreeMap;

use airtight_store::{Ledger, RunId};
use serde::Serialize;

use super::inputs::Place;
use super::sheet::Sheet;
use crate::batch::{End, Settled, unusable};
use crate::cli::Order;
use crate::error::Error;

/// How much may wait in memory for an earlier result.
const WAITING_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// How far ahead of the oldest input without a result others are begun.
const LOOK_AHEAD: u64 = 65_536;

/// Who a result belongs to.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub(super) position: u64,
    pub(super) place: Place,
    /// What tells it apart, where a field does.
    pub(super) key: Option<String>,
}

/// The results, on their way into files.
pub(super) struct Results<'p> {
    order: Order,
    met: Sheet<'p>,
    failed: Sheet<'p>,
    ledger: Ledger,
    /// Where the ledger is, as it may be shown.
    pub(super) place: String,
    /// The next to be written, by the order of inputs.
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    waiting_bytes: usize,
}

enum Waiting {
    Line(Line),
    /// In the ledger.
    Stored(Named, RunId),
    /// There is none: the input is left to the next command.
    Nothing,
}

/// A line, and the file it belongs to.
enum Line {
    Met(String),
    Failed(String),
}

impl Line {
    fn len(&self) -> usize {
        match self {
            Self::Met(line) | Self::Failed(line) => line.len(),
        }
    }
}

/// What both kinds of lines begin with.
#[derive(Serialize)]
struct Head<'a> {
    position: u64,
    input: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rung: Option<&'a str>,
}

#[derive(Serialize)]
struct Failure<'a> {
    position: u64,
    input: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<&'a RunId>,
    outcome: &'a str,
    error: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    violations: &'a [serde_json::Value],
}

impl<'p> Results<'p> {
    pub(super) fn new(
        order: Order,
        (met, failed): (Sheet<'p>, Sheet<'p>),
        ledger: Ledger,
        place: String,
    ) -> Self {
        let waiting = BTreeMap::new();
        Self { order, met, failed, ledger, place, next: 1, waiting, waiting_bytes: 0 }
    }

    /// Claims that the input at `position` may be begun.
    pub(super) fn has_room_for(&self, position: u64) -> bool {
        position < self.next + LOOK_AHEAD
    }

    /// Takes a result, and writes what can be written.
    pub(super) async fn add(&mut self, named: Named, settled: Settled) -> Result<(), Error> {
        if self.order == Order::Finished {
            self.next += 1;
            return self.write(&line(&named, &settled));
        }
        let position = named.position;
        let line = line(&named, &settled);
        let is_too_much = self.waiting_bytes + line.len() > WAITING_LIMIT_BYTES;
        let waiting = match settled.run_id {
            Some(id) if is_too_much && position != self.next => Waiting::Stored(named, id),
            _ => {
                self.waiting_bytes += line.len();
                Waiting::Line(line)
            }
        };
        self.waiting.insert(position, waiting);
        self.advance().await
    }

    /// Waits no longer for the result of the input at `position`.
    pub(super) async fn leave(&mut self, position: u64) -> Result<(), Error> {
        if self.order == Order::Finished {
            self.next += 1;
            return Ok(());
        }
        self.waiting.insert(position, Waiting::Nothing);
        self.advance().await
    }

    /// Writes everything that waits for nothing earlier.
    async fn advance(&mut self) -> Result<(), Error> {
        while let Some(waiting) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.take(waiting).await?;
        }
        Ok(())
    }

    /// Writes what is left, in order, and puts the files in their places.
    pub(super) async fn publish(mut self) -> Result<(), Error> {
        for waiting in std::mem::take(&mut self.waiting).into_values() {
            self.take(waiting).await?;
        }
        self.met.publish()?;
        self.failed.publish()
    }

    /// Hands on what was written, for those who follow it.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        self.met.flush()?;
        self.failed.flush()
    }

    async fn take(&mut self, waiting: Waiting) -> Result<(), Error> {
        match waiting {
            Waiting::Line(line) => {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(line.len());
                self.write(&line)
            }
            Waiting::Stored(named, id) => {
                let run = self.ledger.run(id.as_str()).await;
                let run = run.map_err(|error| unusable(error, &self.place))?;
                self.write(&line(&named, &Settled::before(run)))
            }
            Waiting::Nothing => Ok(()),
        }
    }

    fn write(&mut self, line: &Line) -> Result<(), Error> {
        match line {
            Line::Met(line) => self.met.line(line),
            Line::Failed(line) => self.failed.line(line),
        }
    }
}

fn line(named: &Named, settled: &Settled) -> Line {
    let (position, input) = (named.position, named.place.to_string());
    let (key, run_id) = (named.key.as_deref(), settled.run_id.as_ref());
    match &settled.end {
        End::Met(value) => {
            let rung = settled.rung.as_deref();
            let mut line = json(&Head { position, input, key, run_id, rung });
            // As it was judged, digit by digit; it may nest deeper than serde reads.
            line.pop();
            line.extend([",\"structured_output\":", value, "}"]);
            Line::Met(line)
        }
        End::Failed { outcome, error, violations } => Line::Failed(json(&Failure {
            position,
            input,
            key,
            run_id,
            outcome,
            error,
            violations,
        })),
    }
}

fn json(value: &impl Serialize) -> String {
    // Texts and numbers can always be written.
    serde_json::to_string(value).unwrap_or_default()
}
