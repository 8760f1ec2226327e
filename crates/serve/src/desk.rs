//! Who answers the questions of the gateway: the program behind this crate, which knows drivers and
//! settings.

#[cfg(test)]
pub(crate) mod nobody;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use airtight_core::codec::Usage;
use airtight_store::{ContractRow, Run, RunId};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;
use utoipa::ToSchema;

/// A question that a client puts.
#[derive(Debug, Clone)]
pub struct Question {
    /// The name of its run.
    pub run: RunId,
    /// Who is to answer: a driver, or a contract that names one.
    pub model: String,
    /// Standing instructions of the client.
    pub system: Option<String>,
    /// What is asked.
    pub prompt: String,
    /// What the answer must satisfy.
    pub demand: Demand,
    /// The most tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// What makes a second question the same.
    pub key: Option<String>,
}

/// What an answer must satisfy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// The contract that the model names.
    Named,
    /// The contract that the model names; without one, that it is any JSON object.
    AnyObject,
    /// This contract, whatever the model names.
    Schema(Schema),
}

/// A contract as the client wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schema {
    /// What the client calls it.
    pub name: Option<String>,
    /// The JSON Schema.
    pub text: String,
}

/// An answer that satisfies its contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The name of its run in the ledger.
    pub run: RunId,
    /// The exact value that was judged: JSON without spaces.
    pub value: String,
    /// What it used.
    pub usage: Usage,
    /// How it was obtained.
    pub rung: Option<String>,
    /// Whether its end is on record.
    pub record: Record,
}

/// Whether the end of a run is on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// It is.
    Stored,
    /// The ledger failed: the answer is worth more than its record.
    Missing,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What it means to the client.
    pub kind: FaultKind,
    /// What happened, and what to do next.
    pub message: String,
    /// What is wrong with the last answer, or with the contract.
    pub violations: Vec<Value>,
    /// The run, if one is on record.
    pub run: Option<RunId>,
}

impl Fault {
    /// Makes a fault without a run.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), violations: Vec::new(), run: None }
    }
}

/// What a fault means to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// There is no such model here.
    UnknownModel,
    /// The contract is refused, or cannot be put to this model.
    Contract,
    /// The model answered, and nothing satisfies the contract: the word is the outcome.
    NotMet(&'static str),
    /// The provider failed, or refuses the key.
    Provider(&'static str),
    /// Settings are missing or wrong.
    Setup,
    /// Another request with the same key is under way.
    Busy,
    /// The key belongs to another question.
    KeyTaken,
    /// The key has an answer, and the ledger does not keep it as it was.
    Unkept,
    /// The ledger cannot be used.
    Ledger,
    /// The server is about to end, or the client has gone.
    Stopped,
    /// A mistake of ours.
    Mistake,
}

/// What is to be judged by the contract of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// A value: JSON text.
    Value(String),
    /// What is on record as the value, else what the contract finds in what the model said.
    Found,
}

/// Why a value is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It breaks the contract: what is wrong with it.
    Violations(Vec<Violation>),
    /// The contract on record cannot be read any more.
    Contract,
    /// A mistake of ours.
    Mistake,
}

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Violation {
    /// Where: a JSON pointer.
    pub pointer: String,
    /// By which keyword of the contract.
    pub keyword: String,
    /// What is wrong, in words.
    pub message: String,
}

/// A setting that somebody made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What is in force.
    pub value: String,
    /// Who said so: a line of a file, a variable or a flag.
    pub origin: String,
    /// The layer of that: `project`, `user`, `contract`, `environment`, `tier` or `flag`.
    pub layer: String,
    /// Where weaker values were said.
    pub overruled: Vec<String>,
}

/// A verdict that is waited for: JSON without spaces, if the value satisfies the contract.
pub type Judging = Pin<Box<dyn Future<Output = Result<String, Unfit>> + Send>>;

/// Names that are looked for.
pub type Naming = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

/// An answer that is waited for. Dropped, it ends the run cleanly.
pub type Answering = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send>>;

/// Answers questions.
pub trait Desk: Send + Sync {
    /// Returns the names that `model` may have and that somebody stands behind now, as far as they can be
    /// listed.
    fn models(&self) -> Naming;

    /// Has a question answered. What is safe to show of the answer before its end goes to `growth`.
    fn answer(&self, question: Question, growth: Option<Arc<Growth>>) -> Answering;

    /// Returns what is in force.
    fn settings(&self) -> Vec<Setting>;

    /// Judges a value for `run` by the contract that it had, as it stands: nothing is mended.
    fn judge(&self, run: Run, contract: ContractRow, proposal: Proposal) -> Judging;
}

/// What may be shown of an answer before its end: a beginning that can still conform.
///
/// It only grows. It is never longer than the answer, so it needs no other bound.
#[derive(Debug, Default)]
pub struct Growth {
    text: Mutex<String>,
    grown: Notify,
}

impl Growth {
    /// Shows more.
    pub fn push(&self, more: &str) {
        if !more.is_empty() {
            self.text().push_str(more);
            self.grown.notify_one();
        }
    }

    /// Returns what is shown so far.
    pub fn so_far(&self) -> String {
        self.text().clone()
    }

    /// Waits for what comes after the first `from` bytes.
    pub(crate) async fn beyond(&self, from: usize) -> String {
        loop {
            let grown = self.grown.notified();
            match self.text().get(from..) {
                Some(more) if !more.is_empty() => return more.to_owned(),
                _ => {}
            }
            grown.await;
        }
    }

    fn text(&self) -> MutexGuard<'_, String> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
