//! Jobs, as they are queued, claimed and listed.

use std::time::Duration;

use serde::Serialize;

/// A job that is to be queued.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewJob {
    /// What makes a second job the same: it is not queued again, nor if a run with this key is over.
    pub key: Option<String>,
    /// The queue, empty for the common one.
    pub queue: String,
    /// The batch that it is part of.
    pub batch: Option<String>,
    /// Its place in the batch.
    pub position: Option<i64>,
    /// What to do, in the caller's own form.
    pub payload: String,
    /// Smaller comes first.
    pub priority: i64,
    /// How long to wait before it may be claimed.
    pub after: Duration,
}

/// What came of the wish to queue jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Enqueued {
    /// Jobs that wait now.
    pub added: u64,
    /// Jobs whose key was known.
    pub known: u64,
}

/// Who claims, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The queue, empty for the common one.
    pub queue: String,
    /// The most jobs at once.
    pub limit: u32,
    /// How long they are leased.
    pub lease: Duration,
    /// How often a job is claimed without an ending before it is quarantined.
    pub claims: u32,
}

impl Default for Worker {
    fn default() -> Self {
        // A model call takes seconds to minutes and is renewed by heartbeats well within a minute;
        // a job that took five workers down will take the sixth down, too.
        Self { queue: String::new(), limit: 1, lease: Duration::from_mins(1), claims: 5 }
    }
}

/// The right to complete a job: refused once another worker has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub(crate) job: i64,
    pub(crate) token: String,
}

impl Claim {
    /// Returns the number of the job.
    pub fn job(&self) -> i64 {
        self.job
    }
}

/// When a job that goes back to the queue is offered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// After a pause.
    After(Duration),
    /// After a pause, by another worker: no failure of the job.
    Elsewhere(Duration),
    /// When a person says so: nobody can do it as it is.
    WhenAsked,
}

impl Default for Again {
    fn default() -> Self {
        Self::After(Duration::ZERO)
    }
}

/// A job that this process may work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedJob {
    /// The right to complete it.
    pub claim: Claim,
    /// Its key.
    pub key: Option<String>,
    /// The batch that it is part of.
    pub batch: Option<String>,
    /// Its place in the batch.
    pub position: Option<i64>,
    /// What to do.
    pub payload: String,
    /// How often it was claimed since it was last put back, this time included.
    pub claims: i64,
    /// How often it was postponed.
    pub failures: i64,
}

/// Whether a job waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It waits for a worker, or for its time.
    Ready,
    /// A worker has it.
    Claimed,
    /// It took too many workers down, or nobody can do it, and waits for a person.
    Quarantined,
}

impl JobState {
    /// Returns the word for it in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Claimed => "claimed",
            Self::Quarantined => "quarantined",
        }
    }

    pub(crate) fn named(word: &str) -> Self {
        match word {
            "ready" => Self::Ready,
            "claimed" => Self::Claimed,
            // What a newer version means by its word, a person should find out.
            _ => Self::Quarantined,
        }
    }
}

/// One job of the queue, without its payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredJob {
    /// Its number in the queue.
    pub number: i64,
    /// Its key.
    pub key: Option<String>,
    /// Its queue.
    pub queue: String,
    /// The batch that it is part of.
    pub batch: Option<String>,
    /// Its place in the batch.
    pub position: Option<i64>,
    /// Whether it waits.
    pub state: JobState,
    /// Smaller comes first.
    pub priority: i64,
    /// When it may be claimed, in Unix milliseconds.
    pub run_at: i64,
    /// How often it was claimed since it was last put back.
    pub claims: i64,
    /// How often it was postponed.
    pub failures: i64,
    /// Why it was postponed last.
    pub error: Option<String>,
    /// Who has it: host and process.
    pub worker: Option<String>,
    /// Until when.
    pub leased_until: Option<i64>,
    /// When it was queued.
    pub created_at: i64,
}

/// Which jobs are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// One job.
    pub number: Option<i64>,
    /// One queue.
    pub queue: Option<String>,
    /// One batch.
    pub batch: Option<String>,
    /// One state.
    pub state: Option<JobState>,
}

/// How much there is to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueueCounts {
    /// Jobs that wait.
    pub ready: i64,
    /// Jobs that workers have.
    pub claimed: i64,
    /// Jobs that wait for a person.
    pub quarantined: i64,
}
