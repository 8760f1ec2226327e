//! How much an event matters. There are three levels; every other word becomes one of them, and what
//! was said stays on record.

use serde::{Deserialize, Serialize};

use crate::nearest;

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Needs attention soon.
    Warning,
    /// Users are affected now.
    Critical,
}

/// A word that is no level, and the level that it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelEdit {
    /// What was said.
    pub said: String,
    /// What it became.
    pub became: Level,
    /// Why.
    pub by: LevelReason,
}

/// Why a word was taken for a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelReason {
    /// It is the level in other letters: `WARNING`.
    Case,
    /// It means the same: `error`.
    Synonym,
    /// It is a slip: `warnig`.
    Slip,
    /// It is neither: what nobody understands is worth knowing.
    Unknown,
}

/// Words that mean a level.
const SYNONYMS: [(&str, Level); 9] = [
    ("warn", Level::Warning),
    ("degraded", Level::Warning),
    ("error", Level::Critical),
    ("err", Level::Critical),
    ("fatal", Level::Critical),
    ("failure", Level::Critical),
    ("failed", Level::Critical),
    ("crit", Level::Critical),
    ("emergency", Level::Critical),
];

impl Level {
    /// Every level, from the least.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// Returns the level of exactly this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Returns the level that was meant by `said`, and the edit if it was said differently.
    pub fn normalise(said: &str) -> (Self, Option<LevelEdit>) {
        if let Some(level) = Self::named(said) {
            return (level, None);
        }
        let (became, by) = Self::meant(said.trim());
        (became, Some(LevelEdit { said: said.to_owned(), became, by }))
    }

    fn meant(said: &str) -> (Self, LevelReason) {
        let word = said.to_lowercase();
        if let Some(level) = Self::named(&word) {
            return (level, LevelReason::Case);
        }
        let words = || Self::ALL.map(|level| (level.name(), level)).into_iter().chain(SYNONYMS);
        if let Some((_, level)) = words().find(|(name, _)| *name == word) {
            return (level, LevelReason::Synonym);
        }
        let near = nearest(&word, words().map(|(name, _)| name));
        match words().find(|(name, _)| Some(*name) == near) {
            Some((_, level)) => (level, LevelReason::Slip),
            None => (Self::Info, LevelReason::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    /// CO-40: levels are exactly these three.
    #[test]
    fn co_40_a_level_that_is_one_is_not_edited() {
        for level in Level::ALL {
            assert_eq!(Level::normalise(level.name()), (level, None));
        }
    }

    #[test_case("warn", Level::Warning, LevelReason::Synonym)]
    #[test_case("degraded", Level::Warning, LevelReason::Synonym)]
    #[test_case("error", Level::Critical, LevelReason::Synonym)]
    #[test_case("err", Level::Critical, LevelReason::Synonym)]
    #[test_case("fatal", Level::Critical, LevelReason::Synonym)]
    #[test_case("failure", Level::Critical, LevelReason::Synonym)]
    #[test_case("Failed", Level::Critical, LevelReason::Synonym)]
    #[test_case("CRITICAL", Level::Critical, LevelReason::Case)]
    #[test_case("INFO", Level::Info, LevelReason::Case)]
    #[test_case(" Warning ", Level::Warning, LevelReason::Case; "white space")]
    #[test_case("warnig", Level::Warning, LevelReason::Slip; "the slip of the seed")]
    #[test_case("critcal", Level::Critical, LevelReason::Slip)]
    #[test_case("errors", Level::Critical, LevelReason::Slip)]
    #[test_case("ok", Level::Info, LevelReason::Unknown)]
    #[test_case("success", Level::Info, LevelReason::Unknown)]
    #[test_case("healthy", Level::Info, LevelReason::Unknown)]
    #[test_case("debug", Level::Info, LevelReason::Unknown)]
    #[test_case("health-check-success", Level::Info, LevelReason::Unknown)]
    #[test_case("", Level::Info, LevelReason::Unknown; "nothing")]
    fn co_41_every_other_word_becomes_a_level_on_record(
        said: &str,
        became: Level,
        by: LevelReason,
    ) {
        let edit = LevelEdit { said: said.to_owned(), became, by };
        assert_eq!(Level::normalise(said), (became, Some(edit)));
    }
}
