//! Verdicts as JSON. The shape is public: `docs/guide/validate.md` describes it.
//!
//! The value is spliced in as it was judged, so that no number passes through a machine type.

use airtight_core::{Edits, Verdict, Violation};
use serde_json::{Value, json};

use crate::error::{Error, Outcome};

/// The version of the shape; a change that breaks readers raises it.
const VERSION: u8 = 1;

/// How much of an answer may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Exposure {
    /// All of it.
    Open,
    /// None of it.
    Masked,
}

impl Exposure {
    /// Returns what may be said of a violation.
    pub(super) fn message(self, violation: &Violation) -> &str {
        match self {
            Self::Open => &violation.message,
            Self::Masked => &violation.masked,
        }
    }
}

/// Returns the verdict on a whole input.
pub(in crate::commands) fn whole(verdict: &Verdict, exposure: Exposure) -> String {
    document(&json!({ "version": VERSION }), verdict, exposure)
}

/// Returns what stands in for a verdict when there is no contract to judge by, or no answer.
pub(super) fn unjudged(error: &Error) -> String {
    let kind = if error.kind == Outcome::Contract { "contract_refused" } else { "unreadable" };
    let findings = [error.causes(), error.findings.clone()].concat();
    let reason = json!({ "type": kind, "message": error.to_string(), "findings": findings });
    json!({ "version": VERSION, "valid": false, "reason": reason, "violations": [], "more": false })
        .to_string()
}

/// Returns the verdict on the line of this number.
pub(super) fn line(number: u64, verdict: &Verdict, exposure: Exposure) -> String {
    document(&json!({ "line": number }), verdict, exposure)
}

fn document(head: &Value, verdict: &Verdict, exposure: Exposure) -> String {
    let mut out = head.to_string();
    out.pop();
    match verdict {
        Verdict::Accepted(accepted) => {
            out.push_str(r#","valid":true"#);
            if exposure == Exposure::Open {
                out.push_str(r#","value":"#);
                accepted.value.root().write_compact(&mut out);
            }
            append(&mut out, "edits", &json!(accepted.edits.listed()));
            append(&mut out, "edit_total", &json!(accepted.edits.total()));
            append(&mut out, "edit_counts", &counts(&accepted.edits));
        }
        Verdict::Rejected(rejected) => {
            let violations: Vec<Value> = rejected
                .violations
                .list
                .iter()
                .map(|violation| {
                    json!({
                        "pointer": violation.pointer,
                        "keyword": violation.keyword,
                        "message": exposure.message(violation),
                    })
                })
                .collect();
            out.push_str(r#","valid":false"#);
            append(&mut out, "reason", &json!(rejected.reason));
            append(&mut out, "violations", &json!(violations));
            append(&mut out, "more", &json!(rejected.violations.more));
        }
    }
    out.push('}');
    out
}

/// Returns how many edits of each kind there are, whether they are listed or not.
fn counts(edits: &Edits) -> Value {
    let named = |(kind, count)| Some((json!(kind).as_str()?.to_owned(), json!(count)));
    Value::Object(edits.counts().filter_map(named).collect())
}

fn append(out: &mut String, key: &str, value: &Value) {
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
    out.push_str(&value.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtight_core::{Accepted, Document, Rejected, Rejection, Violations};

    fn accepted(text: &str) -> Verdict {
        Verdict::Accepted(Accepted {
            value: Document::parse(text).unwrap(),
            edits: Edits::default(),
        })
    }

    #[test]
    fn values_keep_every_digit() {
        let verdict = accepted(r#"{"n": 12345678901234567890123.50}"#);
        assert_eq!(
            line(7, &verdict, Exposure::Open),
            r#"{"line":7,"valid":true,"value":{"n":12345678901234567890123.50},"edits":[],"edit_total":0,"edit_counts":{}}"#
        );
    }

    #[test]
    fn masked_documents_hold_nothing_of_the_answer() {
        assert_eq!(
            whole(&accepted(r#"{"token":"s3cret"}"#), Exposure::Masked),
            r#"{"version":1,"valid":true,"edits":[],"edit_total":0,"edit_counts":{}}"#
        );
        let violation = Violation {
            pointer: "/token".into(),
            keyword: "type".to_owned(),
            message: "\"s3cret\" is not a number".to_owned(),
            masked: "value is not a number".to_owned(),
        };
        let verdict = Verdict::Rejected(Rejected {
            reason: Rejection::Invalid,
            violations: Violations::from(violation),
        });
        let masked = whole(&verdict, Exposure::Masked);
        assert!(!masked.contains("s3cret") && masked.contains("value is not a number"));
    }
}
