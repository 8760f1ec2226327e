//! Rolling updates: answers by an older version of a contract, carried forward as its owner declares.
//!
//! While a fleet moves from one version to the next, some still answer by the old one. Such an answer
//! is judged by the version that it was given for, and then by what its owner says makes an answer of
//! the new version of it: members that moved or are dropped, words that are called otherwise, defaults
//! for what is new. Nothing else changes, every step is recorded as an edit that names the version,
//! and the new contract decides on the result. What the new contract accepts itself is never touched;
//! if two versions make different answers of it, neither counts.
//!
//! Left out: conversions. Who has to compute something needs a program, and answers for it himself.

mod error;
mod mapping;
mod path;
mod place;
#[cfg(test)]
mod tests;
mod tree;

use semver::VersionReq;
use serde_json::Value;

use crate::contract::{Contract, Source};
use crate::json::{Document, Pointer};
use crate::verdict::{Edit, EditKind, Edits, Violation, Violations, weigh};
use mapping::Mapping;

pub use error::CarryError;

/// What is declared about the answers of an older version. Pointers are JSON Pointers in which `*`
/// stands for every item of an array.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Declaration {
    /// Which versions: a range such as `1.x`.
    pub from: String,
    /// Members that are called otherwise or stand elsewhere, with their new places.
    pub rename: Vec<(String, String)>,
    /// Members that are left out.
    pub drop: Vec<String>,
    /// Words that are called otherwise, by the place where they stand.
    pub map: Vec<(String, Vec<(String, Value)>)>,
    /// What is said at places where nothing is.
    pub default: Vec<(String, Value)>,
}

/// An older version whose answers are taken, and what becomes of them.
#[derive(Debug)]
pub struct Carry {
    older: Contract,
    range: VersionReq,
    /// What the version is called in records.
    label: String,
    mapping: Mapping,
}

/// What became of an answer.
pub(crate) enum Carried {
    /// No older version accepts it.
    Strange,
    /// It is an answer by the new contract now.
    Forward(Document, Edits),
    /// An older version accepts it, and that does not help.
    Stuck(Violation),
}

impl Carry {
    /// Claims that the older version may go by the source text.
    pub(crate) fn reads_source(&self) -> bool {
        self.older.reads_source()
    }

    /// Checks what is declared about `older`, whose answers are to become those of `newer`.
    pub fn new(
        older: Contract,
        newer: &Contract,
        declaration: &Declaration,
    ) -> Result<Self, CarryError> {
        let from = &declaration.from;
        let range = VersionReq::parse(from).map_err(|_| CarryError::NoRange(from.clone()))?;
        if let Some(version) = newer.version().filter(|version| range.matches(version)) {
            return Err(CarryError::Own { range: from.clone(), version: version.clone() });
        }
        if let Some(version) = older.version().filter(|version| !range.matches(version)) {
            return Err(CarryError::Outside { range: from.clone(), version: version.clone() });
        }
        let mapping = Mapping::new(declaration, &older, newer)?;
        let label = older.version().map_or_else(|| from.clone(), ToString::to_string);
        Ok(Self { older, range, label, mapping })
    }

    /// Returns the versions that it is about.
    pub fn range(&self) -> &VersionReq {
        &self.range
    }

    /// Returns the contract of the older version.
    pub fn older(&self) -> &Contract {
        &self.older
    }

    /// Returns what the version is called in records: its own version, else the range.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns what `answer` becomes, if the older version accepts it.
    fn forward(
        &self,
        answer: &Document,
        source: Option<&Source>,
    ) -> Option<Result<(Document, Edits), Violation>> {
        if !weigh(&self.older, answer, source).is_empty() {
            return None;
        }
        let mut edits = Edits::default();
        let version = || Some(self.label.clone());
        edits.push(Edit { version: version(), ..Edit::at(EditKind::Carried, Pointer::root()) });
        Some(self.mapping.apply(answer, &self.label, &mut edits).map(|value| (value, edits)))
    }
}

impl Contract {
    /// Takes answers of an older version, too.
    pub fn accept_older(&mut self, carry: Carry) {
        self.carries.push(carry);
    }

    /// Returns the older versions whose answers are taken.
    pub fn older(&self) -> &[Carry] {
        &self.carries
    }
}

/// Carries `answer`, which `contract` itself rejects, forward from the one older version that accepts
/// it.
pub(crate) fn forward(contract: &Contract, answer: &Document, source: Option<&Source>) -> Carried {
    let mut found: Option<(Document, Edits, &Carry)> = None;
    let mut stuck = None;
    for carry in contract.older() {
        match carry.forward(answer, source) {
            None => {}
            Some(Err(violation)) => stuck = stuck.or(Some(violation)),
            Some(Ok((value, edits))) => {
                let violations = weigh(contract, &value, source);
                match (&found, violations.is_empty()) {
                    (_, false) => stuck = stuck.or_else(|| Some(unfit(carry, violations))),
                    (Some((other, _, first)), true) => {
                        if !other.root().same_value(value.root()) {
                            return Carried::Stuck(tie(first, carry));
                        }
                    }
                    (None, true) => found = Some((value, edits, carry)),
                }
            }
        }
    }
    match (found, stuck) {
        (Some((value, edits, _)), _) => Carried::Forward(value, edits),
        (None, Some(violation)) => Carried::Stuck(violation),
        (None, None) => Carried::Strange,
    }
}

/// Says that what was made of an answer breaks the contract.
fn unfit(carry: &Carry, violations: Violations) -> Violation {
    let version = carry.label();
    let first = violations.list.into_iter().next();
    let (place, message, masked) = first.map_or_else(
        || (Pointer::root(), String::new(), String::new()),
        |it| (it.pointer, it.message, it.masked),
    );
    let words = format!("version {version} accepts it, but carried forward it breaks the contract");
    // The way to a value consists of its keys.
    said(format!("{words} at {place}: {message}"), format!("{words}: {masked}"))
}

/// Says that two versions make different answers of the same one.
fn tie(first: &Carry, second: &Carry) -> Violation {
    let (first, second) = (first.label(), second.label());
    let words =
        format!("versions {first} and {second} accept it, and make different answers of it");
    said(words.clone(), words)
}

fn said(message: String, masked: String) -> Violation {
    Violation { pointer: Pointer::root(), keyword: "carry".to_owned(), message, masked }
}
