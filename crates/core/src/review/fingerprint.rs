//! What makes a finding the same when the lines above it have moved.

use super::diff::{Diff, visible};
use super::finding::{Finding, Lines};
use super::merge::normalised;
use crate::batch::Keys;

/// How many hexadecimal digits are kept: 128 bits tell all findings of the world apart.
const DIGITS: usize = 32;

/// Returns what names the place of a finding: its file, and the first line with something on it that
/// it is about. Numbers of lines are no part of it.
pub(super) fn place(finding: &Finding, diff: &Diff<'_>) -> String {
    let anchor = finding.lines.and_then(|lines| anchor(&finding.file, lines, diff));
    key([b"place 1", finding.file.as_bytes(), anchor.unwrap_or_default().as_bytes()])
}

/// Returns what names a finding: its place and its description; `ordinal` tells apart those that share
/// both.
pub(super) fn fingerprint(place: &str, finding: &Finding, ordinal: usize) -> String {
    let description = normalised(&finding.description);
    let ordinal = ordinal.to_string();
    key([b"finding 1", place.as_bytes(), description.as_bytes(), ordinal.as_bytes()])
}

fn key<const N: usize>(parts: [&[u8]; N]) -> String {
    let mut key = Keys::new([b"airtight review".as_slice()]).key(parts);
    key.truncate(DIGITS);
    key
}

fn anchor(file: &str, lines: Lines, diff: &Diff<'_>) -> Option<String> {
    let hunks = diff.file(file)?.hunks();
    let numbered = hunks.iter().flat_map(super::diff::Hunk::numbered);
    let cited = numbered.filter(|(number, _)| {
        number.is_some_and(|number| (lines.first..=lines.last).contains(&number))
    });
    let texts = cited.filter_map(|(_, line)| match line.text {
        super::diff::Text::Whole(text) => Some(visible(text)),
        super::diff::Text::LeftOut(_) => None,
    });
    let mut texts = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    texts.find(|text| text.contains(char::is_alphanumeric))
}
