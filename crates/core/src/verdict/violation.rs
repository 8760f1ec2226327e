//! What is wrong with a value, said so that a model can act on it.

use serde::Serialize;

use crate::excerpt;
use crate::json::Pointer;

/// How many violations a model is told at once: it mends the first ones and is told the rest.
const LISTED: usize = 20;

/// How many characters of a place or a message a model is told.
const QUOTE_LIMIT_CHARS: usize = 500;

/// One way in which a value breaks the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Where in the value.
    pub pointer: Pointer,
    /// The keyword or rule that is broken.
    pub keyword: String,
    /// What is wrong and what would be right; may quote the value.
    pub message: String,
    /// The same without any part of the value.
    pub masked: String,
}

impl Violation {
    /// Returns one line for a model; `within` is the member that holds the value, if one does.
    pub(crate) fn told(&self, within: Option<&str>) -> String {
        let wrapper = within.map(|member| format!("/{member}")).unwrap_or_default();
        let place = format!("{wrapper}{}", self.pointer.as_str());
        let place = if place.is_empty() { "(root)" } else { &place };
        let [place, message] =
            [place, &self.message].map(|text| excerpt(text, QUOTE_LIMIT_CHARS, "…"));
        format!("- {place}: {message}")
    }
}

/// Everything wrong with a value, up to a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Violations {
    /// The first of them.
    pub list: Vec<Violation>,
    /// Whether there are, or may be, more.
    pub more: bool,
}

impl Violations {
    /// Claims that nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the list for a model, a line each; `within` is the member that holds the value, if
    /// one does.
    pub fn told(&self, within: Option<&str>) -> String {
        let mut lines: Vec<String> =
            self.list.iter().take(LISTED).map(|violation| violation.told(within)).collect();
        if self.more || self.list.len() > LISTED {
            lines.push("- and more".to_owned());
        }
        lines.join("\n")
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self { list: vec![violation], more: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violation(pointer: Pointer, message: &str) -> Violation {
        Violation {
            pointer,
            keyword: "type".to_owned(),
            message: message.to_owned(),
            masked: String::new(),
        }
    }

    #[test]
    fn a_model_is_told_places_as_it_wrote_them() {
        let both = [
            violation(Pointer::root(), "no array"),
            violation(Pointer::root().index(0).key("a"), "no number"),
        ];
        let violations = Violations { list: both.to_vec(), more: true };
        assert_eq!(violations.told(None), "- (root): no array\n- /0/a: no number\n- and more");
        let wrapped = "- /value: no array\n- /value/0/a: no number\n- and more";
        assert_eq!(violations.told(Some("value")), wrapped);
    }

    #[test]
    fn what_a_model_is_told_is_bounded() {
        let long = "x".repeat(10_000);
        let one = violation(Pointer::root().key("a"), &long);
        let violations = Violations { list: vec![one; 50], more: false };
        let told = violations.told(None);
        assert_eq!(told.lines().count(), LISTED + 1);
        assert!(told.ends_with("x…\n- and more") && told.chars().count() < LISTED * 520);
    }
}
