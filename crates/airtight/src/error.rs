//! The one error of the command line: its kind decides the exit code, its hints what to type next.

mod bug;

use std::error::Error as StdError;
use std::io;

use airtight_core::run;

pub(crate) use bug::{catch, mistakes, mute_panics};

/// How a command ends; the exit codes are documented in `docs/reference/exit-codes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what was asked, and the answer is yes.
    Met,
    /// An answer was judged, and no value in it can be accepted.
    Rejected,
    /// A generated file is not what its contract gives.
    Stale,
    /// What was typed makes no sense.
    Usage,
    /// The machine failed: output could not be written, a thread could not be started. Or we did.
    Machine,
    /// Another process is at it.
    Busy,
    /// The ledger failed: what was asked may be done, and is not on record.
    Store,
    /// There is no input, or it cannot be read.
    Input,
    /// A contract or a setting cannot be read or is refused.
    Contract,
    /// A run ended.
    Run(run::Outcome),
}

impl Outcome {
    /// Returns the exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Met => 0,
            Self::Rejected | Self::Stale => 1,
            Self::Usage => 2,
            Self::Machine | Self::Busy => 3,
            Self::Store => 4,
            Self::Input => 42,
            Self::Contract => 52,
            Self::Run(outcome) => outcome.exit_code(),
        }
    }

    /// Returns the word for it in results and in the table of exit codes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Met => run::Outcome::Met.name(),
            Self::Rejected => "rejected",
            Self::Stale => "stale",
            Self::Usage => "usage",
            Self::Machine => "machine",
            Self::Busy => "busy",
            Self::Store => "store",
            Self::Input => "input",
            Self::Contract => run::Outcome::Config.name(),
            Self::Run(outcome) => outcome.name(),
        }
    }
}

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Error {
    /// What it means to the caller.
    pub(crate) kind: Outcome,
    message: String,
    /// Findings, one a line: violations or diagnostics.
    pub(crate) findings: Vec<String>,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
}

impl Error {
    /// Makes an error without findings, source or hints.
    pub(crate) fn new(kind: Outcome, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            findings: Vec::new(),
            source: None,
            hints: Vec::new(),
        }
    }

    /// Adds what caused it.
    pub(crate) fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Adds findings, one a line.
    pub(crate) fn with_findings(mut self, findings: Vec<String>) -> Self {
        self.findings = findings;
        self
    }

    /// Adds what to do about it, preferably the next command to type.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns it as `mask` leaves its words; what caused it becomes findings.
    pub(crate) fn masked(self, mask: impl Fn(&str) -> String) -> Self {
        let causes = self.causes();
        let masked = |texts: Vec<String>| texts.iter().map(|text| mask(text)).collect();
        Self {
            kind: self.kind,
            message: mask(&self.message),
            findings: masked([self.findings, causes].concat()),
            source: None,
            hints: masked(self.hints),
        }
    }

    /// Returns the messages of everything that caused it, outermost first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next = StdError::source(self);
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }

    /// Claims that the reader of our output went away, which is no failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let source = self.source.as_deref().and_then(|source| source.downcast_ref::<io::Error>());
        self.kind == Outcome::Machine
            && source.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<io::Error> for Error {
    /// Takes a failure of the machine itself; errors of files and streams say which one.
    fn from(error: io::Error) -> Self {
        Self::new(Outcome::Machine, "the system refuses").caused_by(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_broken_output_pipe_is_forgiven() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(Error::new(Outcome::Machine, "x").caused_by(broken()).is_broken_pipe());
        assert!(!Error::new(Outcome::Input, "x").caused_by(broken()).is_broken_pipe());
        assert!(!Error::new(Outcome::Machine, "x").is_broken_pipe());
    }

    #[test]
    fn every_outcome_is_in_the_table_of_exit_codes() {
        use run::Outcome as Run;
        let page = include_str!("../../../docs/reference/exit-codes.md");
        let runs = [
            Run::Met,
            Run::NoAnswer,
            Run::AttemptsExhausted,
            Run::Refused,
            Run::Truncated,
            Run::Degenerate,
            Run::Loop,
            Run::Provider,
            Run::Harness,
            Run::Auth,
            Run::Sandbox,
            Run::Config,
            Run::TurnCap,
            Run::Budget,
            Run::Interrupted,
        ];
        let others = [
            Outcome::Met,
            Outcome::Rejected,
            Outcome::Stale,
            Outcome::Usage,
            Outcome::Machine,
            Outcome::Busy,
            Outcome::Store,
            Outcome::Input,
            Outcome::Contract,
        ];
        for outcome in runs.map(Outcome::Run).into_iter().chain(others) {
            let row = format!("| {} |", outcome.exit_code());
            let row = page.lines().find(|line| line.starts_with(&row)).unwrap();
            assert!(row.contains(&format!("`{}`", outcome.name())), "{row}");
        }
        for outcome in runs {
            let word = serde_json::to_value(outcome).unwrap();
            assert_eq!(word, Outcome::Run(outcome).name());
        }
    }

    #[test]
    fn causes_are_listed_from_the_outside_in() {
        let inner = Error::new(Outcome::Input, "inner").caused_by(io::Error::other("innermost"));
        let outer = Error::new(Outcome::Input, "outer").caused_by(inner);
        assert_eq!(outer.causes(), ["inner", "innermost"]);
    }
}
