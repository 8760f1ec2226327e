//! The review: everything that was found, and everything that was not looked at.

use std::collections::BTreeMap;

use serde_json::Value;

use super::baseline::Baseline;
use super::diff::{Diff, Name};
use super::finding::{Finding, Severity};
use super::fingerprint;
use super::frame::{FrameLine, frame};
use super::merge::{Merged, merge};
use super::quality::{Weakness, weakness};
use super::split::LeftOut;

/// A review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Review {
    /// What is reported, the worst first.
    pub findings: Vec<Reported>,
    /// What the baseline has already.
    pub known: Vec<Reported>,
    /// What has a severity that nobody wants to hear of.
    pub ignored: Vec<Reported>,
    /// What was not looked at.
    pub unreviewed: Vec<Unreviewed>,
    /// What became of each part.
    pub parts: Vec<PartRecord>,
}

/// A finding as it is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The finding.
    pub finding: Finding,
    /// The file itself, whatever its name is made of.
    pub name: Name,
    /// What names it, also when lines above it moved.
    pub fingerprint: String,
    /// What names its place.
    pub place: String,
    /// Why it is worth little, if it is.
    pub weakness: Option<Weakness>,
    /// Others that say the same.
    pub duplicates: Vec<Finding>,
    /// The lines that it is about, with those around them.
    pub frame: Vec<FrameLine>,
}

/// Something that was not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreviewed {
    /// The file, as it is shown; absent where nobody knows.
    pub file: Option<String>,
    /// The line, if it is but one.
    pub line: Option<u32>,
    /// Why.
    pub why: String,
    /// Whether there was something to look at: then the review is not complete.
    pub is_loss: bool,
}

/// What became of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartRecord {
    /// The run in the ledger, if it is there.
    pub run_id: Option<String>,
    /// The files, as they are shown.
    pub files: Vec<String>,
    /// How it ended: `met`, or why not.
    pub outcome: String,
    /// How its answer was obtained, if there is one.
    pub rung: Option<String>,
    /// What was done to the answer on the way: a list, if it is known.
    pub edits: Option<Value>,
    /// How many tokens it took.
    pub tokens: u64,
}

/// What is to be reported.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Severities that nobody wants to hear of.
    pub ignored: Vec<Severity>,
    /// What is known.
    pub baseline: Option<Baseline>,
}

impl From<&LeftOut> for Unreviewed {
    fn from(left_out: &LeftOut) -> Self {
        Self {
            file: left_out.file.clone(),
            line: left_out.line,
            why: left_out.why.to_string(),
            is_loss: left_out.why.is_loss(),
        }
    }
}

impl Review {
    /// Puts together what was found in `diff`.
    pub fn assemble(diff: &Diff<'_>, findings: Vec<Finding>, wishes: Wishes) -> Self {
        let mut ordinals: BTreeMap<String, usize> = BTreeMap::new();
        let reported: Vec<Reported> = merge(findings)
            .into_iter()
            .map(|merged| Reported::new(merged, diff, &mut ordinals))
            .collect();
        let (ignored, rest): (Vec<_>, Vec<_>) =
            reported.into_iter().partition(|it| wishes.ignored.contains(&it.finding.severity));
        let (findings, known) = match wishes.baseline {
            Some(baseline) => baseline.sort(rest),
            None => (rest, Vec::new()),
        };
        Self { findings, known, ignored, unreviewed: Vec::new(), parts: Vec::new() }
    }

    /// Claims that everything that could be looked at was.
    pub fn is_complete(&self) -> bool {
        self.unreviewed.iter().all(|unreviewed| !unreviewed.is_loss)
    }

    /// Returns what should have been looked at and was not.
    pub fn losses(&self) -> impl Iterator<Item = &Unreviewed> {
        self.unreviewed.iter().filter(|unreviewed| unreviewed.is_loss)
    }

    /// Counts the reported findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.finding.severity == severity).count()
    }

    /// Claims that something is reported that is at least as bad.
    pub fn reaches(&self, severity: Severity) -> bool {
        self.findings.iter().any(|it| it.finding.severity <= severity)
    }
}

impl Reported {
    fn new(merged: Merged, diff: &Diff<'_>, ordinals: &mut BTreeMap<String, usize>) -> Self {
        let Merged { finding, duplicates } = merged;
        let place = fingerprint::place(&finding, diff);
        let first = fingerprint::fingerprint(&place, &finding, 0);
        let ordinal = ordinals.entry(first).or_default();
        let fingerprint = fingerprint::fingerprint(&place, &finding, *ordinal);
        *ordinal += 1;
        Self {
            name: match diff.file(&finding.file) {
                Some(file) => file.name.clone(),
                None => Name::new(finding.file.as_bytes()),
            },
            weakness: weakness(&finding),
            frame: frame(&finding, diff),
            finding,
            fingerprint,
            place,
            duplicates,
        }
    }
}

impl Unreviewed {
    /// Returns where it is, as people write it.
    pub fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.clone(),
            (None, _) => "(somewhere in the diff)".to_owned(),
        }
    }
}
