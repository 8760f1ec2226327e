//! What can be typed after `watch`.

use clap::{Args, Subcommand};

use super::batch::place;
use super::run::TrustArgs;
use super::runs::LedgerArgs;
use crate::config::Entry;

/// Watch services: observe, investigate, remediate
///
/// Runs a chain of sessions at each interval. Tier 1 looks and changes nothing; what it cannot explain
/// goes to tier 2, what must be repaired to tier 3. What sessions report by contract becomes events,
/// memories, service states and escalations in the ledger. Restarts and redeployments are counted
/// before they are done, and refused past the limits.
///
/// `watch.toml` says what is watched: name it by `--config`, or put it into the user's configuration
/// folder. Of all processes that share a ledger one leads; the others wait to take its place.
///
/// In a pipe, stdout has one JSON object a line for everything that happens. The first SIGTERM or
/// Ctrl-C ends the watch cleanly, with the session that is under way; the second ends it at once.
///
/// Ends with 0 if it was told to, or `--once` came to an end; 1 if a session of `--once` failed; 3 if
/// another process leads; 4 if the ledger fails; 52 if the file or settings are refused.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_long_help = "\
Examples:
  airtight watch --config watch.toml
  airtight watch --config watch.toml --once --dry-run
  airtight watch --config watch.toml --prompt 'The shop is slow since noon: why?'
  airtight watch --config watch.toml --tier 2 --prompt 'Find out why backups fail'
  airtight watch status
  airtight watch services web
  airtight watch events --level critical --json
  airtight watch memories --pending
  airtight watch approve 3f2a")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags as typed; the command makes enums of them"
)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) action: Option<WatchAction>,

    /// File that says what is watched [default: watch.toml in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<String>,

    /// Run one chain and end
    #[arg(long)]
    pub(crate) once: bool,

    /// Begin with this tier, and run one chain
    #[arg(long, value_name = "1|2|3", value_parser = clap::value_parser!(i64).range(1..=3))]
    pub(crate) tier: Option<i64>,

    /// Ask for this instead of the routine, and run one chain
    #[arg(long, short, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) prompt: Option<String>,

    /// Start nothing above tier 1, and refuse everything that would be done to services
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// Print JSON, also on a terminal
    #[arg(long)]
    pub(crate) json: bool,

    /// Say nothing on stderr unless something fails
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

/// What can be asked of a watch.
#[derive(Debug, Subcommand)]
pub(crate) enum WatchAction {
    /// Show who leads, how services are, and what waits for a person
    Status(WatchListArgs),
    /// Show how services are, or the history of one
    Services(WatchServiceArgs),
    /// List sessions, the newest first
    Sessions(WatchListArgs),
    /// List events, the newest first
    Events(WatchEventArgs),
    /// List memories, the newest first
    Memories(WatchMemoryArgs),
    /// List what was done to services, the newest first
    Cooldowns(WatchListArgs),
    /// List notifications, the newest first
    Notifications(WatchListArgs),
    /// Give leave to a memory or an escalation that waits for it
    Approve(WatchDecisionArgs),
    /// Refuse a memory or an escalation that waits for leave
    Decline(WatchDecisionArgs),
}

/// What is listed, and how.
#[derive(Debug, Args)]
pub(crate) struct WatchListArgs {
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// Most rows
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: u32,

    /// Print JSON, also on a terminal
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which events.
#[derive(Debug, Args)]
pub(crate) struct WatchEventArgs {
    /// Only this level
    #[arg(long, value_name = "LEVEL", value_parser = ["info", "warning", "critical"])]
    pub(crate) level: Option<String>,

    /// Only this service
    #[arg(long, value_name = "NAME")]
    pub(crate) service: Option<String>,

    #[command(flatten)]
    pub(crate) list: WatchListArgs,
}

/// Which services.
#[derive(Debug, Args)]
pub(crate) struct WatchServiceArgs {
    /// Show every check of this service, the newest first
    #[arg(value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,

    /// Also those that were taken out of the list of services
    #[arg(long, conflicts_with = "name")]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) list: WatchListArgs,
}

/// Which memories.
#[derive(Debug, Args)]
pub(crate) struct WatchMemoryArgs {
    /// Only those that wait for leave
    #[arg(long)]
    pub(crate) pending: bool,

    #[command(flatten)]
    pub(crate) list: WatchListArgs,
}

/// What is decided on.
#[derive(Debug, Args)]
pub(crate) struct WatchDecisionArgs {
    /// Name of the memory or escalation, or its beginning
    #[arg(value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

impl WatchArgs {
    /// Returns the settings among the flags.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        place(&self.ledger).collect()
    }
}
