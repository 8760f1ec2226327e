//! What changes between two versions of a contract, and for whom.
//!
//! Two questions, each with three answers. *Old answers*: does the new contract accept every answer
//! that the old one accepts, so that what is on record, and whoever still answers by the old one,
//! stays valid? *Consumers*: does the old contract accept every answer that the new one accepts, so
//! that whoever reads answers and was written for the old one meets nothing that it ruled out?
//!
//! `Yes` is proven: part by part, or for the whole, by comparing schemas. `No` is shown: by a witness,
//! an answer that one contract accepts and the other rejects, both by their own verdicts. Everything
//! else is `Unknown`, and counts as `No` wherever a decision must be made.
//!
//! A contract is a promise to those who read answers, and its version is about that promise:
//!
//! - **major** if it is weaker: the new contract accepts, or may accept, what the old one rejects. Some
//!   consumer was entitled to rely on that never coming.
//! - **minor** if it is stronger: everything that the new contract accepts the old one accepts too, but
//!   not the other way round. No consumer has to know; stored answers may be rejected if they are
//!   judged again, and whoever answers has to be told, which is what the version and
//!   [`Carry`](crate::Carry) are for.
//! - **patch** if it is the same: descriptions, examples, another way to write it down.
//!
//! Left out: what an answer means. A description that turns `score` from risk to quality changes no
//! promise that can be checked.

mod branches;
mod drafts;
mod effects;
mod focus;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod laws;
mod pairs;
mod parts;
mod probes;
mod reading;
mod search;
mod spot;
mod step;
#[cfg(test)]
mod table;
mod trial;
mod whole;
mod words;

use serde::Serialize;

use crate::Answer;
use crate::contract::coverage::Terms;
use crate::contract::{Contract, Fingerprint, Patterns};
use crate::json::{Document, Pointer};
use crate::verdict::Violation;
use pairs::{Pairs, Polarity};
use reading::{Clarity, Reading};
use spot::Spot;
use trial::Trial;

pub use step::{Declared, Step};

/// How many changes are listed, and looked into.
const CHANGE_LIMIT: usize = 500;

/// What comparing schemas may cost, in units of about two microseconds.
const COMPARISON_BUDGET: u64 = 1_000_000;

/// One of the two contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The one before.
    Old,
    /// The one after.
    New,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }
}

/// What changes between two contracts.
#[derive(Debug)]
pub struct Diff {
    /// The changes, the outer ones first.
    pub changes: Vec<Change>,
    /// How many more there are, which were not looked into.
    pub unlisted: usize,
    /// Whether every answer that the old contract accepts is still valid.
    pub old_answers: Ruling,
    /// Whether every answer that the new contract accepts is valid for the old one.
    pub consumers: Ruling,
}

impl Diff {
    /// Returns the step that the version needs; nothing if nothing changed.
    pub fn step(&self) -> Option<Step> {
        if self.changes.is_empty() && self.unlisted == 0 {
            return None;
        }
        Some(Step::asked(self.old_answers.answer, self.consumers.answer))
    }

    /// Claims that both answers are certain.
    pub fn is_decided(&self) -> bool {
        [&self.old_answers, &self.consumers].iter().all(|it| it.answer != Answer::Unknown)
    }
}

/// One change.
#[derive(Debug)]
pub struct Change {
    /// What changed.
    pub kind: ChangeKind,
    /// Where it is in the schema.
    pub pointer: Pointer,
    /// Which schema that is: the new one, unless it is gone there.
    pub side: Side,
    /// What changed, in one sentence without a period.
    pub sentence: String,
    /// Whether it leaves every old answer valid.
    pub old_answers: Ruling,
    /// Whether it leaves every new answer valid for the old contract.
    pub consumers: Ruling,
}

impl Change {
    /// Returns the step that it needs.
    pub fn step(&self) -> Step {
        Step::asked(self.old_answers.answer, self.consumers.answer)
    }
}

/// What a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Types that are accepted.
    Type,
    /// Values that are listed.
    Values,
    /// Bounds of numbers.
    Range,
    /// Bounds of lengths.
    Length,
    /// A pattern.
    Pattern,
    /// A format.
    Format,
    /// A property that was not declared.
    PropertyAdded,
    /// A property that is not declared any more.
    PropertyRemoved,
    /// A member that must be there.
    RequiredAdded,
    /// A member that need not be there any more.
    RequiredRemoved,
    /// Members by pattern, or those that are not declared.
    Members,
    /// Items of arrays.
    Items,
    /// One branch of a choice.
    Branch,
    /// Conditions, choices and references as a whole.
    Condition,
    /// A part that accepts, or accepted, everything or nothing.
    Schema,
    /// A rule.
    Rule,
    /// Whether a string must be quoted.
    Grounding,
    /// What judges nothing.
    Annotation,
    /// The draft of JSON Schema.
    Draft,
    /// The way that it is written.
    Writing,
}

