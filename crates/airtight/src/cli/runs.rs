//! What can be typed after `runs`.

use std::sync::Arc;
use std::time::Duration;

use airtight_core::Check;
use airtight_core::run::Outcome;
use airtight_store::{Filter, RunState, Validity};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum, value_parser};

use super::{FolderArgs, PatternArgs, RunArgs};
use crate::config::period;
use crate::when::{self, When};

/// Ask the ledger: what ran, what it said, and whether that would still do
///
/// Every run is on record, unless it was started with `--no-store`: what was asked, everything the
/// model said, each attempt, each verdict, each change made to an answer, tokens and cost. Runs are
/// named by the beginning of their name, as `list` shows it.
///
/// To a terminal, `list`, `show`, `review` and `replay` print tables; to a pipe, JSON, one object a
/// line.
///
/// Ends with 0, or with 1 if `replay` finds a verdict that changes or a value is rejected, 3 if
/// another process is at the run, 4 if the ledger cannot be used, 42 if there is no such run.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight runs list --since 7d --invalid
  airtight runs show 019a8f3c
  airtight runs show 019a8f3c --raw > answer.txt
  airtight runs export --format csv > runs.csv
  airtight runs replay --contract review --json-schema review-v2.json
  airtight runs resume 019a8f3c
  airtight runs review
  airtight runs accept 019a8f3c --edit
  airtight runs prune --older-than 90d --dry-run")]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) action: RunsAction,
}

/// What is asked of the ledger.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// List runs, the newest first
    List(ListArgs),
    /// Show one run: attempts, violations, changes and the value
    Show(ShowArgs),
    /// Print whole runs, the oldest first, however many there are
    Export(ExportArgs),
    /// Judge what models said by another contract, and say which verdicts change
    Replay(ReplayArgs),
    /// Do a run again that has no answer, under its own key
    ///
    /// What it was asked, by which contract and of which model is on record; flags of `run` say the
    /// rest, such as limits and tools. A run whose process is gone goes on under its name; one that
    /// failed gives its key to a new run, whose parent it becomes.
    Resume(Box<ResumeArgs>),
    /// List the runs that a person should look at
    Review(ListArgs),
    /// Accept a value for a run, as a person
    ///
    /// Without `--edit` and `--value`, the value is what the contract finds in the model's words;
    /// `--edit` opens it in `$VISUAL` or `$EDITOR`. Only a value that satisfies the contract of the
    /// run is accepted. What the model said stays.
    Accept(AcceptArgs),
    /// Reject whatever a run has, as a person
    Reject(RejectArgs),
    /// Delete runs whose time is over; statistics stay
    Prune(PruneArgs),
}

/// Which ledger.
#[derive(Debug, Args)]
pub(crate) struct LedgerArgs {
    /// Ledger: a path, or `postgres://…` [default: in the user's data folder]
    #[arg(long, value_name = "PATH|URL")]
    pub(crate) database: Option<String>,
}

/// Which runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which runs")]
pub(crate) struct FilterArgs {
    /// Began since then: a period such as 7d, or a day such as 2026-11-16 (UTC)
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    pub(crate) since: Option<When>,

    /// Began before then
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    pub(crate) until: Option<When>,

    /// Contract: its name, or 12 digits or more of its fingerprint
    #[arg(long, value_name = "NAME")]
    pub(crate) contract: Option<String>,

    /// Version of the contract
    #[arg(long, value_name = "VERSION")]
    pub(crate) contract_version: Option<String>,

    /// Who served the model
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// Model, as its provider calls it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// How it ended
    #[arg(long, value_name = "WORD", value_parser = outcomes())]
    pub(crate) outcome: Option<String>,

    /// How the value was obtained: native, tool, grammar, text, repair, re-ask, human
    #[arg(long, value_name = "WORD")]
    pub(crate) rung: Option<String>,

    /// With a value that satisfies its contract
    #[arg(long, conflicts_with = "invalid")]
    pub(crate) valid: bool,

    /// Without one
    #[arg(long)]
    pub(crate) invalid: bool,

    /// Whether it is over
    #[arg(long, value_enum)]
    pub(crate) state: Option<StateName>,

    /// Batch that it is part of
    #[arg(long, value_name = "NAME")]
    pub(crate) batch: Option<String>,

    /// Run that it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,

    /// Beginning of its name
    #[arg(long, value_name = "BEGINNING")]
    pub(crate) id: Option<String>,
}

fn outcomes() -> PossibleValuesParser {
    PossibleValuesParser::new(Outcome::ALL.map(Outcome::name))
}

