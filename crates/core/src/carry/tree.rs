//! An answer that can be rearranged. Its scalars stay text, so that every digit is kept.

use crate::json::{Document, Kind, Node, Pointer};

use super::path::Part;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    Scalar(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// What is called with the members of an object, and the way there.
pub(super) type Visit<'v> = dyn FnMut(&mut Vec<(String, Tree)>, &Trail) + 'v;

impl Tree {
    /// Reads a value. Recurses as deep as the document, which is bounded.
    pub(super) fn of(node: Node<'_>) -> Self {
        match node.kind() {
            Kind::Object => Self::Object(
                node.members().map(|(key, it)| (key.to_owned(), Self::of(it))).collect(),
            ),
            Kind::Array => Self::Array(node.items().map(Self::of).collect()),
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => {
                let mut raw = String::new();
                node.write_compact(&mut raw);
                Self::Scalar(raw)
            }
        }
    }

    /// Returns it as a document; nothing if it is over the limits of one.
    pub(super) fn document(&self) -> Option<Document> {
        let mut text = String::new();
        self.write(&mut text);
        Document::parse(text).ok()
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Scalar(raw) => out.push_str(raw),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (key, member)) in members.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(&serde_json::Value::from(key.as_str()).to_string());
                    out.push(':');
                    member.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Calls `visit` with every object that `parts`, but the last, lead to, and the way there.
    pub(super) fn holders(&mut self, parts: &[Part], at: &Trail, visit: &mut Visit<'_>) {
        match (parts, self) {
            ([_], Self::Object(members)) => visit(members, at),
            ([Part::Key(key), rest @ ..], Self::Object(members)) => {
                if let Some((_, inner)) = members.iter_mut().find(|(name, _)| name == key) {
                    inner.holders(rest, &at.key(key), visit);
                }
            }
            ([Part::Each, rest @ ..], Self::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    item.holders(rest, &at.index(index), visit);
                }
            }
            _ => {}
        }
    }

    /// Returns the object that `parts` lead to, with objects made on the way where there is nothing.
    /// `indexes` says which item is meant where a part is every item.
    pub(super) fn reach(
        &mut self,
        parts: &[Part],
        indexes: &mut std::slice::Iter<'_, usize>,
    ) -> Option<&mut Vec<(String, Self)>> {
        match (parts, self) {
            ([], Self::Object(members)) => Some(members),
            ([Part::Key(key), rest @ ..], Self::Object(members)) => {
                let position = match members.iter().position(|(name, _)| name == key) {
                    Some(position) => position,
                    // A missing array has no items, and so nothing to put into it.
                    None if rest.contains(&Part::Each) => return None,
                    None => {
                        members.push((key.clone(), Self::Object(Vec::new())));
                        members.len() - 1
                    }
                };
                members.get_mut(position)?.1.reach(rest, indexes)
            }
            ([Part::Each, rest @ ..], Self::Array(items)) => {
                items.get_mut(*indexes.next()?)?.reach(rest, indexes)
            }
            _ => None,
        }
    }
}

/// The way to a part of an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail {
    pub(super) pointer: Pointer,
    /// Which items it goes through.
    pub(super) indexes: Vec<usize>,
}

impl Trail {
    pub(super) fn key(&self, key: &str) -> Self {
        Self { pointer: self.pointer.key(key), indexes: self.indexes.clone() }
    }

    fn index(&self, index: usize) -> Self {
        let indexes = self.indexes.iter().copied().chain([index]).collect();
        Self { pointer: self.pointer.index(index), indexes }
    }
}
