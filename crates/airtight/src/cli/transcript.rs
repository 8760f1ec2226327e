//! What can be typed after `transcript`.

use std::time::Duration;

use airtight_core::transcript::{LINE_LIMIT_BYTES, Program};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{FolderArgs, PatternArgs};
use crate::config::duration;

/// Read the stream of an agent CLI
///
/// Turns what claude, codex, qwen, gemini or opencode wrote into one shape: a JSON object for each
/// thing that happened, and a record of what it all comes to as the last line. Lines that are not
/// understood are kept as they are. The same stream gives the same bytes.
///
/// What a program says of itself is recorded, not believed: with `--json-schema`, its payload, or the
/// answer found in its last words, is judged by the contract.
///
/// Ends with 0, or with 1 if the answer is rejected, 42 if the stream cannot be read or nothing is in
/// it, 52 if the contract is refused, 130 if `--follow` is interrupted: the record is then of what
/// there was.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight transcript run.ndjson
  claude -p 'Review HEAD' --output-format stream-json --verbose | airtight transcript - --summary
  airtight transcript run.ndjson --summary --json-schema review.json
  airtight transcript run.ndjson --follow")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags as typed; the command makes enums of them"
)]
pub(crate) struct TranscriptArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Stream to read; stdin if it is `-`
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// Say whose stream it is, instead of telling it by its lines
    #[arg(long, value_name = "PROGRAM", value_parser = programs(), default_value = "auto")]
    pub(crate) from: TranscriptOf,

    /// Print the record alone: a table to a terminal, else JSON
    #[arg(long)]
    pub(crate) summary: bool,

    /// Wait for more at the end of the file, until the program is done and says no more
    #[arg(long)]
    pub(crate) follow: bool,

    /// With `--follow`, end if nothing comes for this long, such as 90, 30s, 5m or 1.5h
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10m")]
    #[arg(requires = "follow")]
    pub(crate) idle_timeout: Duration,

    /// Judge the payload, or the answer in words, by this contract: inline JSON, `@path`, a name, or
    /// a path
    #[arg(long, value_name = "CONTRACT")]
    pub(crate) json_schema: Option<String>,

    /// Accept only a payload, or words that are JSON as a whole, without any edit
    #[arg(long, requires = "json_schema")]
    pub(crate) strict: bool,

    /// Keep no line that has more bytes; it is told by its place alone
    #[arg(long, value_name = "BYTES", default_value_t = LINE_LIMIT_BYTES)]
    pub(crate) line_limit: usize,

    /// Raise no doubts about a success: unanswered questions, abandoned background work
    #[arg(long)]
    pub(crate) no_heuristics: bool,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,
}

/// Whose stream it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TranscriptOf {
    /// Told by its lines.
    Anyone,
    /// Said by the user.
    Program(Program),
}

/// Parses the names of programs.
fn programs() -> impl TypedValueParser<Value = TranscriptOf> {
    let names = ["auto"].into_iter().chain(Program::ALL.map(Program::name));
    PossibleValuesParser::new(names)
        .map(|name| Program::parse(&name).map_or(TranscriptOf::Anyone, TranscriptOf::Program))
}
