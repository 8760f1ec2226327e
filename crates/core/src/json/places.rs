//! How long the way to each value of a document is in writing.
//!
//! A validator writes it into every error, so that one long key above many values makes a few
//! megabytes of text take gigabytes of errors: who counts errors has to count this too.

use super::document::{Document, Node};

/// The lengths of the pointers to the values of one document, by their places on the tape.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<u32>);

impl Places {
    /// Measures every value of `document`, in one pass.
    pub(super) fn of(document: &Document) -> Self {
        let mut places = Self(vec![0; document.node_count()]);
        places.measure(document.root(), 0);
        places
    }

    /// Returns about how many bytes the pointer to the value at `id` has; none if nobody measured.
    pub(super) fn bytes(&self, id: u32) -> u64 {
        self.0.get(id as usize).copied().unwrap_or_default().into()
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|bytes| u64::from(*bytes)).sum()
    }

    /// Recurses as deep as the document, which the parser has bounded.
    fn measure(&mut self, node: Node<'_>, bytes: u32) {
        if let Some(place) = self.0.get_mut(node.id() as usize) {
            *place = bytes;
        }
        for (position, item) in node.items().enumerate() {
            let digits = position.checked_ilog10().unwrap_or_default() + 1;
            self.measure(item, bytes.saturating_add(1 + digits));
        }
        for (key, value) in node.keyed_members() {
            // Quotes and escapes are counted for the slash and what it escapes itself.
            let key_bytes = u32::try_from(key.span().len()).unwrap_or(u32::MAX);
            self.measure(value, bytes.saturating_add(key_bytes));
        }
    }
}

impl Document {
    /// Returns about how many bytes the pointers to all of its values take together.
    pub(crate) fn place_bytes(&self) -> u64 {
        Places::of(self).total()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_about_as_long_as_measured() {
        let document = Document::parse(r#"{"key":[0,[1]],"other":{"k":2}}"#).unwrap();
        let places = Places::of(&document);
        let root = document.root();
        let inner = root.member("key").and_then(|items| items.items().nth(1)).unwrap();
        let last = root.member("other").and_then(|other| other.member("k")).unwrap();
        let measured = [root, inner, last].map(|node| places.bytes(node.id()));
        // Each key has two quotes where the pointer has one slash.
        assert_eq!(measured, [0, 7, 10]);
        // Beside those, `/key`, `/key/0`, `/key/1/0` and `/other`.
        assert_eq!(document.place_bytes(), 7 + 10 + 5 + 7 + 9 + 7);
        assert_eq!(Places::default().bytes(7), 0);
    }
}
