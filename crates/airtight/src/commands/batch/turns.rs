//! Inputs that share a key take turns: each waits until those before it are over.
//!
//! The rule it protects: a key belongs to the first of them in the order of inputs, whoever is quicker. What is
//! over is in the ledger, which refuses another text; so only keys at work are kept here.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// Who waits for another with the same key.
pub(super) struct Turns<T> {
    /// Each key at work, with those who wait for it.
    keys: HashMap<String, VecDeque<T>>,
    waiting: usize,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { keys: HashMap::new(), waiting: 0 }
    }
}

impl<T> Turns<T> {
    /// Takes `key` for `work` and returns it, if nobody is at that key; else keeps it until its turn.
    pub(super) fn take(&mut self, key: &str, work: T) -> Option<T> {
        match self.keys.entry(key.to_owned()) {
            Entry::Vacant(free) => {
                free.insert(VecDeque::new());
                Some(work)
            }
            Entry::Occupied(mut taken) => {
                taken.get_mut().push_back(work);
                self.waiting += 1;
                None
            }
        }
    }

    /// Gives `key` back, and returns whose turn it is: the key is theirs now.
    pub(super) fn pass(&mut self, key: &str) -> Option<T> {
        let next = self.keys.get_mut(key)?.pop_front();
        match next {
            Some(_) => self.waiting = self.waiting.saturating_sub(1),
            None => drop(self.keys.remove(key)),
        }
        next
    }

    /// Returns how many wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Forgets all keys, and returns those who wait: nobody has a turn any more.
    pub(super) fn dismiss(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.waiting = 0;
        std::mem::take(&mut self.keys).into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_from_one_to_the_next_in_order() {
        let mut turns = Turns::default();
        assert_eq!(turns.take("a", 1), Some(1));
        assert_eq!(turns.take("a", 2), None);
        assert_eq!(turns.take("b", 3), Some(3));
        assert_eq!(turns.take("a", 4), None);
        assert_eq!(turns.waiting(), 2);
        assert_eq!((turns.pass("a"), turns.take("a", 5)), (Some(2), None));
        assert_eq!([turns.pass("a"), turns.pass("a"), turns.pass("a")], [Some(4), Some(5), None]);
        assert_eq!((turns.waiting(), turns.take("a", 6)), (0, Some(6)));
        assert_eq!(turns.pass("b"), None);
    }

    #[test]
    fn nothing_is_kept_of_keys_that_are_over() {
        let mut turns = Turns::default();
        for number in 0..1000 {
            let key = number.to_string();
            assert_eq!(turns.take(&key, number), Some(number));
            assert_eq!(turns.pass(&key), None);
        }
        assert!(turns.keys.is_empty());
    }

    #[test]
    fn who_is_dismissed_has_no_turn() {
        let mut turns = Turns::default();
        assert_eq!([turns.take("a", 1), turns.take("a", 2)], [Some(1), None]);
        assert_eq!(turns.dismiss().collect::<Vec<_>>(), [2]);
        assert_eq!((turns.waiting(), turns.pass("a")), (0, None));
    }
}
