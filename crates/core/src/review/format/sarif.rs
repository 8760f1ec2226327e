//! SARIF 2.1.0, the form that code scanning and editors read.

use serde_json::{Map, Value, json};

use super::super::assembly::{Reported, Review, Unreviewed};
use super::super::diff::Name;
use super::super::finding::{Lines, Severity};

/// Where the standard's schema is published.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// What paths are relative to.
const ROOT: &str = "%SRCROOT%";

/// The name under which fingerprints are compared.
const FINGERPRINT: &str = "airtightFinding/v1";

/// Returns the review as SARIF; `version` is that of this program.
pub fn sarif(review: &Review, version: &str) -> String {
    let notices: Vec<Value> = review.unreviewed.iter().map(notice).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "airtight",
                "semanticVersion": version,
                "informationUri": "https://github.com/airtight/airtight",
                "rules": Severity::ALL.map(rule),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { ROOT: { "description": { "text": "the root of the repository" } } },
            "invocations": [{
                "executionSuccessful": review.is_complete(),
                "toolExecutionNotifications": notices,
            }],
            "results": review.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
    .to_string()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(severity: Severity) -> Value {
    let about = match severity {
        Severity::Critical => "Breaks in production or leaks data.",
        Severity::Warning => "Is wrong in some case.",
        Severity::Info => "Could be better.",
    };
    json!({
        "id": format!("review/{}", severity.name()),
        "name": format!("Review{}", capital(severity.name())),
        "shortDescription": { "text": about },
        "defaultConfiguration": { "level": level(severity) },
    })
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn result(reported: &Reported) -> Value {
    let Reported { finding, name, fingerprint, weakness, duplicates, .. } = reported;
    let mut text = format!("{}\n\nSuggestion: {}", finding.description, finding.suggestion);
    let mut properties = Map::new();
    properties.insert("suggestion".to_owned(), json!(finding.suggestion));
    properties.insert("duplicates".to_owned(), json!(duplicates.len()));
    if let Some(weakness) = weakness {
        text.push_str(&format!("\n\nLow quality: {weakness}."));
        properties.insert("low_quality".to_owned(), json!(weakness.to_string()));
        properties.insert("tags".to_owned(), json!(["low_quality"]));
    }
    let mut place = json!({ "artifactLocation": location(name) });
    if let (Some(Lines { first, last }), Some(place)) = (finding.lines, place.as_object_mut()) {
        place.insert("region".to_owned(), json!({ "startLine": first, "endLine": last }));
    }
    json!({
        "ruleId": format!("review/{}", finding.severity.name()),
        "ruleIndex": Severity::ALL.iter().position(|it| *it == finding.severity),
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
        "partialFingerprints": { FINGERPRINT: fingerprint },
        "properties": properties,
    })
}

fn location(name: &Name) -> Value {
    json!({ "uri": name.to_uri(), "uriBaseId": ROOT })
}

fn notice(unreviewed: &Unreviewed) -> Value {
    let text = format!("Not reviewed: {}: {}", unreviewed.place(), unreviewed.why);
    let level = if unreviewed.is_loss { "error" } else { "note" };
    let mut notice = json!({ "level": level, "message": { "text": text } });
    if let (Some(file), Some(notice)) = (&unreviewed.file, notice.as_object_mut()) {
        let place = json!({ "artifactLocation": location(&Name::new(file.as_bytes())) });
        notice.insert("locations".to_owned(), json!([{ "physicalLocation": place }]));
    }
    notice
}
