//! What a review came to: for people on a terminal, for programs in a pipe.

use airtight_core::review::{
    FrameLine, LeftOut, Reported, Review, Severity, Side, github, gitlab, json, markdown, sarif,
};

use super::remedy::{self, Again};
use crate::cli::ReviewFormat;
use crate::error::{Error, Outcome};
use crate::printer::{Printer, Span, Tone};

/// How many places that were not reviewed are listed on stderr.
const LISTED: usize = 20;

/// Prints the review on stdout.
pub(super) fn print(
    review: &Review,
    format: ReviewFormat,
    commit: Option<&str>,
    printer: &mut Printer,
) -> Result<(), Error> {
    match format {
        ReviewFormat::Text => text(review, printer),
        ReviewFormat::Json => printer.json(&json(review)),
        ReviewFormat::Sarif => printer.json(&sarif(review, env!("CARGO_PKG_VERSION"))),
        ReviewFormat::Github => printer.json(&github(review, commit).to_string()),
        ReviewFormat::Gitlab => printer.json(&gitlab(review)),
        ReviewFormat::Markdown => {
            let page = markdown(review);
            if printer.is_terminal() {
                return page.lines().try_for_each(|line| printer.line(&[Span::plain(line)]));
            }
            printer.verbatim(page.as_bytes())
        }
    }
}

fn text(review: &Review, printer: &mut Printer) -> Result<(), Error> {
    for reported in &review.findings {
        finding(reported, printer)?;
        printer.line(&[])?;
    }
    printer.line(&[Span::plain(summary(review))])
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Critical => Tone::Bad,
        Severity::Warning => Tone::Warning,
        Severity::Info => Tone::Strong,
    }
}

fn finding(reported: &Reported, printer: &mut Printer) -> Result<(), Error> {
    let Reported { finding, weakness, duplicates, frame, .. } = reported;
    let severity = finding.severity;
    printer.line(&[
        Span::new(tone(severity), severity.name()),
        Span::new(Tone::Strong, format!(" {}", finding.place())),
    ])?;
    paragraph(&finding.description, printer)?;
    let width = frame.iter().map(|line| line.number.to_string().len()).max().unwrap_or_default();
    for line in frame {
        printer.line(&framed(line, width))?;
    }
    printer.line(&[Span::new(Tone::Good, "  suggestion:")])?;
    paragraph(&finding.suggestion, printer)?;
    if let Some(weakness) = weakness {
        printer.line(&[Span::new(Tone::Dim, format!("  low quality: {weakness}"))])?;
    }
    if !duplicates.is_empty() {
        printer.line(&[Span::new(Tone::Dim, format!("  said {} times", duplicates.len() + 1))])?;
    }
    Ok(())
}

fn paragraph(text: &str, printer: &mut Printer) -> Result<(), Error> {
    text.trim().lines().try_for_each(|line| printer.line(&[Span::plain(format!("  {line}"))]))
}

fn framed(line: &FrameLine, width: usize) -> [Span; 2] {
    let pointer = if line.is_cited { '>' } else { ' ' };
    let (mark, tone) = match line.side {
        Side::Added => ('+', Tone::Plain),
        Side::Context | Side::Removed => (' ', Tone::Dim),
    };
    let head = format!("  {pointer} {:>width$} | ", line.number);
    // Tabs would be spelt out.
    let text = line.text.replace('\t', "    ");
    [Span::new(Tone::Dim, head), Span::new(tone, format!("{mark} {text}"))]
}

/// Returns how many findings there are, and what was left out.
pub(super) fn summary(review: &Review) -> String {
    let counts = Severity::ALL.map(|severity| (review.count(severity), severity.name()));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    let words = match (review.findings.len(), review.is_complete()) {
        (0, true) => "no findings".to_owned(),
        (0, false) => "no findings in what was reviewed".to_owned(),
        (1, _) => format!("1 finding: {}", counts.join(", ")),
        (all, _) => format!("{all} findings: {}", counts.join(", ")),
    };
    let also = [
        (review.known.len(), "known"),
        (review.ignored.len(), "of ignored severities"),
        (review.unreviewed.len(), "not reviewed"),
    ];
    let also = also.iter().filter(|(count, _)| *count > 0);
    also.fold(words, |words, (count, what)| format!("{words} · {count} {what}"))
}

/// Says on stderr what was not reviewed; what should have been is always told.
pub(super) fn note_unreviewed(review: &Review, quiet: bool, printer: &mut Printer) {
    let shown = review.unreviewed.iter().filter(|it| it.is_loss || !quiet);
    for unreviewed in shown.clone().take(LISTED) {
        let (tone, word) = if unreviewed.is_loss {
            (Tone::Warning, "warning: not reviewed:")
        } else {
            (Tone::Dim, "not reviewed:")
        };
        let text = format!(" {}: {}", unreviewed.place(), unreviewed.why);
        printer.note(&[Span::new(tone, word), Span::plain(text)]);
    }
    if let Some(more) = shown.count().checked_sub(LISTED).filter(|more| *more > 0) {
        printer.note(&[Span::new(Tone::Dim, format!("not reviewed: {more} more"))]);
    }
}

/// Says that something should have been reviewed and was not, if so, and what to do about it.
pub(super) fn incompleteness(
    review: &Review,
    again: Option<Again>,
    left_out: &[LeftOut],
) -> Option<Error> {
    let count = review.losses().count();
    if count == 0 {
        return None;
    }
    // Parts without an answer may have one next time; what cannot be read stays so.
    let has_failed = review.parts.iter().any(|part| part.outcome != Outcome::Met.name());
    let outcome = if has_failed { Outcome::Rejected } else { Outcome::Input };
    let message = format!("the review is not complete; not reviewed: {count}");
    let mut error = Error::new(outcome, message);
    let again = again.filter(|_| has_failed).map(Again::hint);
    for hint in again.into_iter().chain(remedy::hints(left_out)) {
        error = error.hint(hint);
    }
    Some(error)
}
