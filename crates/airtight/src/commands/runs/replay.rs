//! `airtight runs replay`: what models said, judged by another contract.

use std::collections::HashMap;
use std::pin::pin;

use airtight_core::contract::{Options, Patterns, Wrap};
use airtight_core::judge::Strictness;
use airtight_core::{Contract, Verdict};
use airtight_store::{Filter, Run, RunState};
use futures_util::StreamExt as _;
use serde::Serialize;

use super::Asked;
use super::rejudge::{contract_of, is_on_record, rejudge};
use crate::cli::ReplayArgs;
use crate::commands::{check_command, load};
use crate::env::Environment;
use crate::error::{Error, Outcome};
use crate::explain;
use crate::printer::{Printer, Span, Tone};
use crate::source::ContractSource;

/// What became of one verdict.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replayed {
    id: String,
    /// Whether the answer satisfied its own contract.
    before: bool,
    /// Whether it satisfies the new one.
    after: bool,
    changed: bool,
    /// What is wrong with it now.
    violations: Vec<String>,
}

/// How many verdicts there are, and what became of them.
#[derive(Debug, Default)]
struct Tally {
    judged: u64,
    lost: u64,
    won: u64,
    /// Runs without an answer on record as it was said.
    silent: u64,
}

/// Judges stored answers again.
pub(super) async fn run(
    args: &ReplayArgs,
    asked: &Asked,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<Outcome, Error> {
    let contract = new_contract(args, environment)?;
    let mut replay = Replay {
        contract,
        strictness: if args.strict { Strictness::Strict } else { Strictness::Lenient },
        known: HashMap::new(),
        tally: Tally::default(),
        is_json: args.json || !printer.is_terminal(),
    };
    if args.ids.is_empty() {
        let filter = args.filter.filter(asked.ledger.now_ms());
        let filter = Filter { state: filter.state.or(Some(RunState::Done)), ..filter };
        let mut runs = pin!(asked.ledger.export(&filter));
        while let Some(run) = runs.next().await {
            replay.judge(&run.map_err(asked.failed())?, asked, printer).await?;
        }
    } else if !args.filter.is_empty() {
        let message = "runs are named or filtered, not both";
        return Err(Error::new(Outcome::Usage, message).hint("leave the filters out"));
    }
    for id in &args.ids {
        let run = asked.ledger.run(id).await.map_err(asked.failed())?;
        replay.judge(&run, asked, printer).await?;
    }
    printer.flush()?;
    Ok(replay.tally.conclude(printer))
}

fn new_contract(args: &ReplayArgs, environment: &Environment) -> Result<Contract, Error> {
    let folder = args.folder.folder.as_deref();
    let source = ContractSource::find(&args.json_schema, folder, environment)?;
    let patterns = if args.patterns.look_around { Patterns::LookAround } else { Patterns::Linear };
    let options = Options { patterns, ..Options::default() };
    let again = check_command(&args.json_schema, &args.folder, &args.patterns, Wrap::Allowed);
    load(&source, &options, &again)
}

struct Replay {
    contract: Contract,
    strictness: Strictness,
    /// The contracts that runs were asked by, by their fingerprints.
    known: HashMap<String, Contract>,
    tally: Tally,
    is_json: bool,
}

impl Replay {
    async fn judge(
        &mut self,
        run: &Run,
        asked: &Asked,
        printer: &mut Printer,
    ) -> Result<(), Error> {
        if !is_on_record(run, &self.contract) {
            self.tally.silent += 1;
            return Ok(());
        }
        let fingerprint = &run.summary.fingerprint;
        if !self.known.contains_key(fingerprint) {
            let (contract, _) = contract_of(run, asked).await?;
            self.known.insert(fingerprint.clone(), contract);
        }
        let Some(before) = self.known.get(fingerprint) else { return Ok(()) };
        let verdict = rejudge(&self.contract, before, run, self.strictness);
        let replayed = self.tally.count(run, &verdict);
        self.tell(&replayed, printer)
    }

    fn tell(&self, replayed: &Replayed, printer: &mut Printer) -> Result<(), Error> {
        if self.is_json {
            return printer.json(&serde_json::to_string(replayed).unwrap_or_default());
        }
        if !replayed.changed {
            return Ok(());
        }
        let (tone, word) = if replayed.after {
            (Tone::Good, "now conforms   ")
        } else {
            (Tone::Bad, "breaks it now  ")
        };
        printer.line(&[Span::new(tone, word), Span::plain(&replayed.id)])?;
        for violation in &replayed.violations {
            printer.line(&[Span::plain(format!("  {violation}"))])?;
        }
        Ok(())
    }
}

impl Tally {
    fn count(&mut self, run: &Run, verdict: &Verdict) -> Replayed {
        // What a person accepted later is no verdict on what the model said.
        let before = run.summary.outcome.as_deref() == Some("met");
        let (after, violations) = match verdict {
            Verdict::Accepted(_) => (true, Vec::new()),
            Verdict::Rejected(rejected) => (false, explain::reasons(rejected)),
        };
        self.judged += 1;
        self.lost += u64::from(before && !after);
        self.won += u64::from(!before && after);
        let id = run.summary.id.to_string();
        Replayed { id, before, after, changed: before != after, violations }
    }

    fn conclude(&self, printer: &mut Printer) -> Outcome {
        let Self { judged, lost, won, silent } = self;
        let text = format!(
            " {judged} judged, {lost} conform no longer, {won} conform now, {silent} without an answer \
             on record"
        );
        printer.note(&[Span::new(Tone::Strong, "summary:"), Span::plain(text)]);
        if *lost + *won > 0 { Outcome::Rejected } else { Outcome::Met }
    }
}
