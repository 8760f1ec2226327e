//! What a right answer is, and how to find one in what a model said.
//!
//! No I/O, no clock, no async: everything here is a function of its arguments.

mod advice;
pub mod batch;
pub mod calendar;
mod carry;
pub mod codec;
pub mod contract;
pub mod diff;
mod excerpt;
mod fence;
pub mod generate;
pub mod json;
pub mod judge;
pub mod lower;
pub mod message;
mod nearest;
mod pattern;
pub mod price;
mod recover;
pub mod redact;
mod repair;
pub mod review;
pub mod run;
pub mod shell;
pub mod stream;
pub mod transcript;
mod treacherous;
pub mod verdict;
pub mod watch;
pub mod wire;

#[cfg(test)]
mod arbitrary;
#[cfg(test)]
mod chunks;
#[cfg(test)]
mod page;
#[cfg(test)]
mod suite;

pub use advice::Advice;
pub use carry::{Carry, CarryError, Declaration};
pub use contract::{
    Contract, Diagnostic, ExampleError, Fingerprint, Origin, Preflight, Refusal, Severity, Source,
    WorkedExample,
};
pub use diff::{Diff, diff};
pub use excerpt::excerpt;
pub use json::{Document, Pointer};
pub use judge::{Allowance, Strictness, judge};
pub use lower::{Dialect, Loss, Lowering, Narrowing, Unportable, lower};
pub use nearest::nearest;
pub use stream::{Checker, Follower, Growing, Plan, Progress};
pub use treacherous::is_treacherous;
pub use verdict::{
    Accepted, Check, Edit, EditKind, Edits, Objection, Rejected, Rejection, Verdict, Violation,
    Violations,
};

/// The answer to a question that cannot always be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Certainly.
    Yes,
    /// Certainly not.
    No,
    /// Not decided: too costly, or it depends on the candidate.
    #[default]
    Unknown,
}
