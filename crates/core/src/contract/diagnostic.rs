//! What preflight has to say about a schema.

use std::fmt;

use serde::Serialize;

use crate::json::Pointer;

/// Whether a finding stops the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The contract is refused.
    Error,
    /// The contract works, but probably not as meant.
    Warning,
}

/// One finding of preflight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Whether it stops the contract.
    pub severity: Severity,
    /// Where in the schema.
    pub pointer: Pointer,
    /// A stable name for this kind of finding, in `snake_case`.
    pub code: &'static str,
    /// What is wrong, in one sentence without a period.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Makes an error.
    pub fn error(pointer: Pointer, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, pointer, code, message: message.into(), hint: None }
    }

    /// Makes a warning.
    pub fn warning(pointer: Pointer, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(pointer, code, message) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.pointer, self.message)
    }
}

/// A schema that is no contract, with every finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("contract refused: {}", first(.diagnostics))]
pub struct Refusal {
    /// Errors first; never empty.
    pub diagnostics: Vec<Diagnostic>,
}

fn first(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map(ToString::to_string).unwrap_or_default()
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostics: vec![diagnostic] }
    }
}
