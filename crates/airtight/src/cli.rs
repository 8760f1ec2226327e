//! What can be typed.

mod batch;
mod diff;
mod doctor;
mod generate;
mod jobs;
mod models;
mod review;
mod run;
mod runs;
mod serve;
mod stats;
mod transcript;
mod watch;
mod worker;

use std::ffi::OsString;
use std::path::PathBuf;

use airtight_agent::HELPER_ARGUMENT;
use airtight_core::Dialect;
use airtight_watch::DOOR_ARGUMENT;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::commands::DoorArgs;

pub(crate) use batch::{BatchArgs, Order, PaceArgs};
pub(crate) use diff::DiffArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use generate::GenerateArgs;
pub(crate) use jobs::{JobListArgs, JobsAction, JobsArgs, State, WhichArgs};
pub(crate) use models::ModelsArgs;
#[cfg(feature = "embedded")]
pub(crate) use models::{ModelsAction, NameArgs, PullArgs};
pub(crate) use review::{PostArgs, ReviewArgs, ReviewFormat};
pub(crate) use run::{ModelArgs, OutputFormat, RunArgs};
pub(crate) use runs::{
    AcceptArgs, Again, DecisionArgs, ExportArgs, ExportFormat, LedgerArgs, ListArgs, PruneArgs,
    RejectArgs, ReplayArgs, ResumeArgs, RunsAction, RunsArgs, ShowArgs,
};
pub(crate) use serve::ServeArgs;
pub(crate) use stats::{Grouping, StatsArgs};
pub(crate) use transcript::{TranscriptArgs, TranscriptOf};
pub(crate) use watch::{
    WatchAction, WatchArgs, WatchDecisionArgs, WatchListArgs, WatchServiceArgs,
};
pub(crate) use worker::WorkerArgs;

/// Make AI agents keep a contract
///
/// A contract is a JSON Schema. `run` has a model do a job and answer by one; `review` has it review
/// a change; `watch` has it look after services; `check` says whether a contract is sound and which model
/// providers can honour it, `diff` what changes between two versions of it; `validate` judges an answer
/// by it; `generate` makes prompts and types of it;
/// `transcript` reads the streams of other agents; `runs` and `stats` ask the ledger, where every run
/// is on record. Only the original contract decides.
#[derive(Debug, Parser)]
#[command(name = "airtight", version, max_term_width = 100)]
#[command(after_long_help = "\
Examples:
  airtight run --json-schema review.json 'Review HEAD'
                                           have a model do a job
  airtight batch triage tickets.jsonl -o sorted.jsonl
                                           have it answer many inputs
  airtight review --base main              have it review a change
  airtight doctor                          what is configured, and does it work?
  airtight models pull                     weights for a model in this process
  airtight check review.json               is this contract sound, and who accepts it?
  airtight diff review --rev main          what changes, and for whom?
  airtight validate review.json answer.txt is there a conforming value in this answer?
  airtight generate rust review.json       types that keep to this contract
  airtight transcript run.ndjson --summary what did claude, codex, qwen, gemini or opencode do?
  airtight runs list --since 7d            what ran, and how it ended
  airtight serve                           an address that speaks OpenAI, with contracts
  airtight stats --by model                how often does it fail, and what does it cost?
  airtight watch --config watch.toml       look after services, tier by tier
  airtight completions bash                completion script for a shell")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands, one file each in `commands/`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArgs>),
    Batch(Box<BatchArgs>),
    Review(Box<ReviewArgs>),
    Worker(WorkerArgs),
    Jobs(JobsArgs),
    Check(CheckArgs),
    Diff(DiffArgs),
    Validate(ValidateArgs),
    Generate(GenerateArgs),
    Transcript(TranscriptArgs),
    Runs(RunsArgs),
    Serve(ServeArgs),
    Stats(StatsArgs),
    Watch(Box<WatchArgs>),
    Doctor(DoctorArgs),
    Models(ModelsArgs),
    Completions(CompletionsArgs),
    /// Become a command that the kernel holds
    #[command(name = HELPER_ARGUMENT, hide = true)]
    Sandbox(SandboxArgs),
    /// Ask a watch whether an agent CLI may call a tool
    #[command(name = DOOR_ARGUMENT, hide = true)]
    Door(DoorArgs),
}

