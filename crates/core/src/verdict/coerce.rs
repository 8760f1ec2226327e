//! Coercion: what was said in the wrong type, where the contract leaves one reading.
//!
//! Driven by what the validator found, so parts that conform are never touched, and references and
//! choices are followed by the judge itself. Nothing is invented, dropped or rounded: a string
//! becomes the literal that it spells, a literal the string of its digits. The result is judged
//! again by whoever asked.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::branch::Branch;
use super::edit::{Edit, EditKind, Edits};
use super::findings::{Locator, branches, find};
use super::message::{allowed, constant, type_names};
use super::stack::with_room;
use crate::contract::Contract;
use crate::json::{Document, Kind, Node, Number};

/// How many members an enumeration may have to be searched for what was meant: each finding costs
/// as many.
const MEMBER_LIMIT: usize = 1_000;

/// How often the result is coerced again: what was inside a string may need it too.
const ROUNDS: usize = 4;

/// Returns `value` with everything coerced that the contract leaves one reading for.
///
/// To be called for a value that [`check`](super::check()) rejects; `None` if there is nothing to
/// coerce. The result may still break the contract.
pub fn coerce(contract: &Contract, value: &Document) -> Option<(Document, Edits)> {
    let mut edits = Edits::default();
    let mut coerced = drop_duplicates(value, &mut edits);
    for _ in 0..ROUNDS {
        let current = coerced.as_ref().unwrap_or(value);
        let changes = with_room(contract, current, || changes(contract, current));
        if changes.is_empty() {
            break;
        }
        let literals =
            changes.values().map(|change| (change.span.clone(), change.literal.as_str()));
        let text = splice(coerced.as_ref().unwrap_or(value).text(), literals);
        coerced = Some(Document::parse(text).ok()?);
        for change in changes.into_values() {
            edits.push(change.edit);
        }
    }
    Some((coerced?, edits))
}

/// One literal and what takes its place.
struct Change {
    span: Range<usize>,
    literal: String,
    edit: Edit,
}

/// Returns `text` with the literals of `changes`, which are in order and do not overlap, in place of
/// what stood there.
fn splice<'c>(text: &str, changes: impl Iterator<Item = (Range<usize>, &'c str)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, literal) in changes {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(literal);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Removes members that repeat an earlier member of the same value.
fn drop_duplicates(value: &Document, edits: &mut Edits) -> Option<Document> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut dropped = Edits::default();
    value.each_repeated(|repeated, path| {
        let (offset, later) = (repeated.offset(), repeated.later);
        let is_dropped_already = spans.last().is_some_and(|span| offset < span.end);
        let says_the_same = || repeated.first().is_some_and(|first| first.same_value(later));
        if is_dropped_already || !says_the_same() {
            return;
        }
        // A repeated member is never the first, so a comma stands before it.
        let before = value.text().get(..offset).unwrap_or_default();
        if let Some(comma) = before.rfind(',') {
            spans.push(comma..later.span().end);
            let kind = EditKind::DuplicateMember;
            dropped.record_place(kind, || Edit::at(kind, path.pointer()));
        }
    });
    if spans.is_empty() {
        return None;
    }
    let text = splice(value.text(), spans.into_iter().map(|span| (span, "")));
    let document = Document::parse(text).ok()?;
    edits.append(dropped);
    Some(document)
}

/// Returns the changes that the findings of one validation ask for, by offset.
fn changes(contract: &Contract, value: &Document) -> BTreeMap<usize, Change> {
    let mut wishes = Wishes::default();
    let found = find(contract, value, None, |findings| {
        for error in std::mem::take(&mut findings.errors) {
            wishes.add(&error, &mut findings.locator);
        }
    });
    // What was found before the work was too much may be half of the truth.
    if found.is_err() {
        return BTreeMap::new();
    }
    wishes.agreed()
}

/// What would make single values conform, `None` where two findings disagree.
#[derive(Default)]
struct Wishes(BTreeMap<usize, Option<Change>>);

