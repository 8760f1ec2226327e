//! What becomes of an answer, step by step: words, then what moves or is dropped, then defaults.
//!
//! Everything that moves is taken out before anything is put back, so that two members can change
//! places. A place that is taken is never written over.

use serde_json::Value;

use crate::contract::Contract;
use crate::json::{Document, Pointer};
use crate::verdict::{Edit, EditKind, Edits, Violation};

use super::error::CarryError;
use super::path::{Part, Path};
use super::place;
use super::tree::{Trail, Tree};
use super::{Declaration, said};

/// What is declared, checked.
#[derive(Debug)]
pub(super) struct Mapping {
    words: Vec<(Path, Vec<(String, Value)>)>,
    moves: Vec<(Path, Path)>,
    drops: Vec<Path>,
    defaults: Vec<(Path, Value)>,
}

impl Mapping {
    /// Checks that every place can be there, and that nothing is declared twice.
    pub(super) fn new(
        declaration: &Declaration,
        older: &Contract,
        newer: &Contract,
    ) -> Result<Self, CarryError> {
        let in_old = |text: &String| declared(text, older, CarryError::NotInOld);
        let in_new = |text: &String| declared(text, newer, CarryError::NotInNew);
        let mut moves = Vec::new();
        for (from, to) in &declaration.rename {
            let (from, to) = (in_old(from)?, in_new(to)?);
            if from.arrays() != to.arrays() {
                let (from, to) = (from.to_string(), to.to_string());
                return Err(CarryError::OtherArrays { from, to });
            }
            moves.push((from, to));
        }
        let drops = declaration.drop.iter().map(in_old).collect::<Result<Vec<_>, _>>()?;
        let words = declaration.map.iter().map(|(at, words)| Ok((in_old(at)?, words.clone())));
        let words = words.collect::<Result<Vec<_>, CarryError>>()?;
        let defaults =
            declaration.default.iter().map(|(at, value)| Ok((in_new(at)?, value.clone())));
        let defaults = defaults.collect::<Result<Vec<_>, CarryError>>()?;
        refuse_overlaps(moves.iter().map(|(from, _)| from).chain(&drops))?;
        refuse_overlaps(moves.iter().map(|(_, to)| to))?;
        refuse_overlaps(defaults.iter().map(|(at, _)| at))?;
        refuse_overlaps(words.iter().map(|(at, _)| at))?;
        let mapping = Self { words, moves, drops, defaults };
        mapping.refuse_impossible(older, newer)?;
        Ok(mapping)
    }

    /// Refuses words that nobody says, and what the new contract does not take.
    fn refuse_impossible(&self, older: &Contract, newer: &Contract) -> Result<(), CarryError> {
        let refused = |at: &Path, value: &Value| {
            let is_refused = place::is_impossible(newer, at, value);
            let error = || CarryError::Refused { at: at.to_string(), value: value.to_string() };
            if is_refused { Err(error()) } else { Ok(()) }
        };
        for (at, words) in &self.words {
            let is_dropped = self.drops.iter().any(|dropped| dropped.holds(at));
            for (word, other) in words {
                if place::is_impossible(older, at, &Value::from(word.as_str())) {
                    let at = at.to_string();
                    return Err(CarryError::NeverSaid { at, word: word.clone() });
                }
                if !is_dropped && let Some(at) = self.destination(at) {
                    refused(at, other)?;
                }
            }
        }
        self.defaults.iter().try_for_each(|(at, value)| refused(at, value))
    }

    /// Returns where what stands at `from` ends up, unless it moves as a part of something else.
    fn destination<'p>(&'p self, from: &'p Path) -> Option<&'p Path> {
        match self.moves.iter().find(|(moved, _)| moved.holds(from)) {
            Some((moved, to)) if moved == from => Some(to),
            Some(_) => None,
            None => Some(from),
        }
    }

    /// Makes an answer of the new version of one of the older version.
    pub(super) fn apply(
        &self,
        answer: &Document,
        version: &str,
        edits: &mut Edits,
    ) -> Result<Document, Violation> {
        let mut work = Work { tree: Tree::of(answer.root()), version, edits };
        for (at, words) in &self.words {
            work.reword(at, words);
        }
        let taken: Vec<_> = self.moves.iter().map(|(from, to)| (work.take(from), to)).collect();
        for at in &self.drops {
            for (trail, _) in work.take(at) {
                work.record(EditKind::CarryDropped, trail.pointer, None);
            }
        }
        for (found, to) in taken {
            for (trail, value) in found {
                work.put(to, trail, value)?;
            }
        }
        for (at, value) in &self.defaults {
            work.fill(at, value);
        }
        work.tree.document().ok_or_else(|| {
            let words = "carried forward, the answer is over a limit".to_owned();
            said(words.clone(), words)
        })
    }
}

