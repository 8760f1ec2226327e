//! What can be typed after `jobs`.

use clap::{Args, Subcommand, ValueEnum};

use super::runs::LedgerArgs;

/// See and change what waits in the queue of a ledger
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight jobs counts
  airtight jobs list --state quarantined
  airtight jobs retry --state quarantined
  airtight jobs cancel --batch 3f2a9c01d4e7")]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    pub(crate) action: JobsAction,
}

/// What to do with jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum JobsAction {
    /// List jobs, oldest first
    List(JobListArgs),
    /// Count jobs by what they wait for
    Counts(WhichArgs),
    /// Have jobs done that wait for a person, or for a later time
    Retry(WhichArgs),
    /// Remove jobs that no worker has
    Cancel(WhichArgs),
}

/// Which jobs, and how they are shown.
#[derive(Debug, Args)]
pub(crate) struct JobListArgs {
    #[command(flatten)]
    pub(crate) which: WhichArgs,

    /// Most jobs to list
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: u32,
}

/// Which jobs are meant.
#[derive(Debug, Args)]
pub(crate) struct WhichArgs {
    /// Numbers of jobs [default: all that the flags leave]
    #[arg(value_name = "JOB")]
    pub(crate) jobs: Vec<i64>,

    /// Those of one queue
    #[arg(long, value_name = "NAME")]
    pub(crate) queue: Option<String>,

    /// Those of one batch
    #[arg(long, value_name = "NAME")]
    pub(crate) batch: Option<String>,

    /// Those in one state
    #[arg(long, value_enum)]
    pub(crate) state: Option<State>,

    /// Every job of the ledger, where no other flag says which
    #[arg(long)]
    pub(crate) all: bool,

    /// Print JSON, also on a terminal
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,
}

/// What a job waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// A worker, or its time
    Ready,
    /// The worker that has it
    Claimed,
    /// A person: it took too many workers down, or nobody can do it
    Quarantined,
}
