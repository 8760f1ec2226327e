//! The lines that a finding is about, with those around them, for people.

use super::diff::{Diff, Side, Text, left_out, visible};
use super::finding::{Finding, Lines};

/// How many lines are shown before and behind.
const AROUND: u32 = 2;

/// How many lines are shown at most: who cites more has cited no place.
const FRAME_LIMIT: usize = 12;

/// One line of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameLine {
    /// Its number in the new version.
    pub number: u32,
    /// Whether it is new.
    pub side: Side,
    /// Whether the finding is about it.
    pub is_cited: bool,
    /// What is on it.
    pub text: String,
}

/// Returns the lines that a finding is about, with those around them that the diff shows.
pub(super) fn frame(finding: &Finding, diff: &Diff<'_>) -> Vec<FrameLine> {
    let (Some(Lines { first, last }), Some(file)) = (finding.lines, diff.file(&finding.file))
    else {
        return Vec::new();
    };
    let shown = first.saturating_sub(AROUND)..=last.saturating_add(AROUND);
    let holds = |hunk: &&super::diff::Hunk<'_>| {
        hunk.new_lines().is_some_and(|lines| lines.contains(&first))
    };
    let lines = file.hunks().iter().find(holds).into_iter().flat_map(super::diff::Hunk::numbered);
    let lines = lines.filter_map(|(number, line)| Some((number?, line)));
    lines
        .filter(|(number, _)| shown.contains(number))
        .take(FRAME_LIMIT)
        .map(|(number, line)| FrameLine {
            number,
            side: line.side,
            is_cited: (first..=last).contains(&number),
            text: match line.text {
                Text::Whole(text) => visible(text).into_owned(),
                Text::LeftOut(bytes) => left_out(bytes),
            },
        })
        .collect()
}
