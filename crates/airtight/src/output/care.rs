//! How the failure of a run is told whose contract says what is at stake.

use airtight_core::run::Report;

use crate::source::ContractSource;

/// What is at stake in a run.
#[derive(Debug, Clone)]
pub(crate) struct Care {
    /// The contract, as people call it.
    name: String,
    is_critical: bool,
}

impl Care {
    /// Returns what is at stake, if the contract is that of a role or a critical one.
    pub(crate) fn of(source: &ContractSource, is_critical: bool) -> Option<Self> {
        let is_told = source.role().is_some() || is_critical;
        is_told.then(|| Self { name: source.label().to_owned(), is_critical })
    }

    /// Returns the message of a failure, so that nobody overlooks what failed.
    pub(super) fn told(&self, message: &str) -> String {
        let Self { name, is_critical } = self;
        if *is_critical {
            return format!("CRITICAL: the contract `{name}` is not met: {message}");
        }
        format!("the contract `{name}` is not met: {message}")
    }

    /// Returns what to do about a failure.
    pub(super) fn hints(&self, report: &Report) -> Vec<String> {
        let mut hints = Vec::new();
        if self.is_critical {
            hints.push("nothing that needs this answer may go on: there is none".to_owned());
        }
        if report.needs_review() {
            hints.push(format!(
                "what `{}` answered is kept and flagged: type `airtight runs review`",
                self.name
            ));
        }
        hints
    }
}
