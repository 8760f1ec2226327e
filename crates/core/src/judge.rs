//! From what a model said to a verdict.
//!
//! The text is read as JSON, also as Python prints it; if that fails, the values in it are found and
//! repaired. Each is judged by the original contract: as it stands, out of its wrapper, coerced. A
//! value is accepted only if it is the only one that conforms and nothing in the text was cut off or
//! unreadable: what a less invasive reading offers may still be an example, a draft or a fragment. A
//! block of JSON is answer enough to stand beside broken pieces, but not beside another value. What the
//! contract rejects altogether may still be an answer by an older version that it accepts.

mod candidate;
mod echo;
#[cfg(test)]
mod laws;
mod names;
mod opinion;
mod placeholder;
mod retraction;
mod rival;
mod shape;
mod tally;
mod wrapper;

pub use candidate::best_candidate;
pub(crate) use names::Names;
pub(crate) use shape::Shape;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use opinion::{Opinion, opinion, violations};
use rival::{Likeness, Stand, Suspect};
use tally::{Answer, Conforming, Tally, decide};

use crate::contract::{Contract, Source};
use crate::json::{Document, Failure, Kind, Limits, ParseError, ParseErrorKind, Pointer, as_text};
use crate::recover::{self, Candidate, Damage, Damaged, Found, Own, Place, Trouble};
use crate::repair::Reading;
use crate::verdict::{
    Accepted, Check, Edit, EditKind, Edits, Rejected, Rejection, Verdict, Violation, Violations,
};

/// Whether anything but the bare JSON value is tolerated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// The whole text must be JSON that conforms as it stands.
    Strict,
    /// The value is recovered, repaired and coerced where that is unambiguous.
    #[default]
    Lenient,
}

/// What is tolerated in a text.
#[derive(Debug, Clone, Default)]
pub struct Allowance {
    /// Whether anything but the bare JSON value is.
    pub strictness: Strictness,
    /// How much the text and each value in it may hold.
    pub limits: Limits,
    /// What grounded strings must be quoted from.
    pub source: Option<Source>,
    /// What else an answer that satisfies the contract must pass.
    pub check: Option<Arc<dyn Check>>,
}

/// Says what a value in the text stands for, or why it stands for nothing.
pub(crate) type Turn<'j> = &'j dyn Fn(Document) -> Result<Document, Violations>;

/// Whatever decides on one candidate.
#[derive(Clone, Copy)]
struct Measure<'j> {
    contract: &'j Contract,
    allowance: &'j Allowance,
    turn: Turn<'j>,
}

/// Judges what a model said.
pub fn judge(contract: &Contract, text: impl AsRef<[u8]>, allowance: &Allowance) -> Verdict {
    judge_turned(contract, text, allowance, &Ok)
}

/// Judges what a model said in another shape than the contract's: by the contract, after `turn`.
pub(crate) fn judge_turned(
    contract: &Contract,
    text: impl AsRef<[u8]>,
    allowance: &Allowance,
    turn: Turn<'_>,
) -> Verdict {
    let measure = Measure { contract, allowance, turn };
    let bytes = text.as_ref();
    let limits = &allowance.limits;
    let text = match as_text(bytes) {
        Ok(text) => text,
        Err(error) => return unreadable(&error),
    };
    let mut edits = Edits::default();
    let parsed = match allowance.strictness {
        Strictness::Strict => Document::parse_text(text, limits),
        Strictness::Lenient => Document::parse_respelt(text, limits, |kind, offset| {
            let kind = respelling(kind);
            edits.record(kind, || Edit::at_byte(kind, offset));
        }),
    };
    let decided = match parsed {
        Ok(document) => {
            let opinion = match turn(document) {
                Ok(document) => opinion(contract, document, allowance).after(edits),
                Err(violations) => Opinion::Breaks(violations),
            };
            let mut tally = Tally::default();
            tally.add(0..text.len(), Place::Elsewhere, opinion);
            decide(contract, text, tally, None)
        }
        Err(Failure { error, .. })
            if allowance.strictness == Strictness::Strict || limit_of(&error).is_some() =>
        {
            return unreadable(&error);
        }
        // Sound to its end, with more open there than the one closer that is ever added.
        Err(Failure { error, open: 2.. }) if error.kind == ParseErrorKind::Truncated => {
            Err(rejected(Rejection::Truncated { offset: text.len() }))
        }
        Err(Failure { error, .. }) => {
            let Own { range, also, earlier } = recover::own(text);
            let judge = |part| judge_part(measure, text, part, &error);
            let own = judge(range);
            let own = also.into_iter().fold(own, |own, also| unless_other(own?, judge(also)));
            earlier.into_iter().fold(own, |own, earlier| {
                let own = own?;
                // Nothing was answered there, most often.
                let Ok(earlier) = judge(earlier) else { return Ok(own) };
                unless_other(own, Ok(earlier))
            })
        }
    };
    match decided {
        Ok(Answer { accepted, .. }) => Verdict::Accepted(accepted),
        Err(rejected) => Verdict::Rejected(rejected),
    }
}

