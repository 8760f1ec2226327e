//! Lowering: a contract in the words that one provider understands.
//!
//! The adapted schema may accept more than the contract (each such gap is a [`Loss`]) and may be
//! unable to say some of what the contract accepts (each a [`Narrowing`]); nothing else differs.
//! The [`Inverse`] turns an answer back into the contract's shape, and then only the contract
//! judges it. `docs/design/lowering.md` has the rules and the laws.

mod accepts;
mod array;
mod automata;
pub(crate) mod describe;
mod dialect;
mod grammar;
mod inverse;
pub(crate) mod items;
mod leaf;
#[cfg(test)]
mod llama_cpp;
mod logic;
mod lowerer;
pub(crate) mod members;
mod object;
pub(crate) mod original;
#[cfg(test)]
mod page;
mod pattern;
pub(crate) mod place;
mod portability;
mod pre_image;
mod shape;
#[cfg(test)]
mod suite;
mod tables;
mod text;
mod union;

#[cfg(test)]
mod examples;
#[cfg(test)]
pub(crate) mod hostile;
#[cfg(test)]
pub(crate) mod laws;

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::contract::Contract;
use crate::json::Pointer;

pub use accepts::Problem;
pub use dialect::{
    Bounds, Dialect, EnumMembers, Extras, Formats, Leaves, Limits, Optionals, Patterns, Recursion,
    Root, Table, Unions, Untyped,
};
pub use inverse::{Inverse, InverseError};
pub use portability::{Fit, Portability, portability};

/// A contract adapted to a dialect.
#[derive(Debug, Clone)]
pub struct Lowering {
    /// Whose words it uses.
    pub dialect: Dialect,
    /// What to send.
    pub schema: Arc<Value>,
    /// What the adapted schema does not enforce, by pointer.
    pub losses: Vec<Loss>,
    /// What the adapted schema cannot say, by pointer.
    pub narrowings: Vec<Narrowing>,
    /// The way back for answers.
    pub inverse: Inverse,
}

/// A keyword that the adapted schema does not enforce, with everything beneath it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// The schema in the contract that has the keyword.
    pub pointer: Pointer,
    /// The keyword; `false` for the schema that nothing satisfies.
    pub keyword: String,
    /// What enforces it instead.
    pub enforced_by: EnforcedBy,
}

/// What stands in for a lost keyword. The local verdict always does, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EnforcedBy {
    /// The model is told in words.
    Description,
    /// The model does not know; the local verdict alone catches it.
    VerdictOnly,
}

/// Something that the contract accepts and the adapted schema cannot say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Narrowing {
    /// The schema in the contract.
    pub pointer: Pointer,
    /// What cannot be said.
    pub unsayable: Unsayable,
}

/// What an adapted schema cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unsayable {
    /// Members that an open object does not declare.
    UndeclaredMembers,
    /// That this member is absent, because `null` means `null` here.
    Absence,
    /// Values of other types than the keywords are about, where no type is declared.
    OtherTypes,
    /// Integers that 64 bits do not hold.
    LargeIntegers,
}

impl Unsayable {
    /// Says what it is, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            Self::UndeclaredMembers => "members that are not declared",
            Self::Absence => "that this member is absent",
            Self::OtherTypes => "values of other types than its keywords are about",
            Self::LargeIntegers => "integers that 64 bits do not hold",
        }
    }
}

/// Why a contract cannot be put into a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {why}")]
pub struct Unportable {
    /// Where in the contract, or in the adapted schema for limits of the whole.
    pub pointer: Pointer,
    /// What stands in the way.
    pub why: String,
}

/// Adapts `contract` to `dialect`.
pub fn lower(contract: &Contract, dialect: Dialect) -> Result<Lowering, Unportable> {
    let table = dialect.table();
    lowerer::Lowerer::new(contract, table).lower(dialect, table.root)
}

/// Adapts `contract` to `dialect` as the parameters of a tool, which are always an object.
pub fn lower_parameters(contract: &Contract, dialect: Dialect) -> Result<Lowering, Unportable> {
    lowerer::Lowerer::new(contract, dialect.table()).lower(dialect, Root::Object)
}
