//! Notices a model that says the same over and over.

use toktrie::TokenId;

/// The longest phrase whose repetition is noticed, in tokens.
const PERIOD_LIMIT: usize = 32;

/// How many tokens must repeat earlier ones; phrases over half of it must come three times.
const PATIENCE: usize = 24;

/// Follows an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repetition {
    recent: Vec<TokenId>,
    /// For each period, how many tokens in a row equal the one that many places before.
    runs: [usize; PERIOD_LIMIT],
}

impl Repetition {
    /// Follows one more token, and says whether the answer goes in circles.
    pub(crate) fn follow(&mut self, token: TokenId) -> bool {
        let mut circles = false;
        for (run, (period, before)) in self.runs.iter_mut().zip((1..).zip(self.recent.iter().rev()))
        {
            *run = if *before == token { *run + 1 } else { 0 };
            circles |= *run >= PATIENCE.max(2 * period);
        }
        self.recent.push(token);
        if self.recent.len() > PERIOD_LIMIT {
            self.recent.remove(0);
        }
        circles
    }

    /// Forgets what was said, so that the next circle is noticed anew.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn noticed_after(phrase: &[TokenId]) -> Option<usize> {
        let mut repetition = Repetition::default();
        phrase.iter().cycle().take(500).position(|token| repetition.follow(*token))
    }

    #[test_case(&[7], 24; "one token")]
    #[test_case(&[1, 2, 3], 26; "a phrase")]
    #[test_case(&[1, 1, 1, 2, 1, 1, 1, 3], 31; "a phrase with inner repetition")]
    fn a_phrase_that_repeats_is_noticed(phrase: &[TokenId], after: usize) {
        assert_eq!(noticed_after(phrase), Some(after));
    }

    #[test]
    fn a_long_phrase_must_come_three_times() {
        let phrase: Vec<TokenId> = (0..30).collect();
        assert_eq!(noticed_after(&phrase), Some(89));
    }

    #[test]
    fn text_that_does_not_repeat_is_left_alone() {
        let phrase: Vec<TokenId> = (0..100).collect();
        assert_eq!(noticed_after(&phrase), None);
    }
}
