//! Panics: mistakes of ours that end in an error like any other.
//!
//! What a panic says may quote anything, so it is never shown; where it happened is.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};

use super::{Error, Outcome};

/// Where mistakes are told.
const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

/// More places than one mistake ever leads to.
const PLACES_LIMIT: usize = 8;

/// Where panics happened, on any thread.
static PLACES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes the place of the standard message, which repeats what a panic says.
pub(crate) fn mute_panics() {
    panic::set_hook(Box::new(|panic| {
        tracing::error!(place = panic.location().map(tracing::field::display), "a panic");
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() < PLACES_LIMIT {
            places.extend(panic.location().map(|place| format!("at {place}")));
        }
    }));
}

/// Does `work`; a panic in it is an error.
pub(crate) fn catch<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(bug()))
}

fn bug() -> Error {
    let places = std::mem::take(&mut *PLACES.lock().unwrap_or_else(PoisonError::into_inner));
    Error::new(Outcome::Machine, "airtight failed in a way that it should not")
        .with_findings(places)
        .hint(format!("this is a mistake in airtight; please report it: {ISSUES}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_without_its_words() {
        let error = catch(|| -> Result<(), Error> { panic!("s3cret") }).unwrap_err();
        assert_eq!(error.kind, Outcome::Machine);
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        assert!(error.hints[0].ends_with("/issues"), "{error:?}");
    }
}
