//! What the ledger tells about a run.

use airtight_core::codec::Usage;
use airtight_core::price::Cost;
use serde::{Deserialize, Serialize, Serializer};

use super::RunId;
use crate::retention::Level;

/// What lists tell about a run: everything but its texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Its number in the ledger: runs are ordered by it.
    pub number: i64,
    /// Its name.
    pub id: RunId,
    /// The run that it belongs to, or goes on from.
    pub parent: Option<RunId>,
    /// Its idempotency key.
    pub key: Option<String>,
    /// The fingerprint of its contract.
    pub fingerprint: String,
    /// The name of its contract.
    pub contract: String,
    /// The version of its contract.
    pub contract_version: String,
    /// What drove the model.
    pub driver: String,
    /// Who served the model.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How the contract was put to it.
    pub mode: String,
    /// Whether it is over.
    pub state: RunState,
    /// How it ended.
    pub outcome: Option<String>,
    /// How the value was obtained.
    pub rung: Option<String>,
    /// Whether the output satisfies the contract.
    pub output_valid: bool,
    /// Whether a person looked at it, or should.
    pub review: Review,
    /// Answers that were judged.
    pub attempts: i64,
    /// Answers that were stopped early.
    pub early_cancels: i64,
    /// An estimate of the tokens which that saved.
    pub tokens_saved: i64,
    /// Tokens.
    pub usage: Usage,
    /// What they cost, if known.
    pub cost_usd: Option<Cost>,
    /// When it began, in Unix milliseconds.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// How long it took, in milliseconds.
    pub elapsed_ms: Option<i64>,
    /// The batch that it is part of.
    pub batch: Option<String>,
    /// Its place in the batch.
    pub position: Option<i64>,
    /// How much of it is stored.
    pub store: Level,
    /// When it may be deleted.
    pub expires_at: Option<i64>,
    /// The process at it: host and process, for runs that are not over.
    pub owner: Option<String>,
}

/// Everything about a run. Its JSON form keeps raw and parsed output apart: `output`,
/// `parsedOutput`, `outputValid`, `outputErrors`.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Everything but its texts.
    pub summary: RunSummary,
    /// The job.
    pub prompt: Option<String>,
    /// Standing instructions.
    pub system: Option<String>,
    /// The document that the job was about, exactly.
    pub input: Option<Vec<u8>>,
    /// What the model said, exactly as received.
    pub output: Option<Vec<u8>>,
    /// The accepted value: JSON.
    pub parsed_output: Option<String>,
    /// What is wrong with the output: JSON.
    pub output_errors: Option<String>,
    /// What was changed in the accepted answer: JSON.
    pub edits: Option<String>,
    /// What the provider was not asked to enforce: JSON.
    pub losses: Option<String>,
    /// The places of the accepted value that nobody could look up: JSON.
    pub unchecked: Option<String>,
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error as _, SerializeMap as _};

        let summary = serde_json::to_value(&self.summary).map_err(S::Error::custom)?;
        let members = summary.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(None)?;
        for (name, member) in members {
            map.serialize_entry(name, member)?;
        }
        map.serialize_entry("prompt", &self.prompt)?;
        map.serialize_entry("system", &self.system)?;
        map.serialize_entry("input", &crate::form::Shown(self.input.as_deref()))?;
        map.serialize_entry("output", &crate::form::Shown(self.output.as_deref()))?;
        map.serialize_entry("parsedOutput", &crate::form::Json(self.parsed_output.as_deref()))?;
        map.serialize_entry("outputErrors", &crate::form::Json(self.output_errors.as_deref()))?;
        map.serialize_entry("edits", &crate::form::Json(self.edits.as_deref()))?;
        map.serialize_entry("losses", &crate::form::Json(self.losses.as_deref()))?;
        map.serialize_entry("unchecked", &crate::form::Json(self.unchecked.as_deref()))?;
        map.end()
    }
}

/// Whether a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// A process is at it.
    Open,
    /// It is to be tried again later; nobody is at it.
    Postponed,
    /// Its process is gone before it was over.
    Unknown,
    /// It is over.
    Done,
}

/// Whether a person looked at a run, or should.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Review {
    /// Nobody need.
    #[default]
    None,
    /// Somebody should.
    Flagged,
    /// Somebody accepted a value for it.
    Accepted,
    /// Somebody rejected it.
    Rejected,
}

impl Review {
    /// Returns the word for it in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Flagged => "flagged",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }

    pub(crate) fn named(word: &str) -> Self {
        match word {
            "none" => Self::None,
            "accepted" => Self::Accepted,
            "rejected" => Self::Rejected,
            // What a newer version means by its word, a person should find out.
            _ => Self::Flagged,
        }
    }
}