/// Decides on what is said in a part of `text`, which is not JSON because of `error`.
fn judge_part(
    measure: Measure<'_>,
    text: &str,
    part: Range<usize>,
    error: &ParseError,
) -> Result<Answer, Rejected> {
    let Found { candidates, asides, trouble, noise, damaged, said_from, unread, blocks, open } =
        recover::find(text, part, &measure.allowance.limits);
    if candidates.is_empty() && trouble.is_none() && noise.is_none() {
        return Err(not_json(error));
    }
    let mut tally = Tally { noise, damaged, said_from, unread, blocks, open, ..Tally::default() };
    let trouble = judge_candidates(measure, text, candidates, &mut tally).or(trouble);
    tally.objection = objection(measure, &asides, &tally.conforming);
    decide(measure.contract, text, tally, trouble)
}

/// Returns the model's answer if it is the same however far its words are taken to reach.
fn unless_other(own: Answer, also: Result<Answer, Rejected>) -> Result<Answer, Rejected> {
    let other = also?;
    if own.accepted.value.root().same_value(other.accepted.value.root()) {
        return Ok(own);
    }
    let mut offsets = vec![own.start, other.start];
    offsets.sort_unstable();
    Err(rejected(Rejection::Ambiguous { offsets }))
}

/// Judges each candidate; returns what stands in the way of trusting any of them.
fn judge_candidates(
    measure: Measure<'_>,
    text: &str,
    candidates: Vec<Candidate<'_>>,
    tally: &mut Tally,
) -> Option<Trouble> {
    for candidate in candidates {
        let (start, place) = (candidate.reading.range.start, candidate.place);
        match judge_candidate(measure, text, candidate, tally) {
            Ok(()) => {}
            Err(trouble @ Trouble::OverLimit { .. }) => return Some(trouble),
            Err(trouble) if place == Place::JsonBlock => return Some(trouble),
            Err(trouble) => {
                let is_cut =
                    matches!(trouble, Trouble::Truncated { offset } if is_end(text, offset));
                let kind = if is_cut { Damage::Cut } else { Damage::Broken };
                tally.damaged.push(Damaged { start, kind });
                tally.noise.get_or_insert(trouble);
            }
        }
    }
    None
}

/// Returns where an aside stands that conforms as well, and is not what the answer says.
fn objection(
    Measure { contract, allowance, turn }: Measure<'_>,
    asides: &BTreeMap<&str, usize>,
    conforming: &[Conforming],
) -> Option<usize> {
    let [answer] = conforming else { return None };
    let is_rival = |aside: &str| {
        let document = Document::parse_within(aside, &allowance.limits).ok();
        document.and_then(|document| turn(document).ok()).is_some_and(|document| {
            !document.root().same_value(answer.accepted.value.root())
                && violations(contract, &document, allowance).is_empty()
        })
    };
    asides.iter().filter(|(aside, _)| is_rival(aside)).map(|(_, offset)| *offset).min()
}

