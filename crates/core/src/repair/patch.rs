//! A text under repair: what is kept is borrowed, what is changed is on record.

use std::borrow::Cow;
use std::ops::Range;

use crate::verdict::{Edit, EditKind};

/// The value from `start` on, with the changes made to it so far.
pub(super) struct Patch<'t> {
    text: &'t str,
    start: usize,
    /// Everything before this offset is in `repaired`, once there are changes.
    copied: usize,
    repaired: String,
    /// What was done where; there may be one for each string of megabytes, so they are small.
    done: Vec<(EditKind, u32)>,
}

impl<'t> Patch<'t> {
    pub(super) fn new(text: &'t str, start: usize) -> Self {
        Self { text, start, copied: start, repaired: String::new(), done: Vec::new() }
    }

    /// Returns the offset from which on the text can still be changed.
    pub(super) fn copied(&self) -> usize {
        self.copied
    }

    pub(super) fn record(&mut self, kind: EditKind, offset: usize) {
        self.done.push((kind, narrow(offset)));
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
    pub(super) fn finish(mut self, end: usize) -> (Cow<'t, str>, Vec<Edit>) {
        if self.done.is_empty() {
            let whole = self.text.get(self.start..end).unwrap_or_default();
            return (Cow::Borrowed(whole), Vec::new());
        }
        self.repaired.push_str(self.text.get(self.copied..end).unwrap_or_default());
        let edit = |(kind, offset)| Edit { kind, offset: Some(offset as usize), pointer: None };
        (Cow::Owned(self.repaired), self.done.into_iter().map(edit).collect())
    }
}

/// Narrows an offset in a text that [`Limits`](crate::json::Limits) has bounded.
fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
