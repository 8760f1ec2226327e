//! Memories: what sessions and operators wrote down for later sessions.
//!
//! A memory is data about services, with a source and a confidence, never an order. What comes from a
//! session that read what strangers wrote is told to nobody until somebody gives leave.

mod block;
mod confidence;
#[cfg(test)]
mod laws;
mod learn;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tier::Tier;
use crate::nearest;

pub use block::{MEMORY_BUDGET_TOKENS, MemoryBlock, memory_block};
pub use confidence::{Confidence, FADING_MS, GRACE_MS};
pub use learn::{
    Learned, MemoryChange, MemoryClaim, MemoryPolicy, NewMemory, OBSERVATION_LIMIT_CHARS,
    SESSION_CLAIMS_LIMIT, approve, learn,
};

/// What a memory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// How long things take, and when they happen.
    Timing,
    /// What needs what.
    Dependency,
    /// How a service behaves.
    Behavior,
    /// What helps.
    Remediation,
    /// What is planned.
    Maintenance,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 5] =
        [Self::Timing, Self::Dependency, Self::Behavior, Self::Remediation, Self::Maintenance];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timing => "timing",
            Self::Dependency => "dependency",
            Self::Behavior => "behavior",
            Self::Remediation => "remediation",
            Self::Maintenance => "maintenance",
        }
    }

    /// Returns the category of this name, in letters of any case.
    pub fn named(name: &str) -> Result<Self, NoCategory> {
        let found = Self::ALL.into_iter().find(|it| it.name().eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| NoCategory(name.trim().to_owned()))
    }
}

/// A word that is no category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoCategory(pub String);

impl std::error::Error for NoCategory {}

impl fmt::Display for NoCategory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Category::ALL.map(Category::name);
        write!(out, "{:?} is no category; there are {}", self.0, names.join(", "))?;
        match nearest(&self.0, names) {
            Some(name) => write!(out, ". Did you mean {name}?"),
            None => Ok(()),
        }
    }
}

/// What a memory is about: memories of one key may contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemoryKey {
    /// The service, if it is about one.
    pub service: Option<String>,
    /// The category.
    pub category: Category,
}

impl MemoryKey {
    /// Reads `category` or `service:category`, split at the first colon if anything precedes it.
    pub fn parse(key: &str) -> Result<Self, NoCategory> {
        match key.trim().split_once(':') {
            Some((service, category)) if !service.trim().is_empty() => {
                Self::new(Some(service), category)
            }
            _ => Self::new(None, key),
        }
    }

    /// Makes the key of a service, if there is one, and the name of a category.
    pub fn new(service: Option<&str>, category: &str) -> Result<Self, NoCategory> {
        let service = service.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        Ok(Self { service, category: Category::named(category)? })
    }
}

impl fmt::Display for MemoryKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.service {
            Some(service) => write!(out, "{service}:{}", self.category.name()),
            None => out.write_str(self.category.name()),
        }
    }
}

/// Who wrote a memory down.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MemorySource {
    /// A person.
    Operator,
    /// A session.
    Session {
        /// Its id.
        id: String,
        /// Its tier.
        tier: Tier,
    },
}

/// Whether a memory is told to sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is.
    Trusted,
    /// Somebody must give leave first.
    Pending,
    /// Somebody refused it, and it stays refused.
    Rejected,
}

impl Trust {
    /// Every state of trust.
    pub const ALL: [Self; 3] = [Self::Trusted, Self::Pending, Self::Rejected];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Pending => "pending",
            Self::Rejected => "rejected",
        }
    }

    /// Returns the state of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trust| trust.name() == name)
    }
}

/// A memory as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub key: MemoryKey,
    /// What was observed.
    pub observation: String,
    /// What it was worth when it was confirmed last.
    pub confidence: Confidence,
    /// When that was.
    pub confirmed_at_ms: i64,
    /// Whether it is told.
    pub trust: Trust,
    /// Who wrote it down.
    pub source: MemorySource,
}

impl Memory {
    /// Returns what it is worth at `now_ms`.
    pub fn confidence_at(&self, now_ms: i64) -> Confidence {
        self.confidence.faded(self.confirmed_at_ms, now_ms)
    }

    /// Claims that it is worth enough to count; what is not stays on record.
    pub fn is_active_at(&self, now_ms: i64) -> bool {
        self.confidence_at(now_ms).is_enough()
    }

    /// Claims that sessions are told of it, if there is room.
    pub fn is_told_at(&self, now_ms: i64) -> bool {
        self.trust == Trust::Trusted && self.is_active_at(now_ms)
    }

    /// Claims that it says the same as `observation`.
    pub fn says(&self, observation: &str) -> bool {
        same_observation(&self.observation, observation)
    }
}

/// Claims that two observations are the same: letters of any case, white space of any kind and
/// amount, full stops at the end or not.
///
/// Everything else makes a difference: a number, a word, their order. Two sentences that mean the same
/// are two observations, for nobody but a model could tell.
pub fn same_observation(left: &str, right: &str) -> bool {
    plain_observation(left) == plain_observation(right)
}

/// Returns what is compared of an observation.
pub(crate) fn plain_observation(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn key(service: Option<&str>, category: Category) -> MemoryKey {
        MemoryKey { service: service.map(str::to_owned), category }
    }

    /// CO-51: the key of a structured memory.
    #[test_case("timing" => Ok(key(None, Category::Timing)); "a category alone")]
    #[test_case("caddy:dependency" => Ok(key(Some("caddy"), Category::Dependency)))]
    #[test_case(" caddy : Behavior " => Ok(key(Some("caddy"), Category::Behavior)); "white space")]
    #[test_case("caddy:reverse:proxy" => Err(NoCategory("reverse:proxy".to_owned())); "the first colon")]
    #[test_case(":timing" => Err(NoCategory(":timing".to_owned())); "nothing precedes")]
    #[test_case("" => Err(NoCategory(String::new())); "nothing")]
    #[test_case("jellyfin/restart-order" => Err(NoCategory("jellyfin/restart-order".to_owned())))]
    fn co_51_a_key_is_split_at_its_first_colon(text: &str) -> Result<MemoryKey, NoCategory> {
        MemoryKey::parse(text)
    }

    /// CO-50: unknown categories are refused, and the one that was meant is named.
    #[test]
    fn co_50_an_unknown_category_says_what_there_is() {
        let error = MemoryKey::parse("behaviour").unwrap_err().to_string();
        let expected = "\"behaviour\" is no category; there are timing, dependency, behavior, \
            remediation, maintenance. Did you mean behavior?";
        assert_eq!(error, expected);
    }

    #[test_case("Takes 60 s  to start.", "takes 60 s\nto start" => true; "case, space, full stop")]
    #[test_case("takes 60 s", "takes 61 s" => false; "a number")]
    #[test_case("a b", "b a" => false; "order")]
    #[test_case("a", "a!" => false; "other marks")]
    #[test_case("ÄB", "äb" => true; "letters beyond ASCII")]
    fn co_53_sameness_forgives_case_space_and_full_stops(left: &str, right: &str) -> bool {
        same_observation(left, right)
    }

    #[test]
    fn keys_are_written_as_they_are_read() {
        for text in ["timing", "caddy:maintenance"] {
            assert_eq!(MemoryKey::parse(text).unwrap().to_string(), text);
        }
    }
}