/// Judges one candidate, which may turn out not to be JSON after all, or to be cut off.
fn judge_candidate(
    Measure { contract, allowance, turn }: Measure<'_>,
    text: &str,
    Candidate { reading, place }: Candidate<'_>,
    tally: &mut Tally,
) -> Result<(), Trouble> {
    let Reading { range, text: json, edits } = reading;
    let exact = edits.is_empty();
    let document = Document::parse_within(json, &allowance.limits).map_err(|error| {
        // Behind a repair, offsets in the repaired text no longer say where.
        let offset = range.start + if exact { error.offset } else { 0 };
        limit_of(&error).map_or_else(
            || Trouble::Damaged(ParseError::new(error.kind, text, offset)),
            |limit| Trouble::OverLimit { limit },
        )
    })?;
    let document = match turn(document) {
        Ok(document) => document,
        // Only what is meant as an answer can fail to be one.
        Err(violations) => {
            tally.rival = Some(violations);
            return Ok(());
        }
    };
    let closed = edits.count(EditKind::MissingCloser) > 0;
    let resembles = shape::resembles(contract, &document);
    // Candidates come in the order of the text.
    let takes_back = !tally.conforming.is_empty()
        && (place == Place::JsonBlock || contract.names().are_in(&document, &allowance.limits));
    let likeness = Likeness::of(contract, &document, place);
    let opinion = opinion(contract, document, allowance);
    if closed && !is_whole(contract, text, &range, &opinion) {
        return Err(Trouble::Truncated { offset: range.end });
    }
    let mut opinion = opinion.after(edits);
    if let (true, Opinion::Breaks(violations)) = (resembles, &mut opinion) {
        tally.rival = Some(std::mem::take(violations));
    } else {
        if let (true, Opinion::Breaks(violations)) = (takes_back, &opinion) {
            tally.afterthought = Some(violations.clone());
        }
        if let (Some(likeness), Opinion::Breaks(violations)) = (likeness, &opinion) {
            let stand = Stand::of(place, text.get(..range.start).unwrap_or_default());
            tally.suspects.push(Suspect::new(range.start, stand, likeness, violations.clone()));
        }
        tally.add(range, place, opinion);
    }
    Ok(())
}

/// Claims that a value which lacked its last closer was not cut there: the text goes on behind it,
/// or nothing that the contract knows is absent.
fn is_whole(contract: &Contract, text: &str, range: &Range<usize>, opinion: &Opinion) -> bool {
    let goes_on = !is_end(text, range.end);
    match opinion {
        // What was carried forward is not in the order of what was said.
        Opinion::Conforms(Accepted { edits, .. }) if edits.count(EditKind::Carried) > 0 => false,
        Opinion::Conforms(Accepted { value, .. }) => {
            shape::closes_last(contract, value) && (goes_on || shape::is_complete(contract, value))
        }
        Opinion::Echo | Opinion::Breaks(_) => goes_on,
    }
}

/// Claims that nothing but white space stands in `text` from `at` on.
fn is_end(text: &str, at: usize) -> bool {
    text.get(at..).is_none_or(|rest| rest.trim_start().is_empty())
}

/// Returns what was done to a token that was not spelt as in JSON.
fn respelling(kind: Kind) -> EditKind {
    match kind {
        Kind::String => EditKind::Quotes,
        Kind::Null | Kind::Boolean | Kind::Number | Kind::Array | Kind::Object => {
            EditKind::Constant
        }
    }
}

fn rejected(reason: Rejection) -> Rejected {
    Rejected { reason, violations: Violations::default() }
}

fn unreadable(error: &ParseError) -> Verdict {
    Verdict::Rejected(not_json(error))
}

/// Rejects a text in which there is not even damaged JSON.
fn not_json(error: &ParseError) -> Rejected {
    let reason = match limit_of(error) {
        Some(limit) => Rejection::OverLimit { limit },
        None if error.kind == ParseErrorKind::Truncated => {
            Rejection::Truncated { offset: error.offset }
        }
        None => Rejection::NoJson,
    };
    Rejected { reason, violations: syntax(error) }
}

fn syntax(error: &ParseError) -> Violations {
    let ParseError { line, column, .. } = error;
    Violations::from(Violation {
        pointer: Pointer::root(),
        keyword: "syntax".to_owned(),
        message: format!("not JSON: {error}"),
        masked: format!("not JSON at line {line} column {column}"),
    })
}

/// Names the limit that was passed, if that is what went wrong.
fn limit_of(error: &ParseError) -> Option<&'static str> {
    match error.kind {
        ParseErrorKind::TooDeep { .. } => Some("depth"),
        ParseErrorKind::TooLarge { .. } => Some("bytes"),
        ParseErrorKind::TooManyNodes { .. } => Some("values"),
        ParseErrorKind::Empty
        | ParseErrorKind::Truncated
        | ParseErrorKind::Unexpected { .. }
        | ParseErrorKind::TrailingData
        | ParseErrorKind::ByteOrderMark
        | ParseErrorKind::InvalidUtf8
        | ParseErrorKind::InvalidEscape
        | ParseErrorKind::LoneSurrogate
        | ParseErrorKind::ControlCharacter
        | ParseErrorKind::InvalidNumber
        | ParseErrorKind::NumberOutOfRange => None,
    }
}