impl Wishes {
    fn add(&mut self, error: &ValidationError<'_>, locator: &mut Locator<'_>) {
        let here = error.instance_path().as_str();
        let Some(branches) = branches(error) else {
            let types = type_names(error.kind()).into_iter().collect();
            if let Some(node) = locator.at(here) {
                let reading = respell(node, error.kind()).or_else(|| retype(node, &types));
                if reading.is_none() && is_constant_in_other_case(node, error.kind()) {
                    self.0.insert(node.span().start, None);
                }
                self.wish(here, node, reading);
            }
            return;
        };
        let branches = Branch::all(branches);
        let types: Option<Vec<_>> = branches.iter().map(|branch| branch.wrong_type(here)).collect();
        if let Some(types) = types {
            let union = types.into_iter().flat_map(type_names).collect();
            if let Some(node) = locator.at(here) {
                self.wish(here, node, retype(node, &union));
            }
            return;
        }
        // Some branch takes this kind of value, so it stays what it is.
        let fitting = || branches.iter().filter(|branch| branch.wrong_type(here).is_none());
        let least = fitting().map(|branch| branch.misfit(here)).min();
        let mut best = fitting().filter(|branch| Some(branch.misfit(here)) == least);
        let mut read = |branch: &Branch<'_>| {
            let mut wishes = Self::default();
            branch.errors.iter().for_each(|inner| wishes.add(inner, locator));
            wishes
        };
        let Some(mut wishes) = best.next().map(&mut read) else { return };
        for rival in best {
            wishes.doubt(&read(rival));
        }
        // A branch that fits less well still tells which spellings are allowed here.
        for rival in fitting().filter(|branch| Some(branch.misfit(here)) != least) {
            let Self(mut other) = read(rival);
            other.retain(|_, wish| wish.is_none() || is_respelling(wish.as_ref()));
            wishes.doubt_respellings(&Self(other));
        }
        for rival in fitting().filter(|branch| branch.may_be_meant(here, least)) {
            wishes.doubt_types(&rival.wrong_types());
        }
        self.join(wishes);
    }

    /// Gives up every respelling that `rival` has another one for.
    fn doubt_respellings(&mut self, rival: &Self) {
        for (offset, other) in &rival.0 {
            if let Some(wish) = self.0.get_mut(offset)
                && is_respelling(wish.as_ref())
                && !agree(wish.as_ref(), other.as_ref())
            {
                *wish = None;
            }
        }
    }

    /// Gives up every change of type, unless the type is wrong for the rival too.
    fn doubt_types(&mut self, wrong: &HashSet<&str>) {
        for wish in self.0.values_mut() {
            let keeps = |change: &Change| {
                let pointer = change.edit.pointer.as_ref().map(ToString::to_string);
                matches!(change.edit.kind, EditKind::EnumCase | EditKind::Trimmed)
                    || pointer.is_some_and(|pointer| wrong.contains(pointer.as_str()))
            };
            if !wish.as_ref().is_none_or(keeps) {
                *wish = None;
            }
        }
    }

    /// Gives up every wish that `rival` has another one for.
    fn doubt(&mut self, rival: &Self) {
        for (offset, other) in &rival.0 {
            if let Some(wish) = self.0.get_mut(offset)
                && !agree(wish.as_ref(), other.as_ref())
            {
                *wish = None;
            }
        }
    }

    fn join(&mut self, wishes: Self) {
        self.doubt(&wishes);
        for (offset, wish) in wishes.0 {
            self.0.entry(offset).or_insert(wish);
        }
    }

    fn wish(&mut self, pointer: &str, node: Node<'_>, reading: Option<(EditKind, String)>) {
        let Some((kind, literal)) = reading else {
            return;
        };
        let span = node.span();
        let edit = Edit::at(kind, pointer.into());
        self.join(Self(BTreeMap::from([(span.start, Some(Change { span, literal, edit }))])));
    }

    fn agreed(self) -> BTreeMap<usize, Change> {
        self.0.into_iter().filter_map(|(offset, wish)| Some((offset, wish?))).collect()
    }
}

