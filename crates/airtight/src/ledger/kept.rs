//! What of a value on record may be told again: exactly what was accepted, or nothing.

use airtight_core::redact::MASK;
use airtight_store::{Level, Run};

/// What the ledger keeps of the value that a run came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept<'r> {
    /// The value: JSON, as it was judged.
    Whole(&'r str),
    /// The value without its secrets: nobody judged that.
    Masked,
    /// No value.
    Missing,
}

impl<'r> Kept<'r> {
    /// Says what is kept of `run`.
    pub(crate) fn of(run: &'r Run) -> Self {
        match run.parsed_output.as_deref().filter(|_| run.summary.output_valid) {
            None => Self::Missing,
            Some(value) if run.summary.store != Level::Full && value.contains(MASK) => Self::Masked,
            Some(value) => Self::Whole(value),
        }
    }

    /// Returns the value, or why there is none to tell.
    pub(crate) fn value(self) -> Result<&'r str, &'static str> {
        match self {
            Self::Whole(value) => Ok(value),
            Self::Masked => Err("secrets in its value are masked"),
            Self::Missing => Err("its value is not on record"),
        }
    }
}
