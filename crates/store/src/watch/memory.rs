//! Memories: what sessions learnt, who learnt it, and how far it is trusted.

use airtight_core::watch::{self, Confidence, MemoryChange, MemoryKey, MemorySource, Tier, Trust};
use serde::Serialize;

use crate::error::StoreError;
use crate::rows::Columns;

/// One memory, as it stands. Its confidence at some time follows from `confidence` and
/// `reinforced_at`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its number; 0 for one that is new.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// The service that it is about; absent if it is general.
    pub service: Option<String>,
    /// Its category.
    pub category: String,
    /// What was observed.
    pub observation: String,
    /// The confidence when it was last reinforced or contradicted, in thousandths.
    pub confidence: i64,
    /// When that was, in Unix milliseconds.
    pub reinforced_at: i64,
    /// Whether it may be told to sessions.
    pub trust: Trust,
    /// The tier that learnt it; absent if an operator wrote it.
    pub tier: Option<i64>,
    /// The session that learnt it.
    pub session: Option<String>,
    /// When it was learnt.
    pub created_at: i64,
}

/// What changes in a memory. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryUpdate {
    /// Its name.
    pub id: String,
    /// The confidence, in thousandths.
    pub confidence: Option<i64>,
    /// When it was last reinforced.
    pub reinforced_at: Option<i64>,
    /// Whether it may be told.
    pub trust: Option<Trust>,
}

/// Which memories are meant. What is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryFilter {
    /// One service.
    pub service: Option<String>,
    /// One category.
    pub category: Option<String>,
    /// Pending, trusted or refused ones.
    pub trust: Option<Trust>,
    /// Those whose stored confidence is at least so many thousandths.
    pub least: Option<i64>,
}

/// A memory that somebody writes down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// The service that it is about; absent if it is general.
    pub service: Option<String>,
    /// Its category.
    pub category: String,
    /// What was observed.
    pub observation: String,
    /// The confidence, in thousandths.
    pub confidence: i64,
}

/// What somebody changes in a memory. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryEdit {
    /// The service that it is about; `Some(None)` makes it general.
    pub service: Option<Option<String>>,
    /// Its category.
    pub category: Option<String>,
    /// What was observed.
    pub observation: Option<String>,
}

impl Memory {
    /// Returns it as core knows it; nothing of a category that only a newer version knows.
    pub fn known(self) -> Option<watch::Memory> {
        let source = match (self.session, self.tier.and_then(|tier| Tier::try_from(tier).ok())) {
            (Some(id), Some(tier)) => MemorySource::Session { id, tier },
            _ => MemorySource::Operator,
        };
        Some(watch::Memory {
            key: MemoryKey::new(self.service.as_deref(), &self.category).ok()?,
            id: self.id,
            observation: self.observation,
            confidence: Confidence::from_thousandths(u16::try_from(self.confidence).ok()?),
            confirmed_at_ms: self.reinforced_at,
            trust: self.trust,
            source,
        })
    }
}

impl MemoryUpdate {
    /// Returns what `change` means to a memory that is on record already.
    pub fn of(change: &MemoryChange) -> Option<Self> {
        let worth = |confidence: Confidence| Some(i64::from(confidence.thousandths()));
        let update = |id: &str| Self { id: id.to_owned(), ..Self::default() };
        match change {
            MemoryChange::Insert(_) => None,
            MemoryChange::Confirm { id, confidence, confirmed_at_ms } => Some(Self {
                confidence: worth(*confidence),
                reinforced_at: Some(*confirmed_at_ms),
                ..update(id)
            }),
            MemoryChange::Weaken { id, confidence } => {
                Some(Self { confidence: worth(*confidence), ..update(id) })
            }
            MemoryChange::Trust { id, trust } => Some(Self { trust: Some(*trust), ..update(id) }),
        }
    }
}

pub(super) const COLUMNS: &str = "seq, id, service, category, observation, confidence, \
     reinforced_at, trust, tier, session, created_at";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Memory, StoreError> {
    Ok(Memory {
        number: columns.take()?,
        id: columns.take()?,
        service: columns.take()?,
        category: columns.take()?,
        observation: columns.take()?,
        confidence: columns.take()?,
        reinforced_at: columns.take()?,
        trust: trust(&columns.take::<String>()?),
        tier: columns.take()?,
        session: columns.take()?,
        created_at: columns.take()?,
    })
}

/// Returns the trust of this word; what a newer version means by its word, a person should find out.
fn trust(word: &str) -> Trust {
    Trust::named(word).unwrap_or(Trust::Pending)
}
