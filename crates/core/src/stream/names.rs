//! The keys of the objects that are open.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// An object with more members than this gets an index of its keys.
const INDEX_FROM: usize = 16;

/// Keys in reading order, those of inner objects behind those of outer ones.
#[derive(Debug, Default)]
pub(super) struct Names {
    text: String,
    /// Where each key starts in `text`; it ends where the next one starts.
    starts: Vec<usize>,
    hasher: RandomState,
}

/// The keys of one object.
#[derive(Debug)]
pub(super) struct Scope {
    /// The place of its first key among all.
    from: usize,
    /// The first key with each hash, once there are many.
    index: Option<HashMap<u64, usize>>,
}

impl Names {
    /// Starts the keys of an object.
    pub(super) fn open(&self) -> Scope {
        Scope { from: self.starts.len(), index: None }
    }

    /// Forgets the keys of the innermost object.
    pub(super) fn close(&mut self, scope: &Scope) {
        if let Some(start) = self.starts.get(scope.from) {
            self.text.truncate(*start);
            self.starts.truncate(scope.from);
        }
    }

    pub(super) fn begin(&mut self) {
        self.starts.push(self.text.len());
    }

    pub(super) fn extend(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// Returns the key that began last.
    pub(super) fn last(&self) -> &str {
        self.at(self.starts.len().wrapping_sub(1))
    }

    /// Returns the key of the value whose own keys `inner` holds.
    pub(super) fn last_before(&self, inner: &Scope) -> &str {
        self.at(inner.from.wrapping_sub(1))
    }

    /// Ends the last key; claims that its object had it before.
    pub(super) fn is_repeated(&self, scope: &mut Scope) -> bool {
        let last = self.starts.len().saturating_sub(1);
        if last - scope.from >= INDEX_FROM && scope.index.is_none() {
            let keys = (scope.from..last).map(|place| (self.hash(self.at(place)), place));
            scope.index = Some(keys.collect());
        }
        let is_repeated = self.find(scope, last, self.at(last));
        if let Some(index) = &mut scope.index {
            index.entry(self.hash(self.at(last))).or_insert(last);
        }
        is_repeated
    }

    /// Claims that the innermost object has `key`.
    pub(super) fn contains(&self, scope: &Scope, key: &str) -> bool {
        self.find(scope, self.starts.len(), key)
    }

    fn find(&self, scope: &Scope, end: usize, key: &str) -> bool {
        let search = || (scope.from..end).any(|place| self.at(place) == key);
        let Some(index) = &scope.index else {
            return search();
        };
        // Two keys may share a hash; then only the search is sure.
        index.get(&self.hash(key)).is_some_and(|place| self.at(*place) == key || search())
    }

    fn hash(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }

    fn at(&self, place: usize) -> &str {
        let Some(start) = self.starts.get(place) else {
            return "";
        };
        let end = self.starts.get(place + 1).copied().unwrap_or(self.text.len());
        self.text.get(*start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_is_noticed_in_small_and_large_objects() {
        for count in [3, 300] {
            let mut names = Names::default();
            let mut scope = names.open();
            for number in 0..count {
                names.begin();
                names.extend(&format!("k{number}"));
                assert!(!names.is_repeated(&mut scope));
            }
            assert!(names.contains(&scope, "k2"));
            assert!(!names.contains(&scope, "k"));
            names.begin();
            names.extend("k1");
            assert!(names.is_repeated(&mut scope));
            names.close(&scope);
            assert_eq!(names.last(), "");
        }
    }
}
