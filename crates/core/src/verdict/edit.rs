//! Edits: every change made to what was said, on record.
//!
//! All are counted. Only so many are listed, because a text of megabytes may need one for each of
//! its strings.

use serde::Serialize;

use crate::json::Pointer;

/// How many edits of one kind are listed; all are counted.
///
/// More than anybody reads, and some 50 bytes each. It is for each kind, so that a thousand quotes
/// do not hide the one number that was made of a string.
pub const LISTED_PER_KIND: usize = 1_000;

/// How many bytes the places of listed edits may take: a key of megabytes may stand above each.
const PLACE_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// Every change between what was said and what was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// The first [`LISTED_PER_KIND`] of each kind, in the order they were made; fewer if their places
    /// are very long.
    listed: Vec<Edit>,
    /// How many bytes their places take.
    place_bytes: usize,
    /// How many there are of each kind, in the order of the first.
    counts: Vec<(EditKind, usize)>,
}

impl Edits {
    /// Counts one more edit of this kind, and lists it if there are not too many.
    #[inline]
    pub(crate) fn record(&mut self, kind: EditKind, describe: impl FnOnce() -> Edit) {
        if self.count_more(kind, 1) < LISTED_PER_KIND {
            self.list(describe());
        }
    }

    /// Counts one more edit of this kind that is made to a value, and lists it if there are not too
    /// many, and their places not too long.
    pub(crate) fn record_place(&mut self, kind: EditKind, describe: impl FnOnce() -> Edit) {
        if self.count_more(kind, 1) < LISTED_PER_KIND && self.place_bytes < PLACE_LIMIT_BYTES {
            self.list(describe());
        }
    }

    pub(crate) fn push(&mut self, edit: Edit) {
        match edit.place_bytes() {
            0 => self.record(edit.kind, || edit),
            _ => self.record_place(edit.kind, || edit),
        }
    }

    #[inline]
    fn list(&mut self, edit: Edit) {
        self.place_bytes += edit.place_bytes();
        self.listed.push(edit);
    }

    /// Adds what was changed after these.
    pub(crate) fn append(&mut self, later: Self) {
        if self.is_empty() {
            *self = later;
            return;
        }
        let unlisted = |(kind, count): &(EditKind, usize)| {
            let listed = later.listed.iter().filter(|edit| edit.kind == *kind).count();
            (*kind, count.saturating_sub(listed))
        };
        let unlisted: Vec<(EditKind, usize)> = later.counts.iter().map(unlisted).collect();
        for edit in later.listed {
            self.push(edit);
        }
        for (kind, count) in unlisted {
            self.count_more(kind, count);
        }
    }

    /// Counts `more` edits of this kind; returns how many there were before.
    #[inline]
    fn count_more(&mut self, kind: EditKind, more: usize) -> usize {
        let known = self.counts.iter_mut().find(|(counted, _)| *counted == kind);
        let Some((_, count)) = known else {
            self.counts.push((kind, more));
            return 0;
        };
        std::mem::replace(count, *count + more)
    }

    /// Claims that nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the first [`LISTED_PER_KIND`] edits of each kind, in the order they were made; fewer if
    /// their places are very long.
    pub fn listed(&self) -> &[Edit] {
        &self.listed
    }

    /// Returns the listed edits, for those who must hide something of them.
    pub fn listed_mut(&mut self) -> &mut [Edit] {
        &mut self.listed
    }

    /// Returns how many edits there are in all, listed or not.
    pub fn total(&self) -> usize {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Returns how many edits of this kind there are, listed or not.
    pub fn count(&self, kind: EditKind) -> usize {
        self.counts().find(|(counted, _)| *counted == kind).map_or(0, |(_, count)| count)
    }

    /// Returns how many edits there are of each kind that occurs, listed or not.
    pub fn counts(&self) -> impl Iterator<Item = (EditKind, usize)> + '_ {
        self.counts.iter().copied()
    }
}

impl FromIterator<Edit> for Edits {
    fn from_iter<T: IntoIterator<Item = Edit>>(edits: T) -> Self {
        let mut all = Self::default();
        edits.into_iter().for_each(|edit| all.push(edit));
        all
    }
}

