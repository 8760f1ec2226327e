//! Code review: from a diff to findings that can be trusted to be about it.
//!
//! ```text
//! diff ─► files, hunks, lines ─► parts within a budget ─► (a run each, checked by its scope) ─► findings
//!                                                                                                 │
//!         json, SARIF, GitHub, GitLab, Markdown ◄─ review ◄─ baseline ◄─ quality ◄─ merged ◄──────┘
//! ```
//!
//! The rules it protects: a finding cites lines that were shown; nothing of the diff goes unread in
//! silence; what is left out of a review is counted in it. Who runs the parts, and where the diff
//! comes from, is not known here.

mod assembly;
mod baseline;
mod diff;
mod finding;
mod fingerprint;
mod format;
mod frame;
mod merge;
mod numbered;
mod part;
mod prompt;
mod quality;
mod scope;
mod split;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use assembly::{PartRecord, Reported, Review, Unreviewed, Wishes};
pub use baseline::{BASELINE_LIMIT_BYTES, Baseline, BaselineError};
pub use diff::{
    Change, Content, DIFF_LIMIT_BYTES, DIFF_LIMIT_LINES, Diff, DiffError, Ending, FileDiff, Hunk,
    Line, Name, Side, Text, Trouble, Unread, parse,
};
pub use finding::{Finding, Lines, Severity};
pub use format::{GITHUB_COMMENT_LIMIT, github, gitlab, json, markdown, sarif};
pub use frame::FrameLine;
pub use merge::{Merged, merge};
pub use part::{Part, Piece};
pub use prompt::{instructions, question};
pub use quality::{Weakness, weakness};
pub use scope::{KEYWORD, Scope};
pub use split::{LeftOut, PART_LIMIT_TOKENS, Split, Why};

/// The contract of a review: its findings.
pub const CONTRACT: &str = include_str!("../../../schemas/code-review.json");