impl FilterArgs {
    /// Returns the runs that are meant, now.
    pub(crate) fn filter(&self, now_ms: i64) -> Filter {
        let validity = match (self.valid, self.invalid) {
            (true, _) => Some(Validity::Valid),
            (_, true) => Some(Validity::Invalid),
            (false, false) => None,
        };
        Filter {
            since: self.since.map(|when| when.at_ms(now_ms)),
            until: self.until.map(|when| when.at_ms(now_ms)),
            contract: self.contract.clone(),
            contract_version: self.contract_version.clone(),
            provider: self.provider.clone(),
            model: self.model.clone(),
            outcome: self.outcome.clone(),
            rung: self.rung.clone(),
            valid: validity,
            state: self.state.map(StateName::state),
            review: None,
            batch: self.batch.clone(),
            parent: self.parent.clone(),
            id: self.id.clone(),
            ..Filter::default()
        }
    }

    /// Claims that nothing was said, so that all runs are meant.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter(0) == Filter::default()
    }
}

/// Whether a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateName {
    /// A process is at it
    Open,
    /// It is to be tried again later
    Postponed,
    /// Its process is gone, and nobody knows what became of it
    Unknown,
    /// It is over
    Done,
}

impl StateName {
    fn state(self) -> RunState {
        match self {
            Self::Open => RunState::Open,
            Self::Postponed => RunState::Postponed,
            Self::Unknown => RunState::Unknown,
            Self::Done => RunState::Done,
        }
    }
}

/// Which runs are listed, and how.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Most runs
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = value_parser!(u32).range(1..))]
    pub(crate) limit: u32,

    /// Print one JSON object a line, also to a terminal
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// Which run is shown, and what of it.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Run: its name, or as much of its beginning as no other has
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Print what the model said, byte for byte, and nothing else
    #[arg(long, conflicts_with_all = ["json", "events"])]
    pub(crate) raw: bool,

    /// Print everything as one JSON object, also to a terminal
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,

    /// Print what happened, one JSON object a line, as `--output-format stream-json` did
    #[arg(long)]
    pub(crate) events: bool,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object a line, with every field
    Jsonl,
    /// A table; cells that a spreadsheet would take for a formula are defused by a leading '
    Csv,
}

/// Which runs are exported, and how.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Form
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) format: ExportFormat,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// Which runs are judged again, and by what.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Runs; without any, those that the filters mean
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// New contract: inline JSON, `@path`, a name, or a path
    #[arg(long = "json-schema", value_name = "CONTRACT")]
    pub(crate) json_schema: String,

    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Accept only what is JSON as a whole, without any edit
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print one JSON object a line, also to a terminal
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// Which run is done again, and how.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Run: its name, or as much of its beginning as no other has
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Flags of `run`, behind `--`: `-- --max-cost 0.50 --no-tools`
    #[arg(last = true, value_name = "FLAGS")]
    pub(crate) flags: Vec<String>,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// A run that is done again: what is known of it, instead of what could be typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Again {
    /// The key that it has.
    pub(crate) key: String,
    /// What grounded strings must be quoted from.
    pub(crate) source: Option<Vec<u8>>,
    /// What else an answer must pass.
    pub(crate) check: Option<Arc<dyn Check>>,
    /// The name and the version of its contract.
    pub(crate) contract: (String, String),
}

impl ResumeArgs {
    /// Returns the arguments of `run` that do it again.
    pub(crate) fn run_args(&self, known: Vec<String>) -> Result<RunArgs, clap::Error> {
        #[derive(Debug, clap::Parser)]
        #[command(name = "airtight runs resume", no_binary_name = true)]
        struct Flags {
            #[command(flatten)]
            run: RunArgs,
        }
        let typed = known.into_iter().chain(self.flags.iter().cloned());
        <Flags as clap::Parser>::try_parse_from(typed).map(|flags| flags.run)
    }
}

/// For which run a value is accepted, and which.
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// Run: its name, or as much of its beginning as no other has
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Open the value in `$VISUAL` or `$EDITOR`
    #[arg(long, conflicts_with = "value")]
    pub(crate) edit: bool,

    /// Value: JSON, `@FILE`, or `-` for stdin
    #[arg(long, value_name = "JSON")]
    pub(crate) value: Option<String>,

    #[command(flatten)]
    pub(crate) decision: DecisionArgs,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// Which run is rejected.
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// Run: its name, or as much of its beginning as no other has
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) decision: DecisionArgs,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// Who decides, and why.
#[derive(Debug, Args)]
pub(crate) struct DecisionArgs {
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,

    /// Who decides [default: user@host]
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

/// Which runs are deleted.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Also runs that are to be kept longer, or for ever, if they began longer ago; those that a
    /// person should look at stay
    #[arg(long, value_name = "PERIOD", value_parser = period::parse)]
    pub(crate) older_than: Option<Duration>,

    /// Say how many there are, and delete none
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}
