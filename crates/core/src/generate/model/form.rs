//! What types are made of.

use super::Id;
use crate::json::Pointer;

/// What a definition is made of.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) enum Form {
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
pub(in crate::generate) enum Type {
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
    pub(in crate::generate) fn named(&self) -> Option<Id> {
        match self {
            Self::Named(id) => Some(*id),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.named(),
            Self::Any | Self::Null | Self::Boolean | Self::Integer | Self::Number | Self::Text => {
                None
            }
        }
    }

    /// Returns it, or `null`.
    pub(super) fn or_null(self) -> Self {
        if matches!(self, Self::Any | Self::Null | Self::Nullable(_)) {
            return self;
        }
        Self::Nullable(Box::new(self))
    }
}

impl Form {
    pub(in crate::generate) fn as_object(&self) -> Option<&Object> {
        let Self::Object(object) = self else { return None };
        Some(object)
    }

    pub(in crate::generate) fn as_text(&self) -> Option<&Text> {
        let Self::Text(text) = self else { return None };
        Some(text)
    }

    pub(in crate::generate) fn as_words(&self) -> Option<&[String]> {
        let Self::Words(words) = self else { return None };
        Some(words)
    }

    /// Returns every type that it is made of.
    pub(in crate::generate) fn parts(&self) -> Vec<&Type> {
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

    pub(super) fn parts_mut(&mut self) -> Vec<&mut Type> {
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
pub(in crate::generate) struct Text {
    pub(in crate::generate) min: u64,
    pub(in crate::generate) max: Option<u64>,
    pub(in crate::generate) patterns: Vec<Pattern>,
}

/// A pattern that must be found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) struct Pattern {
    /// As the contract has it: ECMA-262.
    pub(in crate::generate) text: String,
    /// The schema that has it.
    pub(in crate::generate) at: Pointer,
}

/// An integer with bounds, both inclusive.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::generate) struct Integer {
    pub(in crate::generate) min: Option<i64>,
    pub(in crate::generate) max: Option<i64>,
    /// It is a multiple of each of these.
    pub(in crate::generate) multiples: Vec<i64>,
    /// It is one of these, where they are listed.
    pub(in crate::generate) allowed: Vec<i64>,
}

/// A number with bounds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::generate) struct Number {
    pub(in crate::generate) min: Option<Bound>,
    pub(in crate::generate) max: Option<Bound>,
    /// It is one of these, where they are listed.
    pub(in crate::generate) allowed: Vec<f64>,
}

/// The end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::generate) struct Bound {
    pub(in crate::generate) value: f64,
    pub(in crate::generate) edge: Edge,
}

/// Whether the end of a range belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::generate) enum Edge {
    Inclusive,
    Exclusive,
}

/// A list with bounds.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) struct List {
    pub(in crate::generate) items: Type,
    pub(in crate::generate) min: u64,
    pub(in crate::generate) max: Option<u64>,
}

/// An object with keys that are known.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) struct Object {
    pub(in crate::generate) members: Vec<Member>,
    pub(in crate::generate) rest: Rest,
}

/// What may stand beside the members that are known.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) enum Rest {
    /// Nothing.
    Closed,
    /// Anything; nothing is said about it.
    Open,
    /// Members of this type.
    Typed(Type),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) struct Member {
    pub(in crate::generate) key: String,
    pub(in crate::generate) presence: Presence,
    pub(in crate::generate) of: Type,
    pub(in crate::generate) description: Option<String>,
}

/// Whether a member may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::generate) enum Presence {
    Required,
    Optional,
}

/// One of several types.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) struct Union {
    pub(in crate::generate) variants: Vec<Variant>,
    /// The member by whose word the variants, all objects, are told apart.
    pub(in crate::generate) tag: Option<String>,
}

/// One of the types of a union.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::generate) struct Variant {
    /// In Pascal case, and like no other of the union.
    pub(in crate::generate) name: String,
    pub(in crate::generate) of: Type,
}