/// What the sandbox's helper is asked to do, by ourselves.
#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    #[arg(long)]
    pub(crate) workspace: OsString,
    #[arg(long)]
    pub(crate) scratch: OsString,
    #[arg(last = true)]
    pub(crate) command: Vec<OsString>,
}

/// Check contracts before anything is spent on them
///
/// Reports everything wrong with each contract, and for each dialect (what one provider accepts
/// of JSON Schema) whether the contract is accepted as it is, adapted, or refused, and which
/// constraints the provider will not enforce. Those are always enforced by `validate`.
///
/// Ends with 0 if every contract is accepted, 52 if one is refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight check review.json
  airtight check contracts/*.json --format json
  airtight check review.json --dialect openai-strict > lowered.json
  airtight check '{\"type\": \"object\", \"propertees\": {}}'")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Contracts: inline JSON, `@path`, `-` for stdin, a name, or a path
    #[arg(required = true, value_name = "CONTRACT")]
    pub(crate) contracts: Vec<String>,

    /// Print the schema that a provider would get, and nothing else on stdout
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,

    /// Say what each finding and each loss means
    #[arg(long)]
    pub(crate) explain: bool,

    /// Choose the form of the report
    #[arg(long, value_enum, default_value_t = Format::Text, conflicts_with = "dialect")]
    pub(crate) format: Format,

    /// Refuse contracts whose root cannot be an object, instead of wrapping them
    #[arg(long)]
    pub(crate) no_wrap: bool,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,
}

/// Judge an answer by a contract
///
/// Finds the one conforming value in a JSON or plain text answer and prints it, compact, on
/// stdout. Every change made on the way (prose left out, a trailing comma dropped) is an edit,
/// listed on stderr. Nothing is invented: what is ambiguous, cut off or wrong is rejected.
///
/// Ends with 0 if the answer is accepted, 1 if it is rejected, 42 if it cannot be read, 52 if the
/// contract is refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight validate review.json answer.txt
  ask-model | airtight validate review.json > review-result.json
  airtight validate review.json --strict --format json answer.json
  airtight validate review.json --ndjson answers.ndjson > verdicts.ndjson")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags as typed; the command makes enums of them"
)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Contract: inline JSON, `@path`, `-` for stdin, a name, or a path
    #[arg(value_name = "CONTRACT")]
    pub(crate) contract: String,

    /// Answer to judge; stdin if it is `-` or left out
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<String>,

    /// Take the answer for one to the schema of `check --dialect NAME`; it must be JSON as a whole
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub(crate) dialect: Option<Dialect>,

    /// Say what each edit and each violation means
    #[arg(long)]
    pub(crate) explain: bool,

    /// Choose between the bare value and a full verdict on stdout
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Never repeat any part of the answer: no value, no quotes in violations
    #[arg(long)]
    pub(crate) masked: bool,

    /// Judge each line on its own and print one verdict a line
    #[arg(long)]
    pub(crate) ndjson: bool,

    /// Text that strings marked `x-grounded` must be quoted from
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Option<String>,

    /// Accept only an answer that is JSON as a whole, without any edit
    #[arg(long)]
    pub(crate) strict: bool,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight completions bash > ~/.local/share/bash-completion/completions/airtight
  airtight completions zsh > \"${fpath[1]}/_airtight\"
  airtight completions fish > ~/.config/fish/completions/airtight.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Where names of contracts are looked up.
#[derive(Debug, Args)]
pub(crate) struct FolderArgs {
    /// Look names of contracts up in this folder first, then in `contracts` and `schemas`
    #[arg(long = "contracts", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// How patterns are matched.
#[derive(Debug, Args)]
pub(crate) struct PatternArgs {
    /// Allow look-around and back-references in patterns, within a backtracking limit
    #[arg(long)]
    pub(crate) look_around: bool,
}

/// The form of what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs: one JSON document
    Json,
}

/// Parses the names of dialects.
fn dialects() -> impl TypedValueParser<Value = Dialect> {
    let named = |dialect: Dialect| {
        let value = PossibleValue::new(dialect.name());
        if dialect == Dialect::LlamaCpp { value.alias("ollama") } else { value }
    };
    PossibleValuesParser::new(Dialect::ALL.map(named))
        .try_map(|name| Dialect::parse(&name).ok_or("no such dialect"))
}

#[cfg(test)]
mod reference;
