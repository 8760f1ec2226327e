//! Strings that must be quoted from the source text.

use std::sync::Arc;

use jsonschema::json::Node as _;
use jsonschema::{Keyword, ValidationError};
use serde_json::Value;

use super::GROUNDED;
use crate::json::meter::Meter;
use crate::json::probe::{Probe, Tape};

/// The text that grounded strings must be quoted from.
///
/// A string is grounded if it occurs in the text with every run of white space, in both, read as
/// one space and white space around the string ignored: models rewrap lines, and that changes
/// nothing. Everything else, case included, must be the same. A string of nothing but white space
/// quotes nothing, so it is not grounded.
#[derive(Debug, Clone)]
pub struct Source(Arc<str>);

impl Source {
    /// Takes the text.
    pub fn new(text: &str) -> Self {
        Self(normalised(text).into())
    }

    /// Claims that `quote` occurs in the text.
    pub fn contains(&self, quote: &str) -> bool {
        let quote = normalised(quote);
        !quote.is_empty() && self.find(&quote).is_some()
    }

    /// Returns where `quote`, which is normalised, occurs in the text.
    fn find(&self, quote: &str) -> Option<usize> {
        memchr::memmem::find(self.0.as_bytes(), quote.as_bytes())
    }

    /// Claims that `quote` occurs in the text, and pays for what was read to find it.
    ///
    /// Paid for when it is done: one search is bounded by the text, it is their number that is not.
    fn contains_at_cost(&self, quote: &str, meter: &Meter) -> bool {
        let quote = normalised(quote);
        if quote.is_empty() {
            return false;
        }
        let found = self.find(&quote);
        meter.spend_search(found.unwrap_or(self.0.len()).saturating_add(quote.len()));
        found.is_some()
    }
}

fn normalised(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Claims that `schema` names the keyword anywhere, if only as a property that is called so.
pub(in crate::contract) fn names_grounding(schema: &Value) -> bool {
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(members) if members.contains_key(GROUNDED) => return true,
            Value::Object(members) => left.extend(members.values()),
            Value::Array(items) => left.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// The keyword `x-grounded`.
#[derive(Debug)]
pub(super) struct Grounded(Demand);

#[derive(Debug)]
enum Demand {
    Quote,
    Nothing,
}

impl Grounded {
    pub(super) fn new(demanded: bool) -> Self {
        Self(if demanded { Demand::Quote } else { Demand::Nothing })
    }

    fn broken(&self, instance: &Probe<'_>) -> Option<&'static str> {
        let string = instance.as_string()?;
        let meter = instance.meter();
        match (&self.0, instance.source()) {
            (Demand::Nothing, _) => None,
            (Demand::Quote, None) => Some("cannot be judged without a source text"),
            (Demand::Quote, Some(source)) if source.contains_at_cost(&string, meter) => None,
            (Demand::Quote, Some(_)) => Some("does not occur in the source text; quote it exactly"),
        }
    }
}

impl<'i> Keyword<'i, Tape> for Grounded {
    fn validate(&self, instance: Probe<'i>) -> Result<(), ValidationError<'i>> {
        match self.broken(&instance) {
            Some(message) => Err(ValidationError::custom(message)),
            None => Ok(()),
        }
    }

    fn is_valid(&self, instance: Probe<'i>) -> bool {
        self.broken(&instance).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("the fox", true; "verbatim")]
    #[test_case("  quick\tbrown \n fox ", true; "other white space")]
    #[test_case("the quick", false; "not there")]
    #[test_case("The Fox", false; "other case")]
    #[test_case(" ", false; "nothing but white space")]
    #[test_case("", false; "empty")]
    fn quotes_are_found_whatever_their_line_breaks(quote: &str, expected: bool) {
        let source = Source::new("A quick  brown\nfox, and the\r\n fox’s den.");
        assert_eq!(source.contains(quote), expected);
    }
}
