//! The types of a contract, as every target language can have them.
//!
//! Objects, choices, unions and whatever has bounds are definitions with names; targets decide which of
//! them they declare and which they write in place. Every constraint of the contract is either in here
//! or among the losses.

mod array;
#[cfg(test)]
mod accepts;
mod build;
mod choice;
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

/// What a definition is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// Another type: the root, or one that leads back to itself.
    Alias(Type),
    /// One of these strings.
    Words(Vec<String>),
    /// This boolean.
    Flag(bool),
    Text(Text),
    Integer(Integer),
    Number(Number),
    List(List),
    /// Exactly these, two at least.
    Tuple(Vec<Type>),
    Object(Object),
    Union(Union),
}

/// The use of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    List(Box<Self>),
    /// An object with any keys.
    Map(Box<Self>),
    /// This or `null`.
    Nullable(Box<Self>),
    Named(Id),
}

impl Type {
    /// Returns the definitions that it refers to.
    pub(super) fn named(&self) -> Option<Id> {
        match self {
            Self::Named(id) => Some(*id),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.named(),
            Self::Any | Self::Null | Self::Boolean | Self::Integer | Self::Number | Self::Text => {
                None
            }
        }
    }

    /// Returns it, or `null`.
    fn or_null(self) -> Self {
        match self {
            Self::Any | Self::Null | Self::Nullable(_) => self,
            other => Self::Nullable(Box::new(other)),
        }
    }
}

impl Form {
    /// Returns every type that it is made of.
    pub(super) fn parts(&self) -> Vec<&Type> {
        match self {
            Self::Alias(of) => vec![of],
            Self::List(list) => vec![&list.items],
            Self::Tuple(items) => items.iter().collect(),
            Self::Object(object) => {
                let rest = match &object.rest {
                    Rest::Typed(of) => Some(of),
                    Rest::Closed | Rest::Open => None,
                };
                object.members.iter().map(|member| &member.of).chain(rest).collect()
            }
            Self::Union(union) => union.variants.iter().map(|variant| &variant.of).collect(),
            Self::Words(_) | Self::Flag(_) | Self::Text(_) | Self::Integer(_) | Self::Number(_) => {
                Vec::new()
            }
        }
    }

    fn parts_mut(&mut self) -> Vec<&mut Type> {
        match self {
            Self::Alias(of) => vec![of],
            Self::List(list) => vec![&mut list.items],
            Self::Tuple(items) => items.iter_mut().collect(),
            Self::Object(object) => {
                let rest = match &mut object.rest {
                    Rest::Typed(of) => Some(of),
                    Rest::Closed | Rest::Open => None,
                };
                object.members.iter_mut().map(|member| &mut member.of).chain(rest).collect()
            }
            Self::Union(union) => {
                union.variants.iter_mut().map(|variant| &mut variant.of).collect()
            }
            Self::Words(_) | Self::Flag(_) | Self::Text(_) | Self::Integer(_) | Self::Number(_) => {
                Vec::new()
            }
        }
    }
}

/// Text with bounds, in characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Text {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    pub(super) patterns: Vec<Pattern>,
}

/// A pattern that must be found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    /// As the contract has it: ECMA-262.
    pub(super) text: String,
    /// The schema that has it.
    pub(super) at: Pointer,
}

/// An integer with bounds, both inclusive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Integer {
    pub(super) min: Option<i64>,
    pub(super) max: Option<i64>,
    /// It is a multiple of each of these.
    pub(super) multiples: Vec<i64>,
    /// It is one of these, where they are listed.
    pub(super) allowed: Vec<i64>,
}

/// A number with bounds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Number {
    pub(super) min: Option<Bound>,
    pub(super) max: Option<Bound>,
    /// It is one of these, where they are listed.
    pub(super) allowed: Vec<f64>,
}

/// The end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    pub(super) value: f64,
    pub(super) edge: Edge,
}

/// Whether the end of a range belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Inclusive,
    Exclusive,
}

/// A list with bounds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List {
    pub(super) items: Type,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

/// An object with keys that are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Object {
    pub(super) members: Vec<Member>,
    pub(super) rest: Rest,
}

/// What may stand beside the members that are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rest {
    /// Nothing.
    Closed,
    /// Anything; nothing is said about it.
    Open,
    /// Members of this type.
    Typed(Type),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) presence: Presence,
    pub(super) of: Type,
    pub(super) description: Option<String>,
}

/// Whether a member may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

/// One of several types.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Union {
    pub(super) variants: Vec<Variant>,
    /// The member by whose word the variants, all objects, are told apart.
    pub(super) tag: Option<String>,
}

/// One of the types of a union.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variant {
    /// In Pascal case, and like no other of the union.
    pub(super) name: String,
    pub(super) of: Type,
}