/// Claims that `wish` is for another case of the same letters.
fn is_respelling(wish: Option<&Change>) -> bool {
    wish.is_some_and(|change| change.edit.kind == EditKind::EnumCase)
}

/// Claims that both wishes are for the same literal.
fn agree(left: Option<&Change>, right: Option<&Change>) -> bool {
    left.zip(right).is_some_and(|(left, right)| left.literal == right.literal)
}

/// Reads a value as one of `types`, if it can be read as one of them in one way.
fn retype(node: Node<'_>, types: &BTreeSet<&str>) -> Option<(EditKind, String)> {
    match node.kind() {
        Kind::String => read_string(node.as_str()?, types),
        Kind::Number | Kind::Boolean => {
            let only_string = types.contains("string")
                && types.iter().all(|name| matches!(*name, "string" | "null"));
            only_string.then(|| (EditKind::ScalarToString, format!("\"{}\"", node.raw())))
        }
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// Reads what a string spells: a boolean, a number, an array or an object, but never `null`.
fn read_string(text: &str, types: &BTreeSet<&str>) -> Option<(EditKind, String)> {
    if types.contains("boolean") {
        for literal in ["true", "false"] {
            if text.eq_ignore_ascii_case(literal) {
                return Some((EditKind::StringToBoolean, literal.to_owned()));
            }
        }
    }
    let is_candidate = text.trim_start().starts_with(|first: char| {
        first == '-' || first == '[' || first == '{' || first.is_ascii_digit()
    });
    let spelt = is_candidate.then(|| Document::parse(text).ok()).flatten()?;
    let root = spelt.root();
    match root.kind() {
        Kind::Number if root.raw() == text => read_number(root.as_number()?, types),
        kind @ (Kind::Array | Kind::Object) if types.contains(kind.name()) => {
            Some((EditKind::StringToContainer, text.to_owned()))
        }
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String | Kind::Array | Kind::Object => {
            None
        }
    }
}

fn read_number(number: Number<'_>, types: &BTreeSet<&str>) -> Option<(EditKind, String)> {
    let literal = number.as_str();
    if types.contains("number") {
        return Some((EditKind::StringToNumber, literal.to_owned()));
    }
    if !types.contains("integer") || !number.is_integer() {
        return None;
    }
    // `3.0` is written `3`, which draft 4 and typed consumers want.
    let whole = literal.split_once('.').filter(|_| !literal.contains(['e', 'E']));
    let literal = whole.map_or(literal, |(whole, _)| whole);
    Some((EditKind::StringToNumber, literal.to_owned()))
}

/// Claims that a string differs from a constant by case alone, which is never corrected.
fn is_constant_in_other_case(node: Node<'_>, broken: &ValidationErrorKind) -> bool {
    let members = allowed(broken).filter(|_| constant(broken).is_some()).unwrap_or_default();
    let said = node.as_str().unwrap_or_default().trim();
    members.iter().filter_map(|member| member.as_str()).any(|name| same_letters(name, said))
}

/// Spells a string as the only member of an enumeration that it can mean.
fn respell(node: Node<'_>, broken: &ValidationErrorKind) -> Option<(EditKind, String)> {
    let said = node.as_str()?;
    let members = allowed(broken).filter(|members| members.len() <= MEMBER_LIMIT)?;
    let names = || members.iter().filter_map(|member| member.as_str());
    let trimmed = said.trim();
    if names().any(|name| name == trimmed) {
        return Some((EditKind::Trimmed, Value::from(trimmed).to_string()));
    }
    if constant(broken).is_some() {
        return None;
    }
    let mut alike = names().filter(|name| same_letters(name, trimmed));
    let only = alike.next().filter(|_| alike.next().is_none())?;
    Some((EditKind::EnumCase, Value::from(only).to_string()))
}

fn same_letters(left: &str, right: &str) -> bool {
    left.chars().flat_map(char::to_lowercase).eq(right.chars().flat_map(char::to_lowercase))
}
