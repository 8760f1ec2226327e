//! What is known of a text after its values were judged, and what follows from that.

use std::ops::Range;

use super::opinion::Opinion;
use super::rival::Suspect;
use super::{placeholder, rejected, retraction, syntax};
use crate::contract::Contract;
use crate::recover::{Damaged, Fenced, Place, Trouble};
use crate::verdict::{Accepted, Edit, EditKind, Edits, Rejected, Rejection, Violations};

/// How many competing values are listed.
const AMBIGUITY_LIMIT: usize = 16;

/// A conforming value, and where it stands.
pub(super) struct Conforming {
    pub(super) accepted: Accepted,
    pub(super) range: Range<usize>,
    pub(super) place: Place,
    /// Where it ends that was said last: the same may be said again.
    pub(super) until: usize,
}

/// The value that was decided for, and where it stands.
pub(super) struct Answer {
    pub(super) accepted: Accepted,
    pub(super) start: usize,
}

/// Everything known about a text after its candidates were judged.
#[derive(Default)]
pub(super) struct Tally {
    /// Conforming values that differ.
    pub(super) conforming: Vec<Conforming>,
    pub(super) echoes: usize,
    /// The violations of the last candidate that looks like an answer but breaks the contract.
    pub(super) rival: Option<Violations>,
    /// The violations of the longest other candidate that breaks the contract, and its length.
    pub(super) broken: Option<(usize, Violations)>,
    /// What stands in the way of every value that is not a block of JSON.
    pub(super) noise: Option<Trouble>,
    /// What cannot be read.
    pub(super) damaged: Vec<Damaged>,
    /// Where what is said starts.
    pub(super) said_from: usize,
    /// Where the blocks start that may be the answer in place of a scalar.
    pub(super) unread: Vec<usize>,
    /// Where an aside stands that may be the answer in place of the only conforming value.
    pub(super) objection: Option<usize>,
    /// The violations of a value behind the last conforming one, which may take that back.
    pub(super) afterthought: Option<Violations>,
    /// Values that break the contract, and may be the answer all the same.
    pub(super) suspects: Vec<Suspect>,
    /// The blocks that are no value.
    pub(super) blocks: Vec<Fenced>,
    /// Where the text ends, if something is open there in which nothing was said yet.
    pub(super) open: Option<usize>,
}

impl Tally {
    pub(super) fn add(&mut self, range: Range<usize>, place: Place, opinion: Opinion) {
        match opinion {
            Opinion::Echo => self.echoes += 1,
            Opinion::Breaks(violations) => {
                if self.broken.as_ref().is_none_or(|(longest, _)| range.len() >= *longest) {
                    self.broken = Some((range.len(), violations));
                }
            }
            Opinion::Conforms(accepted) => {
                self.afterthought = None;
                let until = range.end;
                let same = |other: &&mut Conforming| {
                    other.accepted.value.root().same_value(accepted.value.root())
                };
                if let Some(other) = self.conforming.iter_mut().find(same) {
                    let rank = |place, edits: &Edits| (place != Place::JsonBlock, edits.total());
                    other.until = until;
                    if rank(place, &accepted.edits) < rank(other.place, &other.accepted.edits) {
                        *other = Conforming { accepted, range, place, until };
                    }
                } else if self.conforming.len() < AMBIGUITY_LIMIT {
                    self.conforming.push(Conforming { accepted, range, place, until });
                }
            }
        }
    }

    /// Returns where the values stand that may all be the answer, if there are several.
    fn rivals(&self, text: &str) -> Option<Vec<usize>> {
        let starts = self.conforming.iter().map(|conforming| conforming.range.start);
        let mut offsets: Vec<usize> = starts.collect();
        if let [only] = self.conforming.as_slice()
            && !text.get(only.range.clone())?.starts_with(['{', '['])
        {
            // What stands before a block of JSON leads to it.
            let may_answer =
                |start: &&usize| only.place != Place::JsonBlock || **start >= only.range.end;
            offsets.extend(self.unread.iter().find(may_answer));
        }
        offsets.extend(self.objection);
        offsets.sort_unstable();
        (offsets.len() > 1).then_some(offsets)
    }

    /// Claims that a block of JSON conforms, and nothing else.
    fn is_certain(&self) -> bool {
        matches!(self.conforming.as_slice(), [Conforming { place: Place::JsonBlock, .. }])
    }

    /// Returns what is wrong with the value that may be the answer in place of the only one that conforms.
    fn suspicion(&mut self, text: &str) -> Option<Violations> {
        let [only] = self.conforming.as_slice() else { return None };
        let rival = self.suspects.iter().rposition(|suspect| suspect.rivals(only, text))?;
        Some(self.suspects.swap_remove(rival).violations)
    }
}

/// Decides on what was said in `text`; `trouble` stands in the way of all of it.
pub(super) fn decide(
    contract: &Contract,
    text: &str,
    mut tally: Tally,
    trouble: Option<Trouble>,
) -> Result<Answer, Rejected> {
    if let Some(offsets) = tally.rivals(text) {
        return Err(rejected(Rejection::Ambiguous { offsets }));
    }
    let noise = tally.noise.take();
    let trouble = trouble
        .or_else(|| noise.filter(|_| !tally.is_certain()))
        .or_else(|| retraction::retraction(&tally, contract, text));
    let rival = tally.rival.take().or_else(|| tally.suspicion(text));
    let broken = tally.broken.map(|(_, violations)| violations);
    let invalid = |violations| Rejected { reason: Rejection::Invalid, violations };
    match (trouble, tally.conforming.pop(), broken) {
        (Some(Trouble::Truncated { offset }), ..) => Err(rejected(Rejection::Truncated { offset })),
        (Some(Trouble::OverLimit { limit }), ..) => Err(rejected(Rejection::OverLimit { limit })),
        (Some(Trouble::Damaged(error)), ..) => Err(invalid(syntax(&error))),
        // It may be the answer, and the conforming value an example or a draft.
        (None, ..) if let Some(violations) = rival => Err(invalid(violations)),
        // What was said last is the answer: the conforming value before it was a draft.
        (None, Some(_), _) if let Some(violations) = tally.afterthought => Err(invalid(violations)),
        (None, Some(Conforming { accepted, range, .. }), _)
            if !placeholder::is_alone(text, tally.said_from, &range)
                && placeholder::is_placeholder(contract, &accepted.value) =>
        {
            Err(invalid(placeholder::violations()))
        }
        (None, Some(Conforming { accepted: Accepted { value, edits: within }, range, .. }), _) => {
            let mut edits = surroundings(text, &range);
            edits.append(within);
            Ok(Answer { accepted: Accepted { value, edits }, start: range.start })
        }
        (None, None, Some(violations)) => Err(invalid(violations)),
        (None, None, None) if tally.echoes > 0 => Err(rejected(Rejection::SchemaEcho)),
        (None, None, None) => Err(rejected(Rejection::NoJson)),
    }
}

/// Records the text that was left out around a value.
fn surroundings(text: &str, range: &Range<usize>) -> Edits {
    let before = text.get(..range.start).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default();
    let first = |part: &str| part.len() - part.trim_start().len();
    let mut edits = Edits::default();
    for (part, offset) in [(before, 0), (behind, range.end)] {
        if !part.trim().is_empty() {
            edits.push(Edit::at_byte(EditKind::Surroundings, offset + first(part)));
        }
    }
    edits
}
