//! Which runs are meant, and how many at a time.

use crate::run::{Review, RunState};

/// Which runs are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Began at this time or later, in Unix milliseconds.
    pub since: Option<i64>,
    /// Began before this time.
    pub until: Option<i64>,
    /// The name of the contract, or the beginning of its fingerprint (12 digits or more).
    pub contract: Option<String>,
    /// The version of the contract.
    pub contract_version: Option<String>,
    /// What drove the model.
    pub driver: Option<String>,
    /// Who served the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// How it ended.
    pub outcome: Option<String>,
    /// How the value was obtained.
    pub rung: Option<String>,
    /// Whether it satisfies the contract.
    pub valid: Option<Validity>,
    /// Whether it is over.
    pub state: Option<RunState>,
    /// Whether a person looked at it, or should.
    pub review: Option<Review>,
    /// The batch.
    pub batch: Option<String>,
    /// The run that it belongs to.
    pub parent: Option<String>,
    /// The beginning of its name.
    pub id: Option<String>,
    /// What occurs in its name, or in that of its contract, its provider, its model or its batch, in
    /// upper or lower case of ASCII letters.
    pub search: Option<String>,
}

/// Whether the output satisfies the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// It does.
    Valid,
    /// It does not, or there is none.
    Invalid,
}

/// The most rows that one page may have: a page is held in memory.
pub const PAGE_LIMIT: u32 = 10_000;

/// One page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many, at most [`PAGE_LIMIT`].
    pub limit: u32,
    /// Go on after the row of this number; absent, from the beginning.
    pub after: Option<i64>,
    /// Which end is the beginning.
    pub order: Order,
}

/// Which end of a list is its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest comes first.
    #[default]
    NewestFirst,
    /// The oldest comes first.
    OldestFirst,
}

impl Default for Page {
    fn default() -> Self {
        Self { limit: 50, after: None, order: Order::NewestFirst }
    }
}
