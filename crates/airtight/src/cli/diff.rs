//! What can be typed after `diff`.

use clap::Args;

use super::{FolderArgs, Format, LedgerArgs, PatternArgs};

/// Compare two versions of a contract
///
/// Says what changes, and answers two questions: is every answer that OLD accepts still valid, and is
/// every answer that NEW accepts valid for whoever was written for OLD? Yes is proven, no is shown by an
/// answer that one of them accepts and the other rejects, and all else is unknown. The version needs a
/// major step if consumers are not safe, a minor one if old answers are not, else a patch; unknown
/// counts as no.
///
/// Ends with 0; with `--check` with 1 if the version moves less far than it must. 42 if git
/// has no such revision or contract, 52 if a contract is refused, with `--replay` 4 if the ledger fails.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight diff review-1.json review-2.json
  airtight diff review --rev main --check
  airtight diff review --rev v1.2.0 --replay
  airtight diff old.json new.json --format json
  git show main:review.json | airtight diff - review.json")]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Contract: inline JSON, `@path`, `-` for stdin, a name, or a path
    #[arg(value_name = "OLD")]
    pub(crate) old: String,

    /// The same contract later; with `--rev` the only one that is named
    #[arg(value_name = "NEW", required_unless_present = "rev", conflicts_with = "rev")]
    pub(crate) new: Option<String>,

    /// Compare the one contract that is named with itself at this revision of git
    #[arg(long, value_name = "REVISION")]
    pub(crate) rev: Option<String>,

    /// Fail if the version moves less far than the changes need
    #[arg(long)]
    pub(crate) check: bool,

    /// Judge the answers by OLD that are on record by NEW, too
    #[arg(long)]
    pub(crate) replay: bool,

    /// Choose the form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    #[command(flatten)]
    pub(crate) patterns: PatternArgs,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}
