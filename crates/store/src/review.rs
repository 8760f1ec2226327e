//! What people decided about runs.

use serde::Serialize;

use crate::run::Review;

/// One decision of a person about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Its number in the run, from 1.
    pub number: i64,
    /// What was decided.
    pub review: Review,
    /// By whom.
    pub who: String,
    /// When, in Unix milliseconds.
    pub at: i64,
    /// Why.
    pub note: Option<String>,
    /// The value until then: JSON.
    #[serde(serialize_with = "crate::form::serialize_json")]
    pub before: Option<String>,
    /// The value since: JSON.
    #[serde(serialize_with = "crate::form::serialize_json")]
    pub after: Option<String>,
}

/// A decision that is to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewDecision {
    /// This value is right: JSON that the caller has judged against the contract.
    Accept {
        /// The value.
        value: String,
    },
    /// Nothing in it is right.
    Reject,
}
