//! The types of a contract, as every target language can have them.
//!
//! Objects, choices, unions and whatever has bounds are definitions with names; targets decide which of
//! them they declare and which they write in place. Every constraint of the contract is either in here
//! or among the losses.

#[cfg(test)]
mod accepts;
mod array;
mod build;
mod choice;
mod form;
mod lost;
mod number;
mod object;
mod overlap;
mod settle;
mod union;

use std::collections::HashSet;

use crate::contract::Contract;
use crate::json::Pointer;
use crate::lower::{Loss, Narrowing};

use super::GenerateError;

pub(super) use form::{
    Bound, Edge, Form, Integer, List, Member, Number, Object, Pattern, Presence, Rest, Text, Type,
    Union, Variant,
};

/// A definition's position in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(usize);

impl Id {
    /// The definition of the whole contract.
    pub(super) const ROOT: Self = Self(0);
}

/// The types of one contract.
#[derive(Debug)]
pub(super) struct Model {
    /// The root first, then in the order of first use.
    definitions: Vec<Definition>,
    /// What no target checks, by pointer.
    pub(super) losses: Vec<Loss>,
    /// What no target accepts, by pointer.
    pub(super) narrowings: Vec<Narrowing>,
    /// Integers that the contract does not keep within 64 bits.
    pub(super) large_integers: Vec<Pointer>,
}

impl Model {
    /// Reads the types of a contract; `name` is that of the root.
    pub(super) fn of(contract: &Contract, name: &str) -> Result<Self, GenerateError> {
        build::Builder::new(contract).build(name)
    }

    /// Returns every definition, the root first.
    pub(super) fn definitions(&self) -> impl Iterator<Item = (Id, &Definition)> {
        self.definitions.iter().enumerate().map(|(position, it)| (Id(position), it))
    }

    /// Returns every definition, each behind what it is made of, as far as no circle forbids it.
    pub(super) fn inner_first(&self) -> Vec<(Id, &Definition)> {
        let mut ordered = Vec::new();
        let mut seen = HashSet::from([Id::ROOT]);
        let mut path = vec![(Id::ROOT, 0)];
        while let Some((id, next)) = path.pop() {
            let Some(definition) = self.get(id) else { continue };
            match definition.form.parts().get(next) {
                Some(part) => {
                    path.push((id, next + 1));
                    let inner = part.named().filter(|inner| seen.insert(*inner));
                    path.extend(inner.map(|inner| (inner, 0)));
                }
                None => ordered.push((id, definition)),
            }
        }
        ordered
    }

    /// Returns a definition; every id of a model has one.
    pub(super) fn get(&self, id: Id) -> Option<&Definition> {
        self.definitions.get(id.0)
    }

    /// Returns every object.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.definitions.iter().filter_map(|definition| definition.form.as_object())
    }

    /// Returns every pattern.
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let texts = self.definitions.iter().filter_map(|definition| definition.form.as_text());
        texts.flat_map(|text| &text.patterns)
    }

    /// Claims that `from` and `to` lead to each other.
    pub(super) fn is_circular(&self, from: Id, to: Id) -> bool {
        let circle = |id: Id| self.get(id).and_then(|it| it.circle);
        circle(from).is_some() && circle(from) == circle(to)
    }
}

/// A type with a name.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    /// In Pascal case, and like no other.
    pub(super) name: String,
    /// What the contract says it is.
    pub(super) description: Option<String>,
    pub(super) form: Form,
    /// Which circle of definitions it belongs to, if it leads back to itself.
    circle: Option<usize>,
    /// How many types refer to it.
    pub(super) uses: usize,
}
