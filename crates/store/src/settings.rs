//! How a ledger is opened.

use std::time::Duration;

use airtight_core::redact::Redactor;

/// How a ledger is opened.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether it is written to.
    pub access: Access,
    /// Masks error texts, and everything in runs that are stored masked.
    pub redactor: Redactor,
    /// How long to wait for a ledger that another process holds.
    pub patience: Duration,
    /// How long to try to reach a server that does not answer.
    pub reconnect: Duration,
}

/// Whether a ledger is written to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// It is made if it is missing, and brought up to date.
    #[default]
    Write,
    /// It is only read: every write is refused, and it must exist.
    Read,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            access: Access::Write,
            redactor: Redactor::new([]),
            // Other processes hold the ledger for milliseconds at a time; a copy or a check by hand
            // may take seconds.
            patience: Duration::from_secs(15),
            // A server that restarts, or fails over, is back within half a minute.
            reconnect: Duration::from_secs(30),
        }
    }
}
