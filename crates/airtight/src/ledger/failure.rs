//! What a ledger that fails means to who typed the command.

use airtight_store::StoreError;

use super::books::{Books, Purpose};
use crate::error::{Error, Outcome};

/// Says that the ledger did not do what was asked, and what to type next.
pub(super) fn store_error(error: StoreError, books: &Books, purpose: Purpose) -> Error {
    if let Some(hint) = mistyped(&error, books) {
        return Error::new(Outcome::Input, error.to_string()).hint(hint);
    }
    let hint = if matches!(error, StoreError::NotFound { .. } | StoreError::Empty { .. }) {
        "record a run first: `airtight run`; or name another ledger by `--database`"
    } else {
        match purpose {
            Purpose::Record => "to run without a record: `--no-store`",
            Purpose::Ask => "to ask another ledger: `--database PATH`",
            Purpose::Need => "to use another ledger: `--database PATH`",
        }
    };
    let message = format!("the ledger `{}` cannot be used", books.place());
    Error::new(Outcome::Store, message).caused_by(error).hint(hint)
}

/// Returns what to type instead, if nothing is wrong but what was typed.
fn mistyped(error: &StoreError, books: &Books) -> Option<String> {
    let told = |words: &str, what: &str| Some(format!("`{}` {what}", books.command(words)));
    if matches!(error, StoreError::NotFound { what: "run", .. }) {
        return told("runs list", "shows what there is");
    }
    if matches!(error, StoreError::Ambiguous { .. }) {
        return told("runs list --id BEGINNING", "shows them");
    }
    if matches!(error, StoreError::OtherJob { .. }) {
        return told("runs show ID", "shows that job");
    }
    if matches!(error, StoreError::Unkept { .. }) {
        return Some("reject it, or have it done again with `--store-level full`".to_owned());
    }
    if matches!(error, StoreError::NotOver { .. }) {
        return told("runs show ID", "says who is at it");
    }
    None
}

/// Says that a run is over and its end is not on record.
pub(crate) fn unstored(error: &StoreError) -> String {
    let mut words = format!("the run is not on record: {error}");
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        next = cause.source();
    }
    words
}
