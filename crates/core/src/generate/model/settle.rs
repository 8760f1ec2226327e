//! What can only be said of types when all of them are known.

use std::collections::{HashMap, HashSet};

use super::build::{Builder, Slot};
use super::overlap::may_overlap;
use super::{Definition, Form, Id, Model, Presence, Type, Union};
use crate::lower::{EnforcedBy, Loss, Narrowing};

/// How many definitions that only stand for others may be left out in a row.
const CHAIN_LIMIT: usize = 16;

impl Builder<'_> {
    /// Finishes the model.
    pub(super) fn settle(mut self) -> Model {
        for slot in &mut self.slots {
            slot.form.get_or_insert(Form::Alias(Type::Any));
        }
        self.merge_root();
        let replaced = Aliases::of(&self.slots).replace(&mut self.slots);
        for union in &mut self.exclusive {
            for of in &mut union.alternatives {
                replaced.apply(of);
            }
        }
        self.lose_exclusive();
        let tags: Vec<Option<String>> =
            self.slots.iter().map(|slot| tag(&self.slots, slot)).collect();
        for (slot, found) in self.slots.iter_mut().zip(tags) {
            if let Some(Form::Union(union)) = &mut slot.form {
                union.tag = found;
            }
        }
        let definitions = numbered(self.slots);
        let lost =
            |(pointer, keyword)| Loss { pointer, keyword, enforced_by: EnforcedBy::VerdictOnly };
        let narrowed = |(pointer, unsayable)| Narrowing { pointer, unsayable };
        Model {
            definitions,
            losses: self.losses.into_iter().map(lost).collect(),
            narrowings: self.narrowings.into_iter().map(narrowed).collect(),
            large_integers: self.large_integers.into_iter().collect(),
        }
    }

    /// Lets a root that only stands for another definition be that one.
    fn merge_root(&mut self) {
        let mut merged = HashSet::new();
        while let Some(Form::Alias(Type::Named(id))) =
            self.slots.first().and_then(|it| it.form.clone())
        {
            if id == Id::ROOT || !merged.insert(id) {
                break;
            }
            let Some(other) = self.slots.get_mut(id.0) else { break };
            let form = other.form.replace(Form::Alias(Type::Named(Id::ROOT)));
            let description = other.description.clone();
            if let Some(root) = self.slots.first_mut() {
                root.form = form;
                root.description = root.description.take().or(description);
            }
        }
    }

    /// Records every `oneOf` whose alternatives may apply together.
    fn lose_exclusive(&mut self) {
        for union in std::mem::take(&mut self.exclusive) {
            let is_apart = union.alternatives.iter().enumerate().all(|(position, left)| {
                let others = union.alternatives.iter().skip(position + 1);
                others.into_iter().all(|right| !may_overlap(&self.slots, left, right))
            });
            if !is_apart {
                self.losses.insert((union.at, "oneOf".to_owned()));
            }
        }
    }
}

/// Definitions that only stand for other types, by what they stand for.
struct Aliases(HashMap<Id, Type>);

impl Aliases {
    fn of(slots: &[Slot]) -> Self {
        let alias = |id: Id| match slots.get(id.0).and_then(|slot| slot.form.as_ref()) {
            Some(Form::Alias(of)) if id != Id::ROOT => Some(of),
            _ => None,
        };
        // How many aliases each one leads through; those in circles have no number.
        let mut depths: HashMap<Id, Option<usize>> = HashMap::new();
        for start in (0..slots.len()).map(Id) {
            let mut path: Vec<Id> = Vec::new();
            let mut on_path = HashSet::new();
            let mut at = Some(start);
            while let Some(id) = at.filter(|id| alias(*id).is_some() && !depths.contains_key(id)) {
                if !on_path.insert(id) {
                    break;
                }
                path.push(id);
                at = alias(id).and_then(Type::named);
            }
            let mut depth = match at {
                Some(id) if on_path.contains(&id) => None,
                Some(id) => depths.get(&id).copied().unwrap_or(Some(0)),
                None => Some(0),
            };
            let mut closes = at.filter(|id| on_path.contains(id));
            for id in path.into_iter().rev() {
                depth = match closes {
                    Some(_) => None,
                    None => Some(depth.map_or(1, |depth| depth + 1)),
                };
                depths.insert(id, depth);
                closes = closes.filter(|first| *first != id);
            }
        }
        // Some names stay in a long chain, so that types do not nest without end.
        let is_short =
            |depth: &Option<usize>| depth.is_some_and(|it| !it.is_multiple_of(CHAIN_LIMIT));
        let short = depths.iter().filter(|(_, depth)| is_short(depth));
        Self(short.filter_map(|(id, _)| Some((*id, alias(*id)?.clone()))).collect())
    }

    /// Writes what aliases stand for in their places.
    fn replace(self, slots: &mut [Slot]) -> Self {
        for form in slots.iter_mut().filter_map(|slot| slot.form.as_mut()) {
            for part in form.parts_mut() {
                self.apply(part);
            }
        }
        self
    }

    fn apply(&self, of: &mut Type) {
        match of {
            // No chain of these is longer than its limit.
            Type::Named(id) => {
                if let Some(stands_for) = self.0.get(id) {
                    *of = stands_for.clone();
                    self.apply(of);
                }
            }
            Type::List(inner) | Type::Map(inner) => self.apply(inner),
            Type::Nullable(inner) => {
                self.apply(inner);
                let inner = std::mem::replace(&mut **inner, Type::Null);
                *of = inner.or_null();
            }
            Type::Any | Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::Text => {}
        }
    }
}

