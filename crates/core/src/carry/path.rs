//! Places in answers: JSON Pointers in which `*` stands for every item of an array.

use std::fmt;

use crate::contract::Contract;
use crate::json::Pointer;
use crate::judge::Shape;

use super::error::CarryError;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// To a member.
    Key(String),
    /// To every item.
    Each,
}

/// A place in answers, other than the whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    text: String,
    pub(super) parts: Vec<Part>,
}

impl Path {
    /// Reads a pointer that leads to a member.
    pub(super) fn parse(text: &str) -> Result<Self, CarryError> {
        let refused = || CarryError::NoPointer(text.to_owned());
        if !text.starts_with('/') {
            return Err(refused());
        }
        let part = |segment: String| if segment == "*" { Part::Each } else { Part::Key(segment) };
        let parts: Vec<Part> = Pointer::from(text).segments().map(part).collect();
        match parts.last() {
            Some(Part::Key(_)) => Ok(Self { text: text.to_owned(), parts }),
            Some(Part::Each) | None => Err(refused()),
        }
    }

    /// Returns how many arrays it goes through.
    pub(super) fn arrays(&self) -> usize {
        self.parts.iter().filter(|part| **part == Part::Each).count()
    }

    /// Claims that `other` is this place, or within it.
    pub(super) fn holds(&self, other: &Self) -> bool {
        other.parts.starts_with(&self.parts)
    }

    /// Claims that `contract` declares such a place.
    pub(super) fn is_declared_by(&self, contract: &Contract) -> bool {
        !matches!(self.find(contract), Found::Nowhere)
    }

    /// Returns what `contract` says of the place, if it says all of it plainly.
    pub(super) fn shape_in<'c>(&self, contract: &'c Contract) -> Option<Shape<'c>> {
        match self.find(contract) {
            Found::Here(shape) => Some(shape),
            Found::Open | Found::Nowhere => None,
        }
    }

    fn find<'c>(&self, contract: &'c Contract) -> Found<'c> {
        let mut shape = Shape::of_root(contract);
        for part in &self.parts {
            if shape.is_open() {
                return Found::Open;
            }
            shape = match part {
                Part::Key(key) if shape.declares(key) => shape.member(key),
                Part::Each if shape.has_items() => shape.item(),
                Part::Key(_) | Part::Each => return Found::Nowhere,
            };
        }
        Found::Here(shape)
    }
}

/// Where a path leads in a contract.
enum Found<'c> {
    /// To a place that is declared.
    Here(Shape<'c>),
    /// Through one where anything may be.
    Open,
    /// Nowhere.
    Nowhere,
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
