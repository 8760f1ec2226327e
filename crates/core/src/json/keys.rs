//! The keys of an object that ends: whether one occurs twice, and their order for lookup.

use super::document::Slot;
use super::parse::Parser;

/// An object with more members than this gets its keys sorted for lookup.
const SORT_FROM: u32 = 16;

impl Parser<'_> {
    /// Notes duplicate keys of the object at `object`, and sorts them for lookup if many.
    pub(super) fn inspect_keys(&mut self, object: u32) {
        let Some(&Slot { next: end, extra: count, .. }) = self.slots.get(object as usize) else {
            return;
        };
        let mut key = object + 1;
        if count > SORT_FROM {
            let mut keys = Vec::with_capacity(count as usize);
            while key < end {
                keys.push(key);
                key = self.slots.get(key as usize + 1).map_or(end, |value| value.next);
            }
            keys.sort_by(|left, right| self.key_bytes(*left).cmp(self.key_bytes(*right)));
            let repeated = keys
                .windows(2)
                .filter_map(|pair| match pair {
                    [left, right] if self.key_bytes(*left) == self.key_bytes(*right) => {
                        Some(*right)
                    }
                    _ => None,
                })
                .collect::<Vec<_>>();
            self.duplicate_keys.extend(repeated);
            self.sorted_keys.push((object, keys));
            return;
        }
        if self.differ_at_a_glance(key, count) {
            return;
        }
        // Few keys are compared with each other, without a walk over the tape for each.
        let mut seen = [[].as_slice(); SORT_FROM as usize];
        let mut repeated = Vec::new();
        for place in 0..count as usize {
            let text = self.key_bytes(key);
            if seen.iter().take(place).any(|earlier| *earlier == text) {
                repeated.push(key);
            }
            if let Some(slot) = seen.get_mut(place) {
                *slot = text;
            }
            key = self.slots.get(key as usize + 1).map_or(end, |value| value.next);
        }
        self.duplicate_keys.append(&mut repeated);
    }

    /// Claims that no two of the `count` keys from `key` on share their length and their ends.
    ///
    /// One that is alike by chance is only looked at more closely.
    fn differ_at_a_glance(&self, mut key: u32, count: u32) -> bool {
        let mut seen = 0_u64;
        for _ in 0..count {
            let text = self.key_bytes(key);
            let [first, last] =
                [text.first(), text.last()].map(|byte| usize::from(*byte.unwrap_or(&0)));
            let glance = 1 << ((text.len() + first * 31 + last * 7) % 64);
            if seen & glance != 0 {
                return false;
            }
            seen |= glance;
            key = self.slots.get(key as usize + 1).map_or(key, |value| value.next);
        }
        true
    }

    #[inline]
    fn key_bytes(&self, slot: u32) -> &[u8] {
        let Some(slot) = self.slots.get(slot as usize) else {
            return &[];
        };
        if slot.extra == 0 {
            let inside = slot.start as usize + 1..slot.end as usize - 1;
            return self.text.as_bytes().get(inside).unwrap_or_default();
        }
        let span = self.decoded_spans.get(slot.extra as usize - 1).copied().unwrap_or_default();
        self.decoded.as_bytes().get(span.0 as usize..span.1 as usize).unwrap_or_default()
    }
}
