//! What is wrong with a value, said so that a model can act on it.

use serde::Serialize;

use crate::json::Pointer;

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
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self { list: vec![violation], more: false }
    }
}
