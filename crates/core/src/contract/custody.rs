//! What becomes of the runs of a contract.

use serde::{Deserialize, Serialize};

/// What becomes of the runs of a contract: how loudly they fail, what of them is stored, and for how
/// long. How they are asked and what they may spend is in [`Policy`](crate::run::Policy).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Custody {
    /// Whether nothing may go on without an answer: a failure is told as loudly as can be. Otherwise
    /// a failed run is kept and flagged for review.
    pub critical: bool,
    /// What is stored.
    pub store: Stored,
    /// For how many days it is kept; for ever if absent.
    pub keep_days: Option<u32>,
}

/// What is stored of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stored {
    /// Everything that was asked and said.
    #[default]
    Full,
    /// Everything, with secrets taken out.
    Masked,
    /// Outcomes, counts and times; nothing that was asked or said.
    Metadata,
}

impl Stored {
    /// Every level, the most first.
    pub const ALL: [Self; 3] = [Self::Full, Self::Masked, Self::Metadata];

    /// Returns the level of this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == word)
    }

    /// Returns the word for it in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Masked => "masked",
            Self::Metadata => "metadata",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn custody_reads_as_it_is_written() {
        let custody = Custody { critical: true, store: Stored::Masked, keep_days: Some(90) };
        let written = json!({ "critical": true, "store": "masked", "keep_days": 90 });
        assert_eq!(serde_json::to_value(custody).unwrap(), written);
        assert_eq!(serde_json::from_value::<Custody>(written).unwrap(), custody);
        assert_eq!(serde_json::from_value::<Custody>(json!({})).unwrap(), Custody::default());
        assert!(serde_json::from_value::<Custody>(json!({ "keeps": 1 })).is_err());
    }

    #[test]
    fn every_level_has_one_word() {
        for level in Stored::ALL {
            assert_eq!(Stored::named(level.name()), Some(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.name());
        }
    }
}
