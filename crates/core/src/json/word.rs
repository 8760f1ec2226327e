//! Eight bytes at once, for the loops that see every byte of a text.
//!
//! Most strings are shorter than what it takes a vectorised search to start. Each test returns
//! *marks*, of which the lowest is exact; higher ones may be wrong where a lower one is set.

/// One in each byte.
const ONES: u64 = u64::from_le_bytes([0x01; 8]);

/// The highest bit of each byte.
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

/// Eight bytes of a text.
#[derive(Clone, Copy)]
pub(crate) struct Word(u64);

impl Word {
    /// Marks the bytes that are `byte`.
    #[inline]
    pub(crate) fn equal(self, byte: u8) -> u64 {
        Self(self.0 ^ (ONES * u64::from(byte))).below(1)
    }

    /// Marks double quotes and control characters, by one test: where `"` and space change places,
    /// they are what stands up to it.
    #[inline]
    pub(crate) fn quotes_and_controls(self) -> u64 {
        Self(self.0 ^ (ONES * u64::from(b'"' ^ b' '))).below(b' ' + 1)
    }

    /// Takes these bits out of each byte.
    #[inline]
    pub(crate) fn without(self, bits: u8) -> Self {
        Self(self.0 & !(ONES * u64::from(bits)))
    }

    /// Marks the bytes below `limit`, which is ASCII.
    #[inline]
    pub(crate) fn below(self, limit: u8) -> u64 {
        self.0.wrapping_sub(ONES * u64::from(limit)) & !self.0 & HIGHS
    }

    /// Returns the place of the first marked byte.
    #[inline]
    pub(crate) fn first(marks: u64) -> usize {
        marks.trailing_zeros() as usize / 8
    }
}

/// Finds the first byte from `at` on that `marks` finds in words and `is_marked` alone.
#[inline]
pub(crate) fn find(
    bytes: &[u8],
    mut at: usize,
    marks: impl Fn(Word) -> u64,
    is_marked: impl Fn(u8) -> bool,
) -> Option<usize> {
    let (words, rest) = bytes.get(at..)?.as_chunks();
    for word in words {
        let found = marks(Word(u64::from_le_bytes(*word)));
        if found != 0 {
            return Some(at + Word::first(found));
        }
        at += 8;
    }
    rest.iter().position(|byte| is_marked(*byte)).map(|offset| at + offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_find_what_a_search_finds(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x1E_u8..0x24, Just(b'\\')], 0..40),
            from in 0_usize..40,
        ) {
            let is_marked = |byte: u8| byte == b'"' || byte == 0xE2 || byte < 0x20;
            let marks = |word: Word| word.quotes_and_controls() | word.equal(0xE2);
            let plain = bytes.iter().enumerate().skip(from);
            let expected = plain.clone().find(|(_, byte)| is_marked(**byte)).map(|(at, _)| at);
            prop_assert_eq!(find(&bytes, from, marks, is_marked), expected);
        }
    }
}
