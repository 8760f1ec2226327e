//! What can be typed after `batch`.

use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use super::run::{ModelArgs, ProgramArgs, TrustArgs, given, setting};
use super::runs::LedgerArgs;
use super::{FolderArgs, PatternArgs};
use crate::commands::Form;
use crate::config::{Entry, Key, Value};

/// Have a model answer many inputs by one contract
///
/// Each input is one run: a line of JSON (a string or an object), a row of a table, or a file. The
/// answers go to `--output`, one line each, in the order of the inputs; inputs without an answer go to a
/// file of their own, with the reason.
///
/// Every run is on record before and after it is asked. Whatever ends the batch (Ctrl-C, a spent
/// budget, `kill -9`, a power cut), the same command again goes on where it was: inputs that have
/// their result are not asked again, and each has exactly one.
///
/// As many requests are under way as the provider takes, up to `--concurrency`: fewer when it
/// answers 429 or 503, one now and then while it is down. Models have no tools in a batch.
///
/// Ends with 0 if all inputs are met, 1 if some failed; 3 if the provider does not come back, 4 if the
/// ledger fails, 41 if the key is refused, 42 if there are no inputs or they cannot be read, 52 if
/// contract or settings are refused, 55 out of budget, 130 if interrupted.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight batch triage tickets.jsonl -o sorted.jsonl --prompt 'Sort this: {{text}}'
  airtight batch triage tickets.csv -o sorted.jsonl --prompt '{{subject}}: {{body}}' --key id
  airtight batch review src/ -o reviews.jsonl --prompt 'Review {{name}}:\\n{{text}}'
  airtight batch triage tickets.jsonl --dry-run --model anthropic:claude-sonnet-4-5
  airtight batch triage tickets.jsonl -o sorted.jsonl --budget-usd 5 --concurrency 32
  airtight batch triage tickets.jsonl -o sorted.jsonl --retry-failed
  airtight batch triage tickets.jsonl --enqueue --database postgres://db/airtight")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags as typed; the command makes enums of them"
)]
pub(crate) struct BatchArgs {
    /// Contract: inline JSON, `@path`, a name, or a path
    #[arg(value_name = "CONTRACT")]
    pub(crate) contract: String,

    /// Inputs: files of JSON lines (.jsonl), tables (.csv, .tsv), other files (one input each),
    /// folders of those, or `-` for JSON lines on stdin
    #[arg(value_name = "INPUTS", required = true)]
    pub(crate) inputs: Vec<String>,

    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Where answers go, one JSON object a line [default: stdout]
    #[arg(long, short, value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) output: Option<String>,

    /// Where inputs without an answer go [default: FILE.failures.jsonl beside the output]
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) failures: Option<String>,

    /// Job for the model, with `{{FIELD}}` where a field of the input goes; `@FILE` reads it from a
    /// file [default: the input itself]
    #[arg(long, short, value_name = "TEMPLATE")]
    pub(crate) prompt: Option<String>,

    /// How inputs are written [default: by the ending of each file]
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) input_format: Option<Form>,

    /// Field that tells inputs apart, so that one may move and keep its result [default: the input
    /// and its position]
    #[arg(long, value_name = "FIELD", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) key: Option<String>,

    /// Order of the answers
    #[arg(long, value_enum, default_value_t = Order::Input)]
    pub(crate) order: Order,

    /// Take the first inputs alone
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u64>,

    /// Stop at the first input that cannot be used, instead of listing it among the failures
    #[arg(long)]
    pub(crate) strict_inputs: bool,

    /// Ask again for inputs that failed before
    #[arg(long)]
    pub(crate) retry_failed: bool,

    /// Count the inputs and estimate the cost, and ask nothing
    #[arg(long, conflicts_with = "enqueue")]
    pub(crate) dry_run: bool,

    /// Queue the inputs for `airtight worker`, and ask nothing here
    #[arg(long, conflicts_with_all = ["output", "failures", "retry_failed", "budget_usd", "max_tokens_total"])]
    pub(crate) enqueue: bool,

    /// Queue to put them in
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        requires = "enqueue",
        hide_default_value = true
    )]
    pub(crate) queue: String,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    #[command(flatten)]
    pub(crate) limits: BatchLimitArgs,

    #[command(flatten)]
    pub(crate) pace: PaceArgs,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// Name of the batch in the ledger [default: made of contract, prompt and model]
    #[arg(long, value_name = "NAME", value_parser = visible)]
    pub(crate) name: Option<String>,

    /// Print the summary as JSON on stdout; needs `--output`, unless nothing is asked
    #[arg(long)]
    pub(crate) json: bool,

    /// Show no progress and no summary on stderr
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Refuse contracts whose root cannot be an object, instead of wrapping them
    #[arg(long)]
    pub(crate) no_wrap: bool,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,

    /// Fetch the weights of an embedded model without asking
    #[arg(long, short)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// When to stop.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct BatchLimitArgs {
    /// Most dollars of the batch, earlier runs of it included; a model of unknown price is refused
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) budget_usd: Option<f64>,

    /// Most tokens of the batch, input and output, earlier runs of it included
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_tokens_total: Option<u64>,

    /// Times a rejected answer is asked for again, from 0 to 5 [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = setting(Key::Reasks))]
    pub(crate) reasks: Option<Value>,

    /// Longest time for one input, such as 90, 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = setting(Key::MaxWallTime))]
    pub(crate) max_wall_time: Option<Value>,
}

/// How fast to ask.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct PaceArgs {
    /// Most requests under way at once [default: 64; 4 for an agent CLI, 1 for an embedded model]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) concurrency: Option<u32>,

    /// Most requests a minute to this provider with this key, of all processes with this ledger
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,

    /// Failures in a row after which the provider is taken to be down
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) circuit_failures: u32,

    /// First pause before a provider that is down is asked again; it doubles up to 30 times as long
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) circuit_pause: Duration,

    /// How long the provider may give nothing but trouble before the work ends
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub(crate) patience: Duration,
}

/// The order of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// As the inputs are
    Input,
    /// As they come in
    Finished,
}

/// Parses a name: what shows nothing tells nothing apart.
fn visible(text: &str) -> Result<String, String> {
    let is_blank = text.trim().is_empty();
    if is_blank { Err("a name cannot be blank".to_owned()) } else { Ok(text.to_owned()) }
}

/// Parses a time as settings have it, or milliseconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match text.strip_suffix("ms").map(str::parse) {
        Some(Ok(milliseconds)) => Ok(Duration::from_millis(milliseconds)),
        Some(Err(_)) => Err("expected a whole number before `ms`".to_owned()),
        None => crate::config::duration::parse(text).map_err(|error| error.to_string()),
    }
}

impl BatchArgs {
    /// Returns the settings among the flags.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let limits = [
            (Key::Reasks, "--reasks", self.limits.reasks.clone()),
            (Key::MaxWallTime, "--max-wall-time", self.limits.max_wall_time.clone()),
        ];
        let mut entries = self.model.entries();
        entries.extend(self.program.entries());
        entries.extend(place(&self.ledger));
        entries.extend(given(limits));
        entries
    }
}

/// Returns where the ledger is, if that was said.
pub(super) fn place(args: &LedgerArgs) -> impl Iterator<Item = Entry> {
    given([(Key::Database, "--database", args.database.clone().map(Value::Text))])
}
