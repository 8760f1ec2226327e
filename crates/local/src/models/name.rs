//! What weights are called: a word that is also a file's name.

use std::fmt;

use thiserror::Error;

/// How long a name may be: file systems take 255 bytes, and more is behind it.
const LIMIT_BYTES: usize = 100;

/// The name of weights; the same word on every system that files have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WeightsName(String);

/// Why a text is no name of weights.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a name of weights is made of at most {LIMIT_BYTES} letters, digits, dots, dashes and \
     underscores, a letter or digit first: `{0}`"
)]
pub struct NameError(String);

impl WeightsName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        if begins && text.len() <= LIMIT_BYTES && text.bytes().all(is_plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError(text.chars().take(LIMIT_BYTES).collect()))
    }

    /// Takes a name from the table of known weights.
    pub(super) fn known(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// Returns the word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WeightsName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
