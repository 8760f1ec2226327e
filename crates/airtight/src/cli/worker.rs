//! What can be typed after `worker`.

use std::time::Duration;

use clap::Args;

use super::batch::{PaceArgs, place};
use super::run::TrustArgs;
use super::runs::LedgerArgs;
use crate::config::Entry;

/// Take jobs from the queue of a ledger and do them
///
/// Each job is leased: while it is done the lease is renewed, and a worker that dies, or sleeps past
/// its lease, loses the job to another. Only one of them can end it. Keys come from the environment of
/// the worker, never from the queue.
///
/// Workers on many machines share a ledger on PostgreSQL; on one machine SQLite will do. The first
/// SIGTERM or Ctrl-C ends the worker cleanly: it takes no more jobs, gives those it has some time, and
/// returns the rest to the queue. The second ends it at once.
///
/// Ends with 0 if it was told to, or if the queue is empty with `--until-empty`; 1 if a critical job
/// has no answer, 3 if the provider does not come back, 4 if the ledger fails or is not there, 41 if
/// a key is refused. If `--until-empty` leaves jobs that this worker cannot do, or sets some aside that
/// nobody can do as they are: 41 if a key is missing, else 52.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  airtight batch triage tickets.jsonl --enqueue --database postgres://db/airtight
  airtight worker --database postgres://db/airtight --concurrency 32
  airtight worker --until-empty
  airtight jobs counts --database postgres://db/airtight")]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) ledger: LedgerArgs,

    /// Queue to take jobs from [default: the common one]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub(crate) queue: String,

    #[command(flatten)]
    pub(crate) pace: PaceArgs,

    /// How long a job belongs to this worker without a sign of life
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = lease)]
    pub(crate) lease: Duration,

    /// Workers that a job may take down before it waits for a person
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) claims: u32,

    /// Time that jobs under way get when the worker is told to end
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::batch::duration)]
    pub(crate) grace: Duration,

    /// End when the queue is empty, or nothing is left in it that this worker can do
    #[arg(long)]
    pub(crate) until_empty: bool,

    /// Say nothing on stderr unless something fails
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}

fn lease(text: &str) -> Result<Duration, String> {
    let lease = super::batch::duration(text)?;
    // Signs of life are three to a lease, and none is sent more often than each 100 ms.
    if lease < Duration::from_millis(300) {
        return Err("must be 0.3s or longer".to_owned());
    }
    Ok(lease)
}

impl WorkerArgs {
    /// Returns the settings among the flags.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        place(&self.ledger).collect()
    }
}