fn declared(
    text: &str,
    contract: &Contract,
    strange: fn(String) -> CarryError,
) -> Result<Path, CarryError> {
    let path = Path::parse(text)?;
    if path.is_declared_by(contract) { Ok(path) } else { Err(strange(text.to_owned())) }
}

/// Refuses places that are the same, or within each other.
fn refuse_overlaps<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), CarryError> {
    let mut seen: Vec<&Path> = Vec::new();
    for path in paths {
        if seen.iter().any(|other| other.holds(path) || path.holds(other)) {
            return Err(CarryError::Twice(path.to_string()));
        }
        seen.push(path);
    }
    Ok(())
}

/// An answer on its way.
struct Work<'w> {
    tree: Tree,
    version: &'w str,
    edits: &'w mut Edits,
}

impl Work<'_> {
    fn record(&mut self, kind: EditKind, pointer: Pointer, to: Option<Pointer>) {
        let version = || Some(self.version.to_owned());
        let edit = || Edit { to, version: version(), ..Edit::at(kind, pointer) };
        self.edits.record_place(kind, edit);
    }

    /// Calls words otherwise.
    fn reword(&mut self, at: &Path, words: &[(String, Value)]) {
        let mut reworded = Vec::new();
        self.each(at, |members, key, trail| {
            let Some((_, Tree::Scalar(raw))) = members.iter_mut().find(|(name, _)| name == key)
            else {
                return;
            };
            let said = serde_json::from_str::<String>(raw).ok();
            let word = said.and_then(|said| words.iter().find(|(word, _)| *word == said));
            if let Some((_, other)) = word {
                *raw = other.to_string();
                reworded.push(trail.pointer.key(key));
            }
        });
        for pointer in reworded {
            self.record(EditKind::CarryReworded, pointer, None);
        }
    }

    /// Takes out what stands at a place.
    fn take(&mut self, at: &Path) -> Vec<(Trail, Tree)> {
        let mut taken = Vec::new();
        self.each(at, |members, key, trail| {
            if let Some(position) = members.iter().position(|(name, _)| name == key) {
                taken.push((trail.key(key), members.remove(position).1));
            }
        });
        taken
    }

    /// Puts a value where it belongs.
    fn put(&mut self, to: &Path, from: Trail, value: Tree) -> Result<(), Violation> {
        let Some((Part::Key(key), holders)) = to.parts.split_last() else { return Ok(()) };
        let members = self.tree.reach(holders, &mut from.indexes.iter());
        let free = members.filter(|members| members.iter().all(|(name, _)| name != key));
        let Some(members) = free else {
            let words =
                format!("`{}` has no place to go: `{to}` is taken, or in no object", from.pointer);
            return Err(said(words.clone(), format!("a member has no place to go: `{to}`")));
        };
        members.push((key.clone(), value));
        let mut indexes = from.indexes.iter();
        let pointer = to.parts.iter().fold(Pointer::root(), |pointer, part| match part {
            Part::Key(key) => pointer.key(key),
            Part::Each => pointer.index(indexes.next().copied().unwrap_or_default()),
        });
        self.record(EditKind::CarryMoved, from.pointer, Some(pointer));
        Ok(())
    }

    /// Says what is declared where nothing is said.
    fn fill(&mut self, at: &Path, value: &Value) {
        let Ok(document) = Document::from_value(value) else { return };
        let tree = Tree::of(document.root());
        let mut filled = Vec::new();
        if !at.parts.contains(&Part::Each)
            && let Some((_, holders)) = at.parts.split_last()
        {
            // Objects on the way that are missing are part of the default.
            let mut none = [].iter();
            self.tree.reach(holders, &mut none);
        }
        self.each(at, |members, key, trail| {
            if members.iter().all(|(name, _)| name != key) {
                members.push((key.to_owned(), tree.clone()));
                filled.push(trail.pointer.key(key));
            }
        });
        for pointer in filled {
            self.record(EditKind::CarryDefault, pointer, None);
        }
    }

    /// Calls `visit` with every object that may hold the member which a path leads to.
    fn each(&mut self, at: &Path, mut visit: impl FnMut(&mut Vec<(String, Tree)>, &str, &Trail)) {
        let Some(Part::Key(key)) = at.parts.last() else { return };
        let mut named =
            |members: &mut Vec<(String, Tree)>, trail: &Trail| visit(members, key, trail);
        self.tree.holders(&at.parts, &Trail::default(), &mut named);
    }
}
