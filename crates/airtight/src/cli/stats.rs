//! What can be typed after `stats`.

use std::path::PathBuf;

use airtight_store::GroupBy;
use clap::{Args, ValueEnum};

use super::LedgerArgs;
use crate::when::{self, When};

/// Say how often runs fail, how long they take and what they cost
///
/// Counts finished runs by provider and model, or by what `--by` says. The failure rate comes with
/// Wilson's 95 % interval: 0 of 3 says little. Times are those that 50 and 95 of 100 runs do not
/// exceed, to 5 %. A provider whose rate of the last day lies beyond its own history is told on
/// stderr. Statistics outlive the runs that are pruned.
///
/// Prints a table to a terminal, and JSON to a pipe, one object for each group. Ends with 0,
/// with 3 if the plot cannot be written, or with 4 if the ledger cannot be used.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight stats
  airtight stats --since 7d --by contract,version,rung
  airtight stats --by day --svg failures.svg
  airtight stats --provider openai --by model | jq .failure")]
pub(crate) struct StatsArgs {
    /// What runs are told apart by: provider, model, contract, version, outcome, rung, hour, day
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_enum, default_values = ["provider", "model"])]
    pub(crate) by: Vec<Grouping>,

    /// Ended since then: a period such as 7d, or a day such as 2026-11-16 (UTC); by the hour
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    pub(crate) since: Option<When>,

    /// Ended before then
    #[arg(long, value_name = "WHEN", value_parser = when::parse)]
    pub(crate) until: Option<When>,

    /// Who served the model
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// Model, as its provider calls it
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Name of the contract
    #[arg(long, value_name = "NAME")]
    pub(crate) contract: Option<String>,

    /// Write a plot of the failure rates to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Print JSON, also to a terminal
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// What runs are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grouping {
    /// Who served the model
    Provider,
    /// The model
    Model,
    /// The contract
    Contract,
    /// Its version
    Version,
    /// How runs ended
    Outcome,
    /// How values were obtained
    Rung,
    /// The hour in which runs ended (UTC)
    Hour,
    /// The day in which runs ended (UTC)
    Day,
}

impl Grouping {
    /// Returns what the ledger calls it.
    pub(crate) fn group_by(self) -> GroupBy {
        match self {
            Self::Provider => GroupBy::Provider,
            Self::Model => GroupBy::Model,
            Self::Contract => GroupBy::Contract,
            Self::Version => GroupBy::Version,
            Self::Outcome => GroupBy::Outcome,
            Self::Rung => GroupBy::Rung,
            Self::Hour => GroupBy::Hour,
            Self::Day => GroupBy::Day,
        }
    }

    /// Returns the word for it in tables and JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Model => "model",
            Self::Contract => "contract",
            Self::Version => "version",
            Self::Outcome => "outcome",
            Self::Rung => "rung",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}
