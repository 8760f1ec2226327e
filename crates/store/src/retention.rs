//! What of a run is kept, and for how long: the policy of its contract, enforced at the write.

use std::borrow::Cow;
use std::time::Duration;

use airtight_core::redact::{MASK, Redactor};
use serde::{Deserialize, Serialize};

/// How much of a run is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Everything, exactly.
    #[default]
    Full,
    /// Everything, with secrets masked before they reach the disk.
    Masked,
    /// No texts: who, when, how it ended and what it cost.
    Metadata,
}

impl Level {
    /// Returns the word for it in settings and in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Masked => "masked",
            Self::Metadata => "metadata",
        }
    }

    /// Returns the level of this word; a word of a newer version keeps the least.
    pub(crate) fn named(word: &str) -> Self {
        match word {
            "full" => Self::Full,
            "masked" => Self::Masked,
            _ => Self::Metadata,
        }
    }
}

/// What of a run is kept, and for how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// How much is stored.
    pub level: Level,
    /// How long after its end, or after its beginning if it has none, if not for ever.
    pub keep: Option<Duration>,
}

/// Applies a level to what is about to be written.
#[derive(Clone, Copy)]
pub(crate) struct Sieve<'r> {
    pub(crate) level: Level,
    pub(crate) redactor: &'r Redactor,
}

impl Sieve<'_> {
    /// Returns the bytes that may be stored.
    pub(crate) fn bytes<'b>(&self, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        match self.level {
            Level::Full => Some(Cow::Borrowed(bytes)),
            Level::Metadata => None,
            Level::Masked => {
                let text = String::from_utf8_lossy(bytes);
                Some(Cow::Owned(self.redactor.mask(&text).into_owned().into_bytes()))
            }
        }
    }

    /// Returns the JSON text that may be stored. It stays JSON: what a mask would break is masked
    /// whole.
    pub(crate) fn json(&self, text: &str) -> Option<String> {
        match self.level {
            Level::Full => Some(text.to_owned()),
            Level::Metadata => None,
            Level::Masked => Some(match self.redactor.mask(text) {
                Cow::Borrowed(text) => text.to_owned(),
                Cow::Owned(masked) if is_json(&masked) => masked,
                Cow::Owned(_) => format!("\"{MASK}\""),
            }),
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_decides_what_reaches_the_disk() {
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let sieve = |level| Sieve { level, redactor: &redactor };
        let said = br#"{"a":"hunter2-hunter2"}"#;
        assert_eq!(sieve(Level::Full).bytes(said).unwrap(), &said[..]);
        assert_eq!(sieve(Level::Masked).bytes(said).unwrap(), &br#"{"a":"[masked]"}"#[..]);
        assert_eq!(sieve(Level::Metadata).bytes(said), None);
        assert_eq!(sieve(Level::Metadata).json("{}"), None);
    }

    #[test]
    fn what_a_mask_would_break_is_masked_whole() {
        let redactor = Redactor::new(["1234567890"]);
        let sieve = Sieve { level: Level::Masked, redactor: &redactor };
        assert_eq!(sieve.json(r#"{"n":1234567890}"#).unwrap(), r#""[masked]""#);
        assert_eq!(sieve.json(r#"{"n":"1234567890"}"#).unwrap(), r#"{"n":"[masked]"}"#);
    }
}
