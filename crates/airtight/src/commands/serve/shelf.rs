//! What is kept ready: so much and no more, and what was used last.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Things that are kept ready, each under its key.
pub(super) struct Shelf<K, V> {
    room: usize,
    /// Counts uses: the clock that says what was used last.
    uses: u64,
    kept: HashMap<K, Kept<V>>,
}

struct Kept<V> {
    value: V,
    used: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Shelf<K, V> {
    /// Makes an empty one with room for so many.
    pub(super) fn new(room: usize) -> Self {
        Self { room, uses: 0, kept: HashMap::new() }
    }

    /// Returns what is kept under `key`.
    pub(super) fn find<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.uses += 1;
        let kept = self.kept.get_mut(key)?;
        kept.used = self.uses;
        Some(kept.value.clone())
    }

    /// Keeps something; what was not used for longest makes room for it.
    pub(super) fn keep(&mut self, key: K, value: V) {
        if self.kept.len() >= self.room && !self.kept.contains_key(&key) {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.kept.remove(&oldest);
            }
        }
        self.uses += 1;
        self.kept.insert(key, Kept { value, used: self.uses });
    }

    /// Drops what is kept under `key`, if `is_useless` says so.
    pub(super) fn drop_if<Q: Hash + Eq + ?Sized>(
        &mut self,
        key: &Q,
        is_useless: impl Fn(&V) -> bool,
    ) where
        K: Borrow<Q>,
    {
        if self.kept.get(key).is_some_and(|kept| is_useless(&kept.value)) {
            self.kept.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let mut shelf = Shelf::new(2);
        shelf.keep("a", 1);
        shelf.keep("b", 2);
        assert_eq!(shelf.find("a"), Some(1));
        shelf.keep("c", 3);
        assert_eq!(["a", "b", "c"].map(|key| shelf.find(key)), [Some(1), None, Some(3)]);
        shelf.keep("c", 4);
        assert_eq!(["a", "b", "c"].map(|key| shelf.find(key)), [Some(1), None, Some(4)]);
    }

    #[test]
    fn it_never_holds_more_than_it_has_room_for() {
        let mut shelf = Shelf::new(3);
        for number in 0..1000 {
            shelf.keep(number, number);
            assert!(shelf.kept.len() <= 3);
        }
        assert_eq!(shelf.find(&999), Some(999));
        shelf.drop_if(&999, |number| *number == 1);
        assert_eq!(shelf.find(&999), Some(999));
        shelf.drop_if(&999, |number| *number == 999);
        assert_eq!(shelf.find(&999), None);
    }
}
