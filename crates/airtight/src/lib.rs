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
//! A [`Runner`] asks a model until an answer satisfies a contract, here one made of a Rust type:
//!
//! ```no_run
//! # use schemars::JsonSchema;
//! # use serde::Deserialize;
//! #[derive(Deserialize, JsonSchema)]
//! struct Review {
//!     summary: String,
//!     #[schemars(range(min = 0, max = 10))]
//!     score: u8,
//! }
//!
//! # async fn example(key: String) -> Result<(), Box<dyn std::error::Error>> {
//! let contract = airtight::Contract::<Review>::from_type()?;
//! let runner = airtight::Runner::new("openai:gpt-5").key(key);
//! let answer = runner.run(&contract, "Review this change: …").await?;
//! println!("{}/10 after {} attempts", answer.value.score, answer.attempts.len());
//! # Ok(())
//! # }
//! ```
//!
//! The binary of the same name is behind the `cli` feature, which is on by default.

mod answer;
mod runner;
mod typed;

pub use airtight_agent::provider::{Retries, Timeouts};
pub use airtight_core::Answer as Certainty;
pub use airtight_core::codec::Usage;
pub use airtight_core::contract::{Decision, Identity, Options, Patterns, Wrap};
pub use airtight_core::json::{Kind, Limits, Node, Number, ParseError, ParseErrorKind};
pub use airtight_core::price::Cost;
pub use airtight_core::run::{
    Attempt, Budget, Ending, Mode, Outcome, Policy, RepairRung, Report, Rung, TextRung,
};
pub use airtight_core::verdict::check;
pub use airtight_core::{
    Accepted, Allowance, Check, Diagnostic, Dialect, Document, Edit, EditKind, Edits, Fingerprint,
    Loss, Lowering, Narrowing, Objection, Origin, Pointer, Preflight, Refusal, Rejected, Rejection,
    Severity, Source, Strictness, Unportable, Verdict, Violation, Violations, judge, lower,
};
pub use answer::{Answer, RunFailure};
pub use runner::{Runner, Streaming, Update};
pub use typed::Contract;
