//! The way back: from an answer in the adapted shape to what it says in the contract's.
//!
//! Works on the text, so that numbers keep their digits. Changes nothing but what lowering made:
//! the wrapper of the root, nulls that say "absent", and values that travel as JSON text.

use super::lowerer::WRAPPER;
use super::shape::{Presence, Shape, ShapeId, Shapes};
use crate::json::{Document, Kind, Node, ParseError, Path, Pointer};

/// Turns answers back into the contract's shape.
#[derive(Debug, Clone)]
pub struct Inverse {
    pub(super) shapes: Shapes,
    pub(super) root: ShapeId,
    pub(super) is_wrapped: bool,
    /// The member that carries JSON text.
    pub(super) carrier: String,
}

/// Why an answer cannot be turned back; the adapted schema does not allow it either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InverseError {
    /// The root is not the wrapper that the adapted schema demands.
    #[error("the answer is not an object with the one member `value`")]
    NotWrapped,
    /// A value that travels as JSON text is not JSON.
    #[error("{pointer}: the text is not JSON")]
    NotJson {
        /// Where in the contract's shape.
        pointer: Pointer,
        /// What is wrong with it.
        #[source]
        source: ParseError,
    },
    /// The answer is too deep or too large once its texts are unfolded.
    #[error("the unfolded answer cannot be read")]
    Unreadable(#[source] ParseError),
}

impl Inverse {
    pub(super) fn new(shapes: Shapes, root: ShapeId, is_wrapped: bool, carrier: String) -> Self {
        Self { shapes, root, is_wrapped, carrier }
    }

    /// Claims that every answer stays as it is.
    pub fn is_identity(&self) -> bool {
        !self.is_wrapped && self.shapes.are_plain()
    }

    /// Returns the member of the answer that holds the whole value, if the root is wrapped.
    pub fn wrapper(&self) -> Option<&'static str> {
        self.is_wrapped.then_some(WRAPPER)
    }

    pub(super) fn carries_text(&self) -> bool {
        self.shapes.carry_text()
    }

    pub(super) fn reads_nulls(&self) -> bool {
        self.shapes.read_nulls()
    }

    /// Returns what `answer` says in the contract's shape. Nobody has judged it yet.
    pub fn apply(&self, answer: &Document) -> Result<Document, InverseError> {
        if self.is_identity() {
            return Ok(answer.clone());
        }
        let mut root = answer.root();
        if self.is_wrapped {
            let inner = root.member(WRAPPER).filter(|_| root.len() == 1);
            root = inner.ok_or(InverseError::NotWrapped)?;
        }
        let mut text = String::with_capacity(root.raw().len());
        self.write(root, &self.shapes.closure([self.root]), &Path::Root, &mut text)?;
        Document::parse(text).map_err(InverseError::Unreadable)
    }

    fn write(
        &self,
        node: Node<'_>,
        shapes: &[ShapeId],
        path: &Path<'_>,
        out: &mut String,
    ) -> Result<(), InverseError> {
        let shapes: Vec<&Shape> = shapes.iter().filter_map(|id| self.shapes.at(*id)).collect();
        match node.kind() {
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => out.push_str(node.raw()),
            Kind::Array => {
                let items = self.shapes.closure(shapes.iter().filter_map(|shape| shape.items));
                out.push('[');
                for (position, item) in node.items().enumerate() {
                    if position > 0 {
                        out.push(',');
                    }
                    self.write(item, &items, &Path::Index(path, position), out)?;
                }
                out.push(']');
            }
            Kind::Object => match self.carried(node, &shapes) {
                Some(text) => {
                    let carried = Document::parse(text).map_err(|source| {
                        InverseError::NotJson { pointer: path.pointer(), source }
                    })?;
                    carried.root().write_compact(out);
                }
                None => self.write_object(node, &shapes, path, out)?,
            },
        }
        Ok(())
    }

    /// Returns the JSON text that stands for the value here, if one does.
    fn carried<'d>(&self, node: Node<'d>, shapes: &[&Shape]) -> Option<&'d str> {
        if node.len() != 1 || !shapes.iter().any(|shape| shape.is_text) {
            return None;
        }
        node.member(&self.carrier)?.as_str()
    }

    fn write_object(
        &self,
        node: Node<'_>,
        shapes: &[&Shape],
        path: &Path<'_>,
        out: &mut String,
    ) -> Result<(), InverseError> {
        let mut meant: Vec<&Shape> =
            shapes.iter().filter(|shape| shape.members.is_some()).copied().collect();
        // A lone shape is meant even by an answer that does not quite keep to it.
        if meant.len() > 1 {
            meant.retain(|shape| shape.fits(node));
        }
        out.push('{');
        let mut is_first = true;
        for (key, value) in node.keyed_members() {
            let name = key.as_str().unwrap_or_default();
            let declared: Vec<_> =
                meant.iter().filter_map(|shape| shape.members.as_ref()?.get(name)).collect();
            let says_absent = value.is_null()
                && declared.iter().any(|member| member.presence == Presence::NullIfAbsent)
                && !declared.iter().any(|member| member.presence.means_null());
            if says_absent {
                continue;
            }
            if !is_first {
                out.push(',');
            }
            is_first = false;
            out.push_str(key.raw());
            out.push(':');
            let inside = self.shapes.closure(declared.iter().map(|member| member.shape));
            self.write(value, &inside, &Path::Key(path, name), out)?;
        }
        out.push('}');
        Ok(())
    }
}
