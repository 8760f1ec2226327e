//! A text under repair: what is kept is borrowed, what is changed is on record.

use std::borrow::Cow;
use std::ops::Range;

use crate::verdict::{Edit, EditKind, Edits};

/// How many quotes are gathered before the text around them is copied.
///
/// Their text still fits the fastest cache, and one copy takes the place of hundreds.
const GATHERED: usize = 256;

/// The value from `start` on, with the changes made to it so far.
pub(super) struct Patch<'t> {
    text: &'t str,
    start: usize,
    /// Everything before this offset is in `repaired`, once there are changes.
    copied: usize,
    /// UTF-8, as whole characters take the place of whole characters.
    repaired: Vec<u8>,
    /// Offsets from `copied` on whose single quotes become double quotes, ascending.
    requoted: Vec<usize>,
    edits: Edits,
}

impl<'t> Patch<'t> {
    pub(super) fn new(text: &'t str, start: usize) -> Self {
        let (repaired, requoted) = (Vec::new(), Vec::new());
        Self { text, start, copied: start, repaired, requoted, edits: Edits::default() }
    }

    /// Returns the offset from which on the text can still be changed.
    pub(super) fn copied(&self) -> usize {
        self.requoted.last().map_or(self.copied, |last| last + 1)
    }

    pub(super) fn record(&mut self, kind: EditKind, offset: usize) {
        self.edits.record(kind, || Edit::at_byte(kind, offset));
    }

    /// Puts `with` in place of `range`, which must not lie before an earlier change.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &str) {
        self.copy_until(range.start);
        self.repaired.extend_from_slice(with.as_bytes());
        self.copied = range.end;
    }

    /// Adds `with` at `offset`.
    pub(super) fn insert(&mut self, offset: usize, with: &str) {
        self.replace(offset..offset, with);
    }

    /// Puts a double quote in place of the single one at `offset`, which nothing was changed behind.
    #[inline]
    pub(super) fn requote(&mut self, offset: usize) {
        self.requoted.push(offset);
        if self.requoted.len() >= GATHERED {
            self.copy_until(offset + 1);
        }
    }

    fn copy_until(&mut self, end: usize) {
        if self.repaired.capacity() == 0 {
            // Most repairs add a little; a second allocation of megabytes would cost more.
            self.repaired.reserve((self.text.len() - self.start) / 16 * 17 + 16);
        }
        let kept = self.text.as_bytes().get(self.copied..end).unwrap_or_default();
        let from = self.repaired.len();
        self.repaired.extend_from_slice(kept);
        for offset in self.requoted.drain(..) {
            if let Some(quote) = self.repaired.get_mut(from + offset - self.copied) {
                *quote = b'"';
            }
        }
        self.copied = end;
    }

    /// Returns the value's text up to `end`, and the edits.
    pub(super) fn finish(mut self, end: usize) -> (Cow<'t, str>, Edits) {
        if self.edits.is_empty() {
            let whole = self.text.get(self.start..end).unwrap_or_default();
            return (Cow::Borrowed(whole), self.edits);
        }
        self.copy_until(end);
        // Room was made for all of the text, and a thousand small values may stand in a large one.
        self.repaired.shrink_to_fit();
        (Cow::Owned(String::from_utf8(self.repaired).unwrap_or_default()), self.edits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cow, GATHERED};
    use crate::repair::read;
    use crate::verdict::EditKind;

    #[test]
    fn a_small_value_in_a_large_text_takes_little_room() {
        let said = r#"{"a": 1,}"#.to_owned() + &" and so on".repeat(100_000);
        let Cow::Owned(text) = read(&said, 0, 8).unwrap().text else { panic!("it was repaired") };
        assert_eq!(text, r#"{"a": 1}"#);
        assert!(text.capacity() < 64, "{}", text.capacity());
    }

    #[test]
    fn gathered_quotes_and_other_changes_keep_their_order() {
        let said = format!("[{} None, 'z',]", "'é', 'a\tb', 'say \"hi\"', ".repeat(GATHERED));
        let meant = said
            .replace("say \"hi\"", r#"say \"hi\""#)
            .replace('\'', "\"")
            .replace('\t', "\\t")
            .replace("None", "null")
            .replace(",]", "]");
        let reading = read(&said, 0, 8).unwrap();
        assert_eq!(reading.text, meant);
        let counts: Vec<_> = reading.edits.counts().collect();
        let [quotes, escapes] = [3 * GATHERED + 1, GATHERED];
        assert_eq!(
            counts,
            [
                (EditKind::Quotes, quotes),
                (EditKind::Escape, escapes),
                (EditKind::Constant, 1),
                (EditKind::TrailingComma, 1)
            ]
        );
    }
}
