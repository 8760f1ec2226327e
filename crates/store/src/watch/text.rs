//! Texts as the tables of the watch hold them: masked, without NUL, within their limits.

use airtight_core::redact::Redactor;

use crate::error::StoreError;
use crate::rows::{TEXT_LIMIT, names};

/// Makes texts fit to be stored.
#[derive(Clone, Copy)]
pub(super) struct Texts<'r> {
    pub(super) redactor: &'r Redactor,
}

impl Texts<'_> {
    /// Returns what is kept of a text.
    pub(super) fn text(self, what: &'static str, text: &str) -> Result<String, StoreError> {
        if text.len() > TEXT_LIMIT {
            return Err(StoreError::TooLarge { what, size: text.len(), limit: TEXT_LIMIT });
        }
        // PostgreSQL takes no NUL; what was said exactly is in the run.
        Ok(self.redactor.mask(text).replace('\0', "\u{fffd}"))
    }

    /// Returns what is kept of a text that may be absent.
    pub(super) fn maybe(
        self,
        what: &'static str,
        text: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        text.map(|text| self.text(what, text)).transpose()
    }

    /// Returns what is kept of the name of a service, which is a key.
    pub(super) fn name(self, what: &'static str, name: &str) -> Result<String, StoreError> {
        let name = self.text(what, name)?;
        names(&[(what, &name)])?;
        Ok(name)
    }
}
