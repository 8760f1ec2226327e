//! Texts as the tables of the watch hold them: masked, without NUL, within their limits.

use airtight_core::redact::Redactor;
use serde_json::Value;

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
        fits(what, text)?;
        // PostgreSQL takes no NUL; what was said exactly is in the run.
        Ok(self.redactor.mask(text).replace('\0', "\u{fffd}"))
    }

    /// Returns what is kept of JSON, which stays JSON: secrets are masked string by string. Whatever is not
    /// JSON is a text.
    pub(super) fn json(self, what: &'static str, json: &str) -> Result<String, StoreError> {
        fits(what, json)?;
        let Ok(said) = serde_json::from_str::<Value>(json) else { return self.text(what, json) };
        let mut kept = said.clone();
        self.redactor.mask_value(&mut kept);
        Ok(if kept == said { json.to_owned() } else { kept.to_string() })
    }

    /// Returns what is kept of a text that may be absent.
    pub(super) fn maybe(
        self,
        what: &'static str,
        text: Option<&str>,
    ) -> Result<Option<String>, StoreError> {
        text.map(|text| self.text(what, text)).transpose()
    }

    /// Returns what is kept of the name of a service, which is a key: whoever compares it masks alike.
    pub(super) fn name(self, what: &'static str, name: &str) -> Result<String, StoreError> {
        let name = self.text(what, name)?;
        names(&[(what, &name)])?;
        Ok(name)
    }
}

fn fits(what: &'static str, text: &str) -> Result<(), StoreError> {
    if text.len() > TEXT_LIMIT {
        return Err(StoreError::TooLarge { what, size: text.len(), limit: TEXT_LIMIT });
    }
    Ok(())
}
