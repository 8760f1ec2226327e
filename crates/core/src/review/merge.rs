//! Findings that say the same become one, which keeps the others.
//!
//! The same means: in one file, about lines that overlap (or both about none), in words that are
//! alike. The result does not depend on the order in which parts were answered.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;

/// How alike descriptions are, in hundredths, that mean the same.
const ALIKE: usize = 60;

/// How many characters of a text are compared: what follows makes no other finding.
const COMPARED_CHARS: usize = 1_000;

/// A finding, with all that say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The worst of them.
    pub finding: Finding,
    /// The others.
    pub duplicates: Vec<Finding>,
}

/// Joins findings that say the same, and orders them: the worst first, then by place.
pub fn merge(mut findings: Vec<Finding>) -> Vec<Merged> {
    findings.sort_by(Finding::compare);
    let mut merged: Vec<(Merged, Trigrams)> = Vec::new();
    let mut by_file: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for finding in findings {
        let words = Trigrams::of(&finding.description);
        let earlier = by_file.entry(finding.file.clone()).or_default();
        let same = earlier.iter().copied().find(|index| {
            merged.get(*index).is_some_and(|(other, others)| {
                overlap(&other.finding, &finding) && words.likeness(others) >= ALIKE
            })
        });
        if let Some((other, _)) = same.and_then(|index| merged.get_mut(index)) {
            other.duplicates.push(finding);
        } else {
            earlier.push(merged.len());
            merged.push((Merged { finding, duplicates: Vec::new() }, words));
        }
    }
    merged.into_iter().map(|(merged, _)| merged).collect()
}

fn overlap(one: &Finding, other: &Finding) -> bool {
    match (one.lines, other.lines) {
        (Some(one), Some(other)) => one.overlap(other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Claims that two descriptions mean the same.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    similarity(one, other) >= ALIKE
}

/// Returns how alike two texts are, in hundredths: the share of their groups of three letters that
/// both have.
pub(super) fn similarity(one: &str, other: &str) -> usize {
    Trigrams::of(one).likeness(&Trigrams::of(other))
}

/// The groups of three letters in a text, which need no notion of words in any language.
struct Trigrams(BTreeSet<[char; 3]>);

impl Trigrams {
    fn of(text: &str) -> Self {
        let letters: Vec<char> = format!(" {} ", normalised(text)).chars().collect();
        let groups = letters.windows(3).filter_map(|group| <[char; 3]>::try_from(group).ok());
        Self(groups.collect())
    }

    fn likeness(&self, other: &Self) -> usize {
        let both = self.0.intersection(&other.0).count();
        (200 * both).checked_div(self.0.len() + other.0.len()).unwrap_or(100)
    }
}

/// Returns letters and digits in lower case, with one space for everything between them.
pub(super) fn normalised(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars().take(COMPARED_CHARS) {
        if character.is_alphanumeric() {
            out.extend(character.to_lowercase());
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.truncate(out.trim_end().len());
    out
}
