//! Markdown, for a comment or a page.

use super::super::assembly::{Reported, Review, Unreviewed};
use super::super::finding::Severity;
use super::inert;

/// How many files that were not reviewed are listed.
const LISTED: usize = 100;

/// Returns the review as Markdown.
pub fn markdown(review: &Review) -> String {
    body(review, &review.findings.iter().collect::<Vec<_>>())
}

/// Returns a summary of the review, with `findings` spelt out.
pub(super) fn body(review: &Review, findings: &[&Reported]) -> String {
    let mut text = format!("## Review\n\n{}\n", summary(review));
    for reported in findings {
        text.push_str(&entry(reported));
    }
    if !review.unreviewed.is_empty() {
        text.push_str("\n### Not reviewed\n\n");
        // What should have been looked at comes first.
        let mut all: Vec<&Unreviewed> = review.unreviewed.iter().collect();
        all.sort_by_key(|unreviewed| !unreviewed.is_loss);
        for unreviewed in all.iter().take(LISTED) {
            let (place, why) = (inert::name(&unreviewed.place()), inert::prose(&unreviewed.why));
            text.push_str(&format!("- {place}: {why}\n"));
        }
        if let Some(more) = all.len().checked_sub(LISTED).filter(|more| *more > 0) {
            text.push_str(&format!("- and {more} more\n"));
        }
    }
    text
}

/// Returns how many findings there are, and what was left out.
fn summary(review: &Review) -> String {
    let counts = Severity::ALL.map(|severity| (review.count(severity), severity.name()));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    let mut words = vec![match counts.as_slice() {
        [] => "No findings".to_owned(),
        counts => counts.join(", "),
    }];
    let also = [
        (review.known.len(), "in the baseline"),
        (review.ignored.len(), "of ignored severities"),
        (review.losses().count(), "not reviewed, see below"),
    ];
    words
        .extend(also.iter().filter(|(count, _)| *count > 0).map(|(n, what)| format!("{n} {what}")));
    format!("{}.", words.join("; "))
}

fn entry(reported: &Reported) -> String {
    let finding = &reported.finding;
    let mut text = format!(
        "\n### {}: {}\n\n{}\n\n{}\n",
        finding.severity.name(),
        inert::name(&finding.place()),
        inert::prose(&finding.description),
        inert::suggestion(&finding.suggestion)
    );
    if let Some(weakness) = reported.weakness {
        text.push_str(&format!("\n*Low quality: {weakness}.*\n"));
    }
    text
}