/// An answer to one of the two questions.
#[derive(Debug)]
pub struct Ruling {
    /// Yes if it is proven, No if it is shown, else Unknown.
    pub answer: Answer,
    /// What shows it, if the answer is No.
    pub witness: Option<Box<Witness>>,
}

impl Ruling {
    fn of(answer: Answer) -> Self {
        Self { answer, witness: None }
    }

    fn shown_by(witness: Witness) -> Self {
        Self { answer: Answer::No, witness: Some(Box::new(witness)) }
    }
}

/// An answer that one contract accepts and the other one rejects, by their own verdicts.
#[derive(Debug, Clone)]
pub struct Witness {
    /// The answer.
    pub value: Document,
    /// Who accepts it.
    pub accepted_by: Side,
    /// Why the other one rejects it: the first reason that has to do with the change.
    pub violation: Violation,
    /// What grounded strings were looked up in.
    pub grounds: Grounds,
}

/// The source text that a witness is judged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grounds {
    /// One that has every string of the answer.
    Quoting,
    /// One that has none of them.
    Silent,
}

/// Compares two versions of a contract.
///
/// Always ends: what would take too long is `Unknown`.
pub fn diff(old: &Contract, new: &Contract) -> Diff {
    if old.draft() == new.draft() && print(old) == print(new) {
        let [old_answers, consumers] = [Answer::Yes, Answer::Yes].map(Ruling::of);
        return Diff { changes: Vec::new(), unlisted: 0, old_answers, consumers };
    }
    let (before, after) = (Reading::of(old), Reading::of(new));
    let mut comparison = Comparison {
        trial: Trial::new(&before, &after),
        terms: terms(old, new),
        budget: COMPARISON_BUDGET,
        changes: Vec::new(),
        unlisted: 0,
    };
    let agree = drafts::agree(&before, &after);
    let is_plain = [&before, &after].iter().all(|reading| reading.clarity == Clarity::Plain);
    let root = if agree && is_plain { Polarity::FOLLOWS } else { Polarity::OPAQUE };
    let pairs = Pairs::of(&before, &after, root);
    comparison.drafts(old, new, agree);
    for pair in &pairs.list {
        comparison.look_at(&Spot::of(&before, &after, pair), pair, &pairs);
    }
    comparison.remainder(&pairs, root);
    whole::conclude(comparison, &before, &after, root)
}

/// Returns what identifies a contract apart from its version.
fn print(contract: &Contract) -> Fingerprint {
    let mut schema = contract.schema().clone();
    if let Some(members) = schema.as_object_mut() {
        members.remove("x-version");
    }
    Fingerprint::of(&schema)
}

fn terms(old: &Contract, new: &Contract) -> Terms {
    let needs = [old, new].iter().any(|it| it.patterns() == Patterns::LookAround);
    let patterns = if needs { Patterns::LookAround } else { Patterns::Linear };
    Terms { draft: new.draft(), patterns }
}

/// What is found out so far.
struct Comparison<'c> {
    trial: Trial<'c>,
    terms: Terms,
    budget: u64,
    changes: Vec<Change>,
    unlisted: usize,
}

impl Comparison<'_> {
    /// Adds a change that is not about a part.
    fn note(&mut self, kind: ChangeKind, sentence: &str, answer: Answer) {
        let [old_answers, consumers] = [answer, answer].map(Ruling::of);
        let (pointer, side, sentence) = (Pointer::root(), Side::New, sentence.to_owned());
        self.changes.push(Change { kind, pointer, side, sentence, old_answers, consumers });
    }

    fn drafts(&mut self, old: &Contract, new: &Contract, agree: bool) {
        if old.draft() == new.draft() {
            return;
        }
        if agree {
            self.note(
                ChangeKind::Draft,
                "the draft changes, and nothing that it says",
                Answer::Yes,
            );
        } else {
            let sentence = "the draft changes, and with it what keywords mean";
            self.note(ChangeKind::Draft, sentence, Answer::Unknown);
        }
    }

    /// Says what no part accounts for.
    fn remainder(&mut self, pairs: &Pairs, root: Polarity) {
        if pairs.is_partial {
            let sentence = "there are too many parts to look at each of them";
            self.note(ChangeKind::Writing, sentence, Answer::Unknown);
        }
        if !self.changes.is_empty() || self.unlisted > 0 {
            return;
        }
        if root.is_opaque {
            let sentence = "it is written differently, which may mean something else";
            self.note(ChangeKind::Writing, sentence, Answer::Unknown);
        } else {
            let sentence = "it is written differently, and means the same";
            self.note(ChangeKind::Writing, sentence, Answer::Yes);
        }
    }
}
