//! What decides on one answer, and what of it may be shown.

use std::collections::BTreeSet;

use airtight_core::judge::{Allowance, Strictness, judge};
use airtight_core::lower::Inverse;
use airtight_core::{
    Contract, Document, Pointer, Rejected, Rejection, Verdict, Violation, Violations,
};
use serde_json::Value;

use super::document::Exposure;

/// What decides, and how much of the answer may be repeated.
pub(super) struct Judge<'c> {
    pub(super) contract: &'c Contract,
    pub(super) allowance: Allowance,
    pub(super) exposure: Exposure,
    /// The way back for answers to an adapted schema.
    pub(super) inverse: Option<Inverse>,
}

impl Judge<'_> {
    /// Judges an answer.
    pub(super) fn verdict(&self, answer: &[u8]) -> Verdict {
        let mut verdict = match &self.inverse {
            Some(inverse) => self.turned_back(answer, inverse),
            None => judge(self.contract, answer, &self.allowance),
        };
        if let Verdict::Rejected(rejected) = &mut verdict
            && is_unjudged(rejected)
        {
            rejected.reason = Rejection::OverLimit { limit: "work" };
        }
        if self.exposure == Exposure::Masked {
            hide_keys(&declared(self.contract.schema()), &mut verdict);
        }
        verdict
    }

    /// Judges what an answer to an adapted schema says in the contract's shape.
    fn turned_back(&self, answer: &[u8], inverse: &Inverse) -> Verdict {
        let Ok(document) = Document::parse_bytes(answer, &self.allowance.limits) else {
            // Only whole answers can be turned back, so this says why it is none.
            let strict = Allowance { strictness: Strictness::Strict, ..self.allowance.clone() };
            return judge(self.contract, answer, &strict);
        };
        match inverse.apply(&document) {
            Ok(original) => judge(self.contract, original.text(), &self.allowance),
            Err(error) => Verdict::Rejected(Rejected {
                reason: Rejection::Invalid,
                violations: Violations::from(Violation {
                    pointer: Pointer::root(),
                    keyword: "dialect".to_owned(),
                    message: format!("is no answer to the adapted schema: {error}"),
                    masked: "is no answer to the adapted schema".to_owned(),
                }),
            }),
        }
    }
}

/// Claims that nothing is known to be wrong, only that judging took too much work.
fn is_unjudged(rejected: &Rejected) -> bool {
    let Rejected { reason: Rejection::Invalid, violations: Violations { list, more: false } } =
        rejected
    else {
        return false;
    };
    !list.is_empty() && list.iter().all(|violation| violation.keyword == "work_limit")
}

/// Returns every name that the schema declares a property by.
fn declared(schema: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    names.extend(properties.keys().map(String::as_str));
                }
                pending.extend(members.values());
            }
            Value::Array(items) => pending.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    names
}

/// Replaces what the answer, not the contract, made part of a pointer.
fn hide_keys(declared: &BTreeSet<&str>, verdict: &mut Verdict) {
    let hide = |pointer: &mut Pointer| {
        let mut hidden = Pointer::root();
        for segment in pointer.segments() {
            // A number may be an index or a key of the answer.
            hidden.push_key(if declared.contains(segment.as_str()) { &segment } else { "*" });
        }
        *pointer = hidden;
    };
    match verdict {
        Verdict::Accepted(accepted) => {
            let edits = accepted.edits.listed_mut().iter_mut();
            let places = edits.flat_map(|edit| [edit.pointer.as_mut(), edit.to.as_mut()]);
            places.flatten().for_each(hide);
        }
        Verdict::Rejected(rejected) => {
            rejected.violations.list.iter_mut().map(|it| &mut it.pointer).for_each(hide);
        }
    }
}
