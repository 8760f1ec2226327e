//! The three tiers: each may do more than the one below, and each is its own session.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who looks, who finds out why, and who repairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Tier {
    /// Tier 1 looks, and changes nothing.
    Observe,
    /// Tier 2 finds out why, and does what is safe.
    Investigate,
    /// Tier 3 repairs. There is nobody above it but people.
    Remediate,
}

/// A number that is no tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no tier {0}; there are 1 (observe), 2 (investigate) and 3 (remediate)")]
pub struct NoTier(pub i64);

impl Tier {
    /// Every tier, from the lowest.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Investigate, Self::Remediate];

    /// Returns its number, from 1.
    pub fn number(self) -> u8 {
        match self {
            Self::Observe => 1,
            Self::Investigate => 2,
            Self::Remediate => 3,
        }
    }

    /// Returns what it does, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Investigate => "investigate",
            Self::Remediate => "remediate",
        }
    }

    /// Returns the tier above, if there is one.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Observe => Some(Self::Investigate),
            Self::Investigate => Some(Self::Remediate),
            Self::Remediate => None,
        }
    }
}

impl TryFrom<i64> for Tier {
    type Error = NoTier;

    fn try_from(number: i64) -> Result<Self, NoTier> {
        let found = Self::ALL.into_iter().find(|tier| i64::from(tier.number()) == number);
        found.ok_or(NoTier(number))
    }
}

impl TryFrom<u8> for Tier {
    type Error = NoTier;

    fn try_from(number: u8) -> Result<Self, NoTier> {
        Self::try_from(i64::from(number))
    }
}

impl From<Tier> for u8 {
    fn from(tier: Tier) -> Self {
        tier.number()
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "tier {}", self.number())
    }
}
