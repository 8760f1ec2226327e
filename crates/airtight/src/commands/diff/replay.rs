//! What becomes of answers on record: those that OLD accepted, judged by NEW.

use std::pin::pin;

use airtight_core::judge::Strictness;
use airtight_core::{Contract, EditKind, Verdict};
use airtight_store::{Filter, RunState};
use futures_util::StreamExt as _;
use serde::Serialize;

use crate::cli::LedgerArgs;
use crate::commands::runs::{Asked, block_on, is_on_record, rejudge};
use crate::env::Environment;
use crate::error::Error;
use crate::explain;

/// How many of the answers that are lost are named.
const NAMED: usize = 20;

/// What became of answers on record.
#[derive(Debug, Default, Serialize)]
pub(super) struct Replay {
    /// How many were judged.
    pub(super) judged: u64,
    /// How many of them NEW accepts.
    pub(super) valid: u64,
    /// How many of those were carried forward from an older version.
    pub(super) carried: u64,
    /// How many it rejects.
    pub(super) lost: u64,
    /// How many runs have no answer on record as it was said.
    pub(super) silent: u64,
    /// The first that it rejects.
    pub(super) named: Vec<Lost>,
}

/// An answer that is valid no longer.
#[derive(Debug, Serialize)]
pub(super) struct Lost {
    pub(super) run: String,
    pub(super) violations: Vec<String>,
}

/// Judges every answer by the first contract that is on record by the second one.
pub(super) fn run(
    args: &LedgerArgs,
    (old, new): (&Contract, &Contract),
    environment: &Environment,
) -> Result<Replay, Error> {
    block_on(async {
        let asked = Asked::to_read(args, environment).await?;
        let filter = Filter {
            contract: Some(old.fingerprint().to_string()),
            outcome: Some("met".to_owned()),
            state: Some(RunState::Done),
            ..Filter::default()
        };
        let mut replay = Replay::default();
        let mut runs = pin!(asked.ledger.export(&filter));
        while let Some(run) = runs.next().await {
            let run = run.map_err(asked.failed())?;
            if !is_on_record(&run, new) {
                replay.silent += 1;
                continue;
            }
            let verdict = rejudge(new, old, &run, Strictness::Lenient);
            replay.count(run.summary.id.to_string(), &verdict);
        }
        Ok(replay)
    })
}

impl Replay {
    fn count(&mut self, run: String, verdict: &Verdict) {
        self.judged += 1;
        match verdict {
            Verdict::Accepted(accepted) => {
                self.valid += 1;
                self.carried += u64::from(accepted.edits.count(EditKind::Carried) > 0);
            }
            Verdict::Rejected(rejected) => {
                self.lost += 1;
                if self.named.len() < NAMED {
                    self.named.push(Lost { run, violations: explain::violations(rejected) });
                }
            }
        }
    }
}
