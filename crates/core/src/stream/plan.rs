//! What a contract demands of each place in an answer, as far as it can be followed byte by byte.
//!
//! A [`Shape`] accepts at least what its schema accepts. What it cannot follow is left out and
//! listed, so a shape that refuses is always right, and one that accepts decides nothing.

mod compile;
mod shape;

use crate::contract::Contract;
use crate::json::Pointer;

pub(super) use shape::{Alternatives, Breach, Shape, ShapeId};

/// A contract, prepared for following answers; made once and shared by every [`Checker`].
///
/// [`Checker`]: super::Checker
#[derive(Debug)]
pub struct Plan {
    shapes: Vec<Shape>,
    root: ShapeId,
    unenforced: Vec<Unenforced>,
}

/// A keyword that only the final verdict enforces, in full or in part.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Unenforced {
    /// The schema that holds it.
    pub pointer: Pointer,
    /// The keyword.
    pub keyword: String,
}

impl Plan {
    /// Prepares `contract`.
    pub fn compile(contract: &Contract) -> Self {
        compile::compile(contract.schema(), contract.draft())
    }

    /// Returns the plan that any JSON value follows.
    pub fn anything() -> Self {
        Self {
            shapes: vec![Shape::anything(), Shape::nothing()],
            root: ShapeId::ANYTHING,
            unenforced: Vec::new(),
        }
    }

    /// Returns what waits for the final verdict.
    pub fn unenforced(&self) -> &[Unenforced] {
        &self.unenforced
    }

    pub(super) fn root(&self) -> ShapeId {
        self.root
    }

    pub(super) fn shape(&self, id: ShapeId) -> &Shape {
        self.shapes.get(id.index()).unwrap_or(const { &Shape::anything() })
    }
}
