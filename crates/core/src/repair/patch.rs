//! A text under repair: what is kept is borrowed, what is changed is on record.

use std::borrow::Cow;
use std::ops::Range;

use crate::verdict::{Edit, EditKind, Edits};

/// The value from `start` on, with the changes made to it so far.
pub(super) struct Patch<'t> {
    text: &'t str,
    start: usize,
    /// Everything before this offset is in `repaired`, once there are changes.
    copied: usize,
    repaired: String,
    edits: Edits,
}

impl<'t> Patch<'t> {
    pub(super) fn new(text: &'t str, start: usize) -> Self {
        Self { text, start, copied: start, repaired: String::new(), edits: Edits::default() }
    }

    /// Returns the offset from which on the text can still be changed.
    pub(super) fn copied(&self) -> usize {
        self.copied
    }

    pub(super) fn record(&mut self, kind: EditKind, offset: usize) {
        self.edits.record(kind, || Edit { kind, offset: Some(offset), pointer: None });
    }

    /// Puts `with` in place of `range`, which must not lie before an earlier change.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &str) {
        if self.repaired.capacity() == 0 {
            // Most repairs add a little; a second allocation of megabytes would cost more.
            self.repaired.reserve((self.text.len() - self.start) / 16 * 17 + 16);
        }
        self.repaired.push_str(self.text.get(self.copied..range.start).unwrap_or_default());
        self.repaired.push_str(with);
        self.copied = range.end;
    }

    /// Adds `with` at `offset`.
    pub(super) fn insert(&mut self, offset: usize, with: &str) {
        self.replace(offset..offset, with);
    }

    /// Returns the value's text up to `end`, and the edits.
    pub(super) fn finish(mut self, end: usize) -> (Cow<'t, str>, Edits) {
        if self.edits.is_empty() {
            let whole = self.text.get(self.start..end).unwrap_or_default();
            return (Cow::Borrowed(whole), self.edits);
        }
        self.repaired.push_str(self.text.get(self.copied..end).unwrap_or_default());
        (Cow::Owned(self.repaired), self.edits)
    }
}