/// Returns the member by whose word the alternatives of a union are told apart.
fn tag(slots: &[Slot], slot: &Slot) -> Option<String> {
    let Some(Form::Union(Union { variants, .. })) = &slot.form else { return None };
    let mut marked = Vec::new();
    for variant in variants {
        marked.push(marks(slots, &variant.of)?);
    }
    let candidates = marked.first()?;
    let found = candidates.iter().find(|(key, _)| {
        let mut words = HashSet::new();
        let word = |marks: &Vec<(&str, &str)>| {
            marks.iter().find(|(other, _)| other == key).map(|(_, word)| (*word).to_owned())
        };
        marked.iter().all(|marks| word(marks).is_some_and(|word| words.insert(word)))
    });
    found.map(|(key, _)| (*key).to_owned())
}

/// Returns the members of an object that must have one word, with that word.
fn marks<'s>(slots: &'s [Slot], of: &Type) -> Option<Vec<(&'s str, &'s str)>> {
    let form = |of: &Type| {
        let Type::Named(id) = of else { return None };
        slots.get(id.0).and_then(|slot| slot.form.as_ref())
    };
    let object = form(of)?.as_object()?;
    let required = object.members.iter().filter(|member| member.presence == Presence::Required);
    let marks = required.filter_map(|member| {
        let [word] = form(&member.of)?.as_words()? else { return None };
        Some((member.key.as_str(), word.as_str()))
    });
    Some(marks.collect())
}

/// Numbers the definitions that the root leads to by first use, and notes their circles.
fn numbered(slots: Vec<Slot>) -> Vec<Definition> {
    let named = |form: &Form| form.parts().into_iter().filter_map(Type::named).collect::<Vec<Id>>();
    let edges: Vec<Vec<Id>> =
        slots.iter().map(|slot| slot.form.as_ref().map(named).unwrap_or_default()).collect();
    let order = reached(&edges);
    let numbers: HashMap<Id, Id> =
        order.iter().enumerate().map(|(number, id)| (*id, Id(number))).collect();
    let circles = circles(&edges, &order);
    let mut uses: HashMap<Id, usize> = HashMap::new();
    for id in order.iter().filter_map(|id| edges.get(id.0)).flatten() {
        *uses.entry(*id).or_default() += 1;
    }
    let mut slots: Vec<Option<Slot>> = slots.into_iter().map(Some).collect();
    let mut definitions = Vec::new();
    for id in order {
        let Some(slot) = slots.get_mut(id.0).and_then(Option::take) else { continue };
        let mut form = slot.form.unwrap_or(Form::Alias(Type::Any));
        for part in form.parts_mut() {
            renumber(part, &numbers);
        }
        let Slot { name, description, .. } = slot;
        let uses = uses.get(&id).copied().unwrap_or_default();
        let circle = circles.get(&id).copied();
        definitions.push(Definition { name, description, form, circle, uses });
    }
    definitions
}

fn renumber(of: &mut Type, numbers: &HashMap<Id, Id>) {
    match of {
        Type::Named(id) => *id = numbers.get(id).copied().unwrap_or(Id::ROOT),
        Type::List(inner) | Type::Map(inner) | Type::Nullable(inner) => renumber(inner, numbers),
        Type::Any | Type::Null | Type::Boolean | Type::Integer | Type::Number | Type::Text => {}
    }
}

/// Returns what the root leads to, owners before what they own.
fn reached(edges: &[Vec<Id>]) -> Vec<Id> {
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![Id::ROOT];
    while let Some(id) = waiting.pop() {
        if seen.insert(id) {
            order.push(id);
            waiting.extend(edges.get(id.0).into_iter().flatten().rev());
        }
    }
    order
}

/// Returns the definitions that lead back to themselves, each with the number of its circle.
fn circles(edges: &[Vec<Id>], order: &[Id]) -> HashMap<Id, usize> {
    let mut backwards: HashMap<Id, Vec<Id>> = HashMap::new();
    for id in order {
        for to in edges.get(id.0).into_iter().flatten() {
            backwards.entry(*to).or_default().push(*id);
        }
    }
    let mut circles: HashMap<Id, usize> = HashMap::new();
    let mut grouped = HashSet::new();
    for (number, start) in finished(edges, order).into_iter().rev().enumerate() {
        let mut group = Vec::new();
        let mut waiting = vec![start];
        while let Some(id) = waiting.pop() {
            if grouped.insert(id) {
                group.push(id);
                waiting.extend(backwards.get(&id).into_iter().flatten());
            }
        }
        let is_own = |id: &Id| edges.get(id.0).is_some_and(|to| to.contains(id));
        if group.len() > 1 || group.iter().any(is_own) {
            circles.extend(group.into_iter().map(|id| (id, number)));
        }
    }
    circles
}

/// Returns the definitions in the order in which a search is done with them.
fn finished(edges: &[Vec<Id>], order: &[Id]) -> Vec<Id> {
    let mut done = Vec::new();
    let mut seen = HashSet::new();
    for start in order {
        let mut path = vec![(*start, 0)];
        if !seen.insert(*start) {
            continue;
        }
        while let Some((id, next)) = path.pop() {
            match edges.get(id.0).and_then(|to| to.get(next)) {
                Some(to) => {
                    path.push((id, next + 1));
                    if seen.insert(*to) {
                        path.push((*to, 0));
                    }
                }
                None => done.push(id),
            }
        }
    }
    done
}
