//! Members that repeat a key of their object, and where they are.
//!
//! All of them are known, but a place is all keys above it: under a key of a megabyte a hundred
//! thousand places take as many megabytes. So only those are written down that somebody reads.

use super::document::{Document, Node};
use super::path::Path;
use super::pointer::Pointer;

/// How many bytes the places of all duplicates that are returned may take, except for the first:
/// more than anybody reads.
const PLACE_LIMIT_BYTES: usize = 1024 * 1024;

/// A member whose key occurred before in the same object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// Where both members are.
    pub pointer: Pointer,
    /// Byte offset of the later key.
    pub offset: usize,
}

/// A member whose key occurred before in the same object, while the document is walked.
#[derive(Clone, Copy)]
pub(crate) struct Repeated<'d> {
    object: Node<'d>,
    key: Node<'d>,
    /// The value of the later member.
    pub(crate) later: Node<'d>,
}

impl<'d> Repeated<'d> {
    /// Returns the value of the first member with this key.
    pub(crate) fn first(&self) -> Option<Node<'d>> {
        self.object.member(self.key.as_str()?)
    }

    /// Returns the byte offset of the later key.
    pub(crate) fn offset(&self) -> usize {
        self.key.span().start
    }
}

impl Document {
    /// Returns the first `limit` members that repeat an earlier key of their object; fewer, but one
    /// if there is one, where their places are very long.
    pub fn duplicates(&self, limit: usize) -> Vec<Duplicate> {
        let mut found = Vec::with_capacity(limit.min(self.duplicate_count()));
        let mut place_bytes = 0;
        self.each_repeated(|repeated, path| {
            if found.len() < limit && place_bytes < PLACE_LIMIT_BYTES {
                let pointer = path.pointer();
                place_bytes += pointer.as_str().len();
                found.push(Duplicate { pointer, offset: repeated.offset() });
            }
        });
        found
    }

    /// Returns how many members repeat an earlier key of their object.
    pub fn duplicate_count(&self) -> usize {
        self.duplicate_keys.len()
    }

    /// Claims that some object has a key twice.
    pub fn has_duplicates(&self) -> bool {
        !self.duplicate_keys.is_empty()
    }

    /// Calls `visit` with every member that repeats an earlier key of its object, in order, and the
    /// way to it.
    pub(crate) fn each_repeated<'d>(&'d self, mut visit: impl FnMut(Repeated<'d>, &Path<'_>)) {
        let mut keys = self.duplicate_keys.as_slice();
        walk(self.root(), &Path::Root, &mut keys, &mut visit);
    }
}

/// Visits those of the duplicate `keys` that stand in `node`, and takes them from the list.
fn walk<'d>(
    node: Node<'d>,
    path: &Path<'_>,
    keys: &mut &[u32],
    visit: &mut dyn FnMut(Repeated<'d>, &Path<'_>),
) {
    let holds_next = |node: Node<'d>, keys: &[u32]| {
        let end = node.document().slot(node.id()).next;
        keys.first().is_some_and(|key| (node.id()..end).contains(key))
    };
    for (position, item) in node.items().enumerate() {
        if holds_next(item, keys) {
            walk(item, &Path::Index(path, position), keys, visit);
        }
    }
    for (key, value) in node.keyed_members() {
        let name = key.as_str().unwrap_or_default();
        if let [first, rest @ ..] = *keys
            && *first == key.id()
        {
            *keys = rest;
            visit(Repeated { object: node, key, later: value }, &Path::Key(path, name));
        }
        if holds_next(value, keys) {
            walk(value, &Path::Key(path, name), keys, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Kind;

    #[test]
    fn duplicates_are_named_where_they_are() {
        let document = Document::parse(r#"{"a":[{"x":1,"x":2}],"a":3}"#).unwrap();
        let found = document.duplicates(10);
        let pointers: Vec<&str> = found.iter().map(|it| it.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a/0/x", "/a"]);
        assert_eq!(found[1].offset, 21);
        assert_eq!(document.root().member("a").unwrap().kind(), Kind::Array);
        assert_eq!(document.duplicates(1), found[..1]);
    }

    #[test]
    fn places_under_long_keys_are_named_until_they_are_too_many_to_read() {
        // All places together would take 100 GB.
        let long = "k".repeat(1_000_000);
        let text = format!(r#"{{"{long}":{{{}"a":1}}}}"#, r#""a":1,"#.repeat(100_000));
        let document = Document::parse(text).unwrap();
        assert_eq!(document.duplicate_count(), 100_000);
        let found = document.duplicates(usize::MAX);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].pointer, Pointer::root().key(&long).key("a"));
    }

    #[test]
    fn one_place_is_named_however_long_it_is() {
        let long = "k".repeat(2 * PLACE_LIMIT_BYTES);
        let document =
            Document::parse(format!(r#"{{"{long}":1,"{long}":1,"b":1,"b":1}}"#)).unwrap();
        let pointers: Vec<Pointer> =
            document.duplicates(10).into_iter().map(|it| it.pointer).collect();
        assert_eq!(pointers, [Pointer::root().key(&long)]);
    }
}
