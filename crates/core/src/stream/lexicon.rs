//! A set of words, narrowed while one of them is being spelled.

use std::ops::Range;

/// Words in order, so that those with a common beginning stand together.
#[derive(Debug, Default)]
pub(super) struct Lexicon(Vec<Box<str>>);

/// The words that are still possible.
pub(super) type Candidates = Range<u32>;

impl<'w> FromIterator<&'w str> for Lexicon {
    fn from_iter<I: IntoIterator<Item = &'w str>>(words: I) -> Self {
        let mut words: Vec<Box<str>> = words.into_iter().map(Box::from).collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }
}

impl Lexicon {
    pub(super) fn all(&self) -> Candidates {
        0..u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Returns those `candidates` that go on with `piece` behind the `read` bytes they share.
    pub(super) fn narrow(&self, candidates: &Candidates, read: usize, piece: &str) -> Candidates {
        let piece = piece.as_bytes();
        let words = self.slice(candidates);
        let continuation = |word: &str| {
            let tail = word.as_bytes().get(read..).unwrap_or_default();
            tail.get(..piece.len()).unwrap_or(tail).cmp(piece)
        };
        let low = words.partition_point(|word| continuation(word).is_lt());
        let high = words.partition_point(|word| continuation(word).is_le());
        let shift = |count: usize| candidates.start + u32::try_from(count).unwrap_or(u32::MAX);
        shift(low)..shift(high)
    }

    /// Claims that one of `candidates` is complete after `read` bytes.
    pub(super) fn is_word(&self, candidates: &Candidates, read: usize) -> bool {
        // The shortest of the words that share a beginning stands first.
        self.slice(candidates).first().is_some_and(|word| word.len() == read)
    }

    /// Returns the words.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|word| &**word)
    }

    fn slice(&self, candidates: &Candidates) -> &[Box<str>] {
        self.0.get(candidates.start as usize..candidates.end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_the_words_with_the_spelled_beginning() {
        let lexicon: Lexicon = ["info", "warning", "in", "critical", "in"].into_iter().collect();
        let after_i = lexicon.narrow(&lexicon.all(), 0, "i");
        let after_in = lexicon.narrow(&after_i, 1, "n");
        assert!(!lexicon.is_word(&after_i, 1));
        assert!(lexicon.is_word(&after_in, 2));
        let after_inf = lexicon.narrow(&after_in, 2, "f");
        assert!(!lexicon.is_word(&after_inf, 3));
        assert!(lexicon.is_word(&lexicon.narrow(&after_inf, 3, "o"), 4));
        assert!(lexicon.narrow(&after_inf, 3, "oo").is_empty());
        assert!(lexicon.narrow(&lexicon.all(), 0, "x").is_empty());
    }
}
