//! How far a memory is to be believed: whole thousandths, so that steps of a tenth are exact.
//!
//! What a memory is worth now is a function of what it was worth when it was last confirmed, and of
//! the time since. Nothing is subtracted from what is stored, so that looking twice changes nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// For so long a memory keeps its worth unconfirmed.
pub const GRACE_MS: i64 = 30 * DAY_MS;

/// Then it loses [`Confidence::FADING`] for each of these that is over.
pub const FADING_MS: i64 = 7 * DAY_MS;

/// How far a memory is to be believed, in thousandths of 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u16", into = "u16")]
pub struct Confidence(u16);

impl Confidence {
    /// Not at all.
    pub const NONE: Self = Self(0);
    /// What a new memory has.
    pub const NEW: Self = Self(700);
    /// The most there is.
    pub const FULL: Self = Self(1_000);
    /// The least that is still told to sessions.
    pub const LEAST: Self = Self(300);
    /// What the same observation adds.
    pub const SAME: Self = Self(100);
    /// What another observation takes.
    pub const CONTRADICTED: Self = Self(200);
    /// What each week beyond the grace takes.
    pub const FADING: Self = Self(100);

    /// Makes a confidence of thousandths; more than a thousand is a thousand.
    pub fn from_thousandths(thousandths: u16) -> Self {
        Self(thousandths).min(Self::FULL)
    }

    /// Makes a confidence of what somebody typed, brought into 0 to 1; `None` if it is no number.
    pub fn from_ratio(ratio: f64) -> Option<Self> {
        if ratio.is_nan() {
            return None;
        }
        // The decimal text is rounded exactly, and a float is never cast.
        let text = format!("{:.3}", ratio.clamp(0.0, 1.0));
        text.replace(['.', '-'], "").parse().ok().map(Self)
    }

    /// Returns it in thousandths.
    pub fn thousandths(self) -> u16 {
        self.0
    }

    /// Returns it as a number from 0 to 1.
    pub fn ratio(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }

    /// Returns it after the same was observed again.
    #[must_use]
    pub fn reinforced(self) -> Self {
        Self::from_thousandths(self.0.saturating_add(Self::SAME.0))
    }

    /// Returns it after something else was observed.
    #[must_use]
    pub fn contradicted(self) -> Self {
        Self(self.0.saturating_sub(Self::CONTRADICTED.0))
    }

    /// Returns what is left at `now_ms` of what was confirmed at `confirmed_at_ms`.
    ///
    /// A clock that went back takes nothing.
    #[must_use]
    pub fn faded(self, confirmed_at_ms: i64, now_ms: i64) -> Self {
        let beyond = now_ms.saturating_sub(confirmed_at_ms).saturating_sub(GRACE_MS).max(0);
        let lost = (beyond / FADING_MS).saturating_mul(i64::from(Self::FADING.0));
        Self(self.0.saturating_sub(u16::try_from(lost).unwrap_or(u16::MAX)))
    }

    /// Claims that it is enough to be told.
    pub fn is_enough(self) -> bool {
        self >= Self::LEAST
    }
}

impl From<u16> for Confidence {
    fn from(thousandths: u16) -> Self {
        Self::from_thousandths(thousandths)
    }
}

impl From<Confidence> for u16 {
    fn from(confidence: Confidence) -> Self {
        confidence.0
    }
}

impl fmt::Display for Confidence {
    /// Writes at least one digit behind the point: `0.7`, `0.85`, `1.0`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:03}", self.0 % 1_000);
        let digits = match digits.trim_end_matches('0') {
            "" => "0",
            digits => digits,
        };
        write!(out, "{}.{digits}", self.0 / 1_000)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    #[test_case(700, "0.7")]
    #[test_case(850, "0.85")]
    #[test_case(1_000, "1.0")]
    #[test_case(5, "0.005")]
    #[test_case(0, "0.0")]
    fn it_is_written_as_people_write_it(thousandths: u16, text: &str) {
        assert_eq!(Confidence::from_thousandths(thousandths).to_string(), text);
    }

    /// CO-54: what an operator types is brought into 0 to 1, which the original's handlers did not.
    #[test_case(0.3 => Some(300))]
    #[test_case(-2.0 => Some(0))]
    #[test_case(-0.000_1 => Some(0); "minus zero")]
    #[test_case(7.5 => Some(1_000))]
    #[test_case(f64::INFINITY => Some(1_000))]
    #[test_case(f64::NAN => None)]
    #[test_case(0.1 + 0.2 => Some(300); "sums of floats")]
    fn co_54_typed_confidence_is_clamped(ratio: f64) -> Option<u16> {
        Confidence::from_ratio(ratio).map(Confidence::thousandths)
    }

    /// CO-54: exactly 0.3 is enough.
    #[test]
    fn co_54_exactly_three_tenths_is_enough() {
        assert!(Confidence::from_thousandths(300).is_enough());
        assert!(!Confidence::from_thousandths(299).is_enough());
    }

    /// CO-55: 30 days of grace, then a tenth for each full week.
    #[test_case(0 => 700; "at once")]
    #[test_case(30 * DAY_MS => 700; "the grace")]
    #[test_case(37 * DAY_MS - 1 => 700; "no full week")]
    #[test_case(37 * DAY_MS => 600; "a week")]
    #[test_case(44 * DAY_MS => 500; "44 days are two weeks")]
    #[test_case(58 * DAY_MS => 300; "exactly enough")]
    #[test_case(365 * DAY_MS => 0; "never below nothing")]
    #[test_case(i64::MAX => 0; "the end of time")]
    #[test_case(-DAY_MS => 700; "a clock that went back")]
    #[test_case(i64::MIN => 700; "the beginning of time")]
    fn co_55_time_takes_a_tenth_for_each_full_week_beyond_the_grace(elapsed_ms: i64) -> u16 {
        Confidence::NEW.faded(0, elapsed_ms).thousandths()
    }

    proptest! {
        /// The original took a tenth at every chain; here looking changes nothing.
        #[test]
        fn fading_is_the_closed_formula(
            base in 0_u16..=1_000,
            confirmed_at in -1_000_000_000_000_i64..2_000_000_000_000,
            elapsed in 0_i64..400 * DAY_MS,
        ) {
            let weeks = (elapsed - 30 * DAY_MS).max(0) / (7 * DAY_MS);
            let expected = (i64::from(base) - 100 * weeks).max(0);
            let now = confirmed_at + elapsed;
            let looked = Confidence::from_thousandths(base).faded(confirmed_at, now);
            prop_assert_eq!(i64::from(looked.thousandths()), expected);
        }

        #[test]
        fn it_never_rises_with_time(base in 0_u16..=1_000, first: i64, more in 0_i64..i64::MAX) {
            let base = Confidence::from_thousandths(base);
            prop_assert!(base.faded(0, first.saturating_add(more)) <= base.faded(0, first));
        }

        #[test]
        fn steps_stay_within_bounds(base: u16) {
            let base = Confidence::from_thousandths(base);
            let steps = [base, base.reinforced(), base.contradicted()];
            prop_assert!(steps.iter().all(|it| *it <= Confidence::FULL));
            let typed = Confidence::from_ratio(base.ratio());
            prop_assert_eq!(typed, Some(base));
        }
    }
}