/// One change between what was said and what was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// What was done.
    pub kind: EditKind,
    /// Byte offset in the text that was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// Where in the value, for changes to a parsed value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<Pointer>,
    /// Where it went, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Pointer>,
    /// The older version of the contract whose owner declares this change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Edit {
    /// Makes the record of a change to a text.
    pub(crate) fn at_byte(kind: EditKind, offset: usize) -> Self {
        Self { kind, offset: Some(offset), pointer: None, to: None, version: None }
    }

    /// Makes the record of a change to a value.
    pub(crate) fn at(kind: EditKind, pointer: Pointer) -> Self {
        Self { kind, offset: None, pointer: Some(pointer), to: None, version: None }
    }

    /// Returns how many bytes it takes to say where it was made.
    fn place_bytes(&self) -> usize {
        let places = [&self.pointer, &self.to].into_iter().flatten();
        places.map(|place| place.as_str().len()).sum()
    }
}

/// Ways to change a text or value without inventing anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A comma between two items or members was added.
    MissingComma,
    /// A comment was dropped.
    Comment,
    /// Single or typographic quotes became double quotes.
    Quotes,
    /// A bare key was quoted.
    UnquotedKey,
    /// A Python or JavaScript constant became JSON.
    Constant,
    /// A control character or quote inside a string was escaped.
    Escape,
    /// Closing brackets missing at the very end were added.
    MissingCloser,
    /// Text around the value was left out: prose, fences, think blocks.
    Surroundings,
    /// A value written as JSON inside a JSON string was taken out.
    Unquoted,
    /// A single-key wrapper was taken off.
    Unwrapped,
    /// A repeated member with the same value was dropped.
    DuplicateMember,
    /// A string became a boolean.
    StringToBoolean,
    /// A string became a number.
    StringToNumber,
    /// A number or boolean became a string.
    ScalarToString,
    /// A string became the array or object that it spelt.
    StringToContainer,
    /// The case of an enum member was corrected.
    EnumCase,
    /// White space around an enum member or constant was dropped.
    Trimmed,
    /// An older version of the contract accepts it, so that it is carried forward.
    Carried,
    /// A member moved to where the contract has it.
    CarryMoved,
    /// A member that the contract does not have was dropped.
    CarryDropped,
    /// A word became the one that the contract has for it.
    CarryReworded,
    /// The contract's owner says what stands where nothing was said: not the model's words.
    CarryDefault,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(kind: EditKind, count: usize) -> Edits {
        (0..count).map(|offset| Edit::at_byte(kind, offset)).collect()
    }

    #[test]
    fn all_edits_are_counted_and_the_first_of_each_kind_listed() {
        let mut all = edits(EditKind::Quotes, LISTED_PER_KIND + 7);
        all.append(edits(EditKind::StringToNumber, 2));
        assert_eq!(all.listed().len(), LISTED_PER_KIND + 2);
        assert_eq!(all.total(), LISTED_PER_KIND + 9);
        let counts: Vec<_> = all.counts().collect();
        assert_eq!(
            counts,
            [(EditKind::Quotes, LISTED_PER_KIND + 7), (EditKind::StringToNumber, 2)]
        );
    }

    #[test]
    fn records_that_are_joined_are_bounded_like_one() {
        let mut joined = edits(EditKind::Quotes, LISTED_PER_KIND - 1);
        joined.append(edits(EditKind::Quotes, 3));
        assert_eq!((joined.listed().len(), joined.total()), (LISTED_PER_KIND, LISTED_PER_KIND + 2));
        assert_eq!(joined.listed().last().and_then(|edit| edit.offset), Some(0));
        assert_eq!(joined.count(EditKind::Escape), 0);
    }

    #[test]
    fn edits_at_long_places_are_counted_and_the_first_of_them_listed() {
        let place = Pointer::root().key(&"k".repeat(1_000_000));
        let mut all: Edits =
            (0..50).map(|_| Edit::at(EditKind::DuplicateMember, place.clone())).collect();
        assert_eq!((all.listed().len(), all.total()), (5, 50));
        let mut joined = edits(EditKind::Quotes, 1);
        joined.append(all.clone());
        assert_eq!((joined.listed().len(), joined.total()), (6, 51));
        all.append(joined);
        assert_eq!((all.listed().len(), all.total()), (6, 101));
        assert_eq!(all.listed().last().map(|edit| edit.kind), Some(EditKind::Quotes));
    }
}
