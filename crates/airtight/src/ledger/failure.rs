//! What a ledger that fails means to who typed the command.

use airtight_store::StoreError;

use super::books::Purpose;
use crate::error::{Error, Outcome};

/// Says that the ledger at `place` did not do what was asked, and what to type next.
pub(super) fn store_error(error: StoreError, place: &str, purpose: Purpose) -> Error {
    if let Some(hint) = mistyped(&error) {
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
    let message = format!("the ledger `{place}` cannot be used");
    Error::new(Outcome::Store, message).caused_by(error).hint(hint)
}

/// Returns what to type instead, if nothing is wrong but what was typed.
fn mistyped(error: &StoreError) -> Option<&'static str> {
    if matches!(error, StoreError::NotFound { what: "run", .. }) {
        return Some("`airtight runs list` shows what there is");
    }
    if matches!(error, StoreError::Ambiguous { .. }) {
        return Some("`airtight runs list --id BEGINNING` shows them");
    }
    if matches!(error, StoreError::OtherJob { .. }) {
        return Some("`airtight runs show ID` shows that job");
    }
    if matches!(error, StoreError::Unkept { .. }) {
        return Some("reject it, or have it done again with `--store-level full`");
    }
    let is_open = matches!(error, StoreError::NotOver { .. });
    is_open.then_some("`airtight runs show ID` says who is at it")
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
