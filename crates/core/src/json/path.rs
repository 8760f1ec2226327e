//! The way to a node while a document is walked.
//!
//! It stays on the stack, and becomes a [`Pointer`] only where something is to be said of the node:
//! a pointer holds every key above it, and a walk that made one for each node would copy a key of a
//! megabyte as often as there are nodes under it.

use super::pointer::Pointer;

/// The way to a node.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'p> {
    /// The node is the root.
    Root,
    /// It is a member of the node before.
    Key(&'p Self, &'p str),
    /// It is an item of the node before.
    Index(&'p Self, usize),
}

impl Path<'_> {
    /// Returns the way in writing. Recurses as deep as the document, which the parser has bounded.
    pub(crate) fn pointer(&self) -> Pointer {
        let mut pointer = Pointer::root();
        self.write(&mut pointer);
        pointer
    }

    fn write(&self, pointer: &mut Pointer) {
        match self {
            Self::Root => {}
            Self::Key(parent, key) => {
                parent.write(pointer);
                pointer.push_key(key);
            }
            Self::Index(parent, index) => {
                parent.write(pointer);
                pointer.push_index(*index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_a_pointer() {
        let items = Path::Key(&Path::Root, "a/b");
        let third = Path::Index(&items, 3);
        assert_eq!(Path::Key(&third, "~").pointer().as_str(), "/a~1b/3/~0");
        assert!(Path::Root.pointer().is_root());
    }
}
