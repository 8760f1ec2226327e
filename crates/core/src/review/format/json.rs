//! The whole review as one JSON document, for programs.

use serde::Serialize;
use serde_json::Value;

use super::super::assembly::{PartRecord, Reported, Review, Unreviewed};
use super::super::finding::{Finding, Lines, Severity};
use super::super::quality::Weakness;

/// The form of the document.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'r> {
    r#type: &'static str,
    version: u32,
    /// Whether everything that could be looked at was.
    complete: bool,
    findings: Vec<Entry<'r>>,
    /// How many findings the baseline had already.
    known: usize,
    /// How many findings have a severity that is ignored.
    ignored: usize,
    unreviewed: Vec<Gap<'r>>,
    runs: Vec<Run<'r>>,
}

#[derive(Serialize)]
struct Entry<'r> {
    severity: Severity,
    file: &'r str,
    line_start: i64,
    line_end: i64,
    description: &'r str,
    suggestion: &'r str,
    fingerprint: &'r str,
    low_quality: Option<LowQuality>,
    duplicates: Vec<Plain<'r>>,
}

#[derive(Serialize)]
struct LowQuality {
    kind: Weakness,
    reason: String,
}

#[derive(Serialize)]
struct Plain<'r> {
    severity: Severity,
    line_start: i64,
    line_end: i64,
    description: &'r str,
    suggestion: &'r str,
}

#[derive(Serialize)]
struct Gap<'r> {
    file: Option<&'r str>,
    line: Option<u32>,
    reason: &'r str,
    /// Whether there was something to look at.
    loss: bool,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the field is called so everywhere")]
struct Run<'r> {
    run_id: Option<&'r str>,
    files: &'r [String],
    outcome: &'r str,
    rung: Option<&'r str>,
    edits: Option<&'r Value>,
    tokens: u64,
}

/// Returns the review as JSON on one line.
pub fn json(review: &Review) -> String {
    let document = Document {
        r#type: "review",
        version: VERSION,
        complete: review.is_complete(),
        findings: review.findings.iter().map(entry).collect(),
        known: review.known.len(),
        ignored: review.ignored.len(),
        unreviewed: review.unreviewed.iter().map(gap).collect(),
        runs: review.parts.iter().map(run).collect(),
    };
    // Plain data is always written.
    serde_json::to_string(&document).unwrap_or_default()
}

fn entry(reported: &Reported) -> Entry<'_> {
    let Reported { finding, fingerprint, weakness, duplicates, .. } = reported;
    let (line_start, line_end) = numbers(finding);
    Entry {
        severity: finding.severity,
        file: &finding.file,
        line_start,
        line_end,
        description: &finding.description,
        suggestion: &finding.suggestion,
        fingerprint,
        low_quality: weakness.map(|kind| LowQuality { kind, reason: kind.to_string() }),
        duplicates: duplicates.iter().map(plain).collect(),
    }
}

fn plain(finding: &Finding) -> Plain<'_> {
    let (line_start, line_end) = numbers(finding);
    Plain {
        severity: finding.severity,
        line_start,
        line_end,
        description: &finding.description,
        suggestion: &finding.suggestion,
    }
}

/// Returns the numbers of the lines as the contract has them.
fn numbers(finding: &Finding) -> (i64, i64) {
    finding.lines.map_or((-1, -1), |Lines { first, last }| (first.into(), last.into()))
}

fn gap(unreviewed: &Unreviewed) -> Gap<'_> {
    let Unreviewed { file, line, why, is_loss } = unreviewed;
    Gap { file: file.as_deref(), line: *line, reason: why, loss: *is_loss }
}

fn run(part: &PartRecord) -> Run<'_> {
    let PartRecord { run_id, files, outcome, rung, edits, tokens } = part;
    let (run_id, rung) = (run_id.as_deref(), rung.as_deref());
    Run { run_id, files, outcome, rung, edits: edits.as_ref(), tokens: *tokens }
}
