//! What no contract can know: whether an answer fits what it is about.
//!
//! A finding must cite a line of the diff that was shown, a plan a file that exists. Such checks are
//! carried by the job and consulted in the one verdict, behind the contract: an answer that they
//! object to is rejected and asked for again like any other. They can refuse, never accept.

use std::fmt;

use super::check::VIOLATION_LIMIT;
use super::violation::{Violation, Violations};
use crate::json::meter::bounded;
use crate::json::{Document, Pointer};

/// A check of answers against what they are about.
///
/// It decides by itself alone: the same answer has the same objections each time.
pub trait Check: fmt::Debug + Send + Sync {
    /// Returns the keyword of its violations.
    fn keyword(&self) -> &'static str;

    /// Returns everything wrong with `value`, which satisfies the contract.
    fn objections(&self, value: &Document) -> Vec<Objection>;
}

/// One thing that is wrong with an answer, given what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// Where in the answer.
    pub pointer: Pointer,
    /// What is wrong and what would be right; may quote the answer.
    pub message: String,
    /// The same without any part of the answer.
    pub masked: String,
}

/// Returns what `check` has against `value`. One that panics has judged nothing, so nothing passes.
pub(crate) fn consult(check: &dyn Check, value: &Document) -> Violations {
    let keyword = check.keyword();
    let Ok(mut objections) = bounded(|| check.objections(value)) else {
        let message = "cannot be judged: the check fails on it".to_owned();
        let (pointer, masked) = (Pointer::root(), message.clone());
        return Violations::from(Violation {
            pointer,
            keyword: keyword.to_owned(),
            message,
            masked,
        });
    };
    let more = objections.len() > VIOLATION_LIMIT;
    objections.truncate(VIOLATION_LIMIT);
    let list = objections.into_iter().map(|Objection { pointer, message, masked }| Violation {
        pointer,
        keyword: keyword.to_owned(),
        message,
        masked,
    });
    Violations { list: list.collect(), more }
}
