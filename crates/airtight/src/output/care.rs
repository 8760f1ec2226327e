//! How the failure of a run is told whose contract says what is at stake.

use airtight_core::run::Report;

use crate::ledger::Books;
use crate::source::ContractSource;

/// What is at stake in a run.
#[derive(Debug, Clone)]
pub(crate) struct Care {
    /// The contract, as people call it.
    name: String,
    is_critical: bool,
    /// What to type to see the answers that nobody accepted, if they are kept.
    review: Option<String>,
}

impl Care {
    /// Returns what is at stake, if the contract is that of a role or a critical one.
    pub(crate) fn of(
        source: &ContractSource,
        is_critical: bool,
        books: Option<&Books>,
    ) -> Option<Self> {
        let is_told = source.role().is_some() || is_critical;
        let review = books.map(|books| books.command("runs review"));
        is_told.then(|| Self { name: source.label().to_owned(), is_critical, review })
    }

    /// Returns the message of a failure, so that nobody overlooks what failed.
    pub(super) fn told(&self, message: &str) -> String {
        let Self { name, is_critical, .. } = self;
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
        if let (true, Some(command)) = (report.needs_review(), &self.review) {
            hints.push(format!(
                "what `{}` answered is kept and flagged: type `{command}`",
                self.name
            ));
        }
        hints
    }
}
