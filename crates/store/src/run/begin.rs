//! How a run begins.

use super::attempt::NewAttempt;
use super::contract::ContractRow;
use super::record::Run;
use super::{RunId, RunToken};
use crate::queue::Claim;
use crate::retention::Retention;

/// A run that is about to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Its name; absent, the ledger makes one.
    pub id: Option<RunId>,
    /// The run that it belongs to, or goes on from.
    pub parent: Option<RunId>,
    /// What makes a second run of the same job the same run: one final result for each key.
    pub key: Option<String>,
    /// What becomes of a key that has its result.
    pub repeat: Repeat,
    /// What the answer must satisfy.
    pub contract: ContractRow,
    /// What is asked.
    pub job: Job,
    /// What else an answer depends on: under other terms the same words are another question.
    pub terms: Vec<String>,
    /// Who is asked.
    pub driver: Driver,
    /// What is kept of it, and for how long.
    pub retention: Retention,
    /// The batch that it is part of.
    pub batch: Option<String>,
    /// Its place in the batch.
    pub position: Option<i64>,
    /// The job of the queue that it does. Whoever has the job may take the run over from a process that
    /// lives and has lost it; whoever has lost the job may not begin.
    pub claim: Option<Claim>,
    /// The first attempt, opened in the same write: then the request may leave.
    pub attempt: Option<NewAttempt>,
    /// With what somebody is told that it is on record.
    pub acknowledged: Acknowledged,
}

/// With what somebody is told that a run is on record, which must be on the disk by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Acknowledged {
    /// With its beginning.
    #[default]
    Begun,
    /// With its end. Its beginning is there for others at once and survives this process. The loss of power,
    /// or the end of a server of PostgreSQL, may take it in the first 50 ms.
    Ended,
}

/// What becomes of a key that has its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Repeat {
    /// The result stands.
    #[default]
    Never,
    /// A result that is not valid gives the key up to a new run, whose parent it becomes.
    Failed,
    /// Any result does.
    Always,
    /// As with [`Failed`](Self::Failed), for a run that somebody named: who is asked may be another than
    /// before, and so may the standing instructions.
    Named,
}

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// The job.
    pub prompt: String,
    /// Standing instructions.
    pub system: Option<String>,
    /// The document that the job is about, exactly.
    pub input: Option<Vec<u8>>,
}

/// Who is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Driver {
    /// What drives the model: `api`, `embedded`, or the name of an agent CLI.
    pub driver: String,
    /// Who serves the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How the contract is put to it.
    pub mode: String,
}

/// What came of the wish to begin a run.
#[derive(Debug, Clone)]
pub enum Begun {
    /// It has begun, and is on record; whoever holds the token may write to it.
    Fresh(RunToken),
    /// The key has its final result already.
    Finished(Box<Run>),
    /// Another process is at it.
    Busy {
        /// The run.
        id: RunId,
        /// Who: host and process.
        owner: String,
    },
}
