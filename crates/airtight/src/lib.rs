//! Structured output contracts for AI agents: only the original contract decides.
//!
//! A [`Contract`] is a JSON Schema that passed preflight. [`judge()`] finds the one value in what a
//! model said that conforms to it; what is accepted is the exact value that was judged, with a
//! record of every edit.
//!
//! ```
//! use airtight::{Allowance, Contract, Verdict, judge};
//!
//! let schema = serde_json::json!({ "type": "object", "required": ["summary"] });
//! let contract = Contract::compile(schema)?;
//! let said = "Here you are: {\"summary\": \"all quiet\",}";
//! let Verdict::Accepted(accepted) = judge(&contract, said, &Allowance::default()) else {
//!     panic!("nothing conforms");
//! };
//! assert_eq!(accepted.value.to_compact(), "{\"summary\":\"all quiet\"}");
//! assert_eq!(accepted.edits.total(), 2);
//! # Ok::<(), airtight::Refusal>(())
//! ```
//!
//! The binary of the same name is behind the `cli` feature, which is on by default.

pub use airtight_core::contract::{Decision, Identity, Options, Patterns, Wrap};
pub use airtight_core::json::{Kind, Limits, Node, Number, ParseError, ParseErrorKind};
pub use airtight_core::verdict::check;
pub use airtight_core::{
    Accepted, Allowance, Answer, Contract, Diagnostic, Dialect, Document, Edit, EditKind, Edits,
    Fingerprint, Loss, Lowering, Narrowing, Origin, Pointer, Preflight, Refusal, Rejected,
    Rejection, Severity, Strictness, Unportable, Verdict, Violation, Violations, judge, lower,
};
