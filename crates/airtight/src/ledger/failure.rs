//! What a ledger that fails means to who typed the command.

use airtight_store::StoreError;

use crate::error::{Error, Outcome};

/// Says that the ledger at `place` did not do what was asked, and what to type next.
pub(crate) fn store_error(error: StoreError, place: &str) -> Error {
    let (kind, hint) = match &error {
        StoreError::NotFound { what: "run", .. } => {
            (Outcome::Input, "`airtight runs list` shows what there is")
        }
        StoreError::Ambiguous { .. } => {
            (Outcome::Input, "`airtight runs list --id BEGINNING` shows them")
        }
        StoreError::NotOver { .. } => (Outcome::Input, "`airtight runs show ID` says who is at it"),
        StoreError::NotFound { .. } => (
            Outcome::Store,
            "record a run first: `airtight run`; or name another ledger by `--database`",
        ),
        StoreError::Newer { .. } => {
            (Outcome::Store, "or name another ledger by `--database`, or run without: `--no-store`")
        }
        _ => (Outcome::Store, "to run without a record: `--no-store`"),
    };
    let message = match kind {
        Outcome::Input => error.to_string(),
        _ => format!("the ledger `{place}` cannot be used"),
    };
    let told = Error::new(kind, message).hint(hint);
    if kind == Outcome::Input { told } else { told.caused_by(error) }
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
