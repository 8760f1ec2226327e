//! GitLab's code quality report: an array that merge requests show.

use serde_json::{Value, json};

use super::super::assembly::{Reported, Review, Unreviewed};
use super::super::finding::{Lines, Severity};
use crate::batch::Keys;

/// Returns the review as GitLab's code quality report.
///
/// It has no word for what is missing, so what should have been looked at and was not is an entry of
/// its own. An issue about no line is put on line 1: the format demands one.
pub fn gitlab(review: &Review) -> String {
    let found = review.findings.iter().map(entry);
    Value::Array(found.chain(review.losses().map(gap)).collect()).to_string()
}

fn entry(reported: &Reported) -> Value {
    let Reported { finding, name, fingerprint, weakness, .. } = reported;
    let mut description = format!("{} Suggestion: {}", finding.description, finding.suggestion);
    if let Some(weakness) = weakness {
        description.push_str(&format!(" (low quality: {weakness})"));
    }
    let Lines { first, last } = finding.lines.unwrap_or(Lines { first: 1, last: 1 });
    json!({
        "description": description,
        "check_name": format!("airtight.review.{}", finding.severity.name()),
        "fingerprint": fingerprint,
        "severity": match finding.severity {
            Severity::Critical => "critical",
            Severity::Warning => "major",
            Severity::Info => "info",
        },
        "location": { "path": name.exact(), "lines": { "begin": first, "end": last } },
    })
}

fn gap(unreviewed: &Unreviewed) -> Value {
    let place = unreviewed.place();
    let keys = Keys::new([b"airtight review".as_slice()]);
    let fingerprint =
        keys.key([b"unreviewed 1".as_slice(), place.as_bytes(), unreviewed.why.as_bytes()]);
    json!({
        "description": format!("Not reviewed: {}", unreviewed.why),
        "check_name": "airtight.review.unreviewed",
        "fingerprint": fingerprint,
        "severity": "major",
        "location": {
            "path": unreviewed.file.as_deref().unwrap_or("."),
            "lines": { "begin": unreviewed.line.unwrap_or(1) },
        },
    })
}
