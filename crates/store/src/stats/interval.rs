//! How far a rate that was observed can be from the true one.

use serde::Serialize;

/// A rate with the interval that holds the true one in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The rate as it was observed.
    pub rate: f64,
    /// The upper end.
    pub high: f64,
}

/// How many standard deviations hold 95 %.
const Z_95: f64 = 1.959_963_985;

/// Returns Wilson's interval for `hits` among `all`; `None` if there is nothing to count.
///
/// Unlike the textbook interval it stays within 0 and 1 and says something about few cases: none
/// of ten failed means up to 28 % may.
pub fn wilson(hits: u64, all: u64) -> Option<Interval> {
    interval(hits, all, Z_95)
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
pub(super) fn interval(hits: u64, all: u64, z: f64) -> Option<Interval> {
    if all == 0 {
        return None;
    }
    let n = all as f64;
    let rate = hits.min(all) as f64 / n;
    let z2 = z * z;
    let middle = rate + z2 / (2.0 * n);
    let spread = z * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    Some(Interval {
        low: ((middle - spread) / scale).max(0.0),
        rate,
        high: ((middle + spread) / scale).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    /// Values as published for Wilson's score interval without continuity correction.
    #[test_case(0, 10, 0.0, 0.2775; "none of ten")]
    #[test_case(5, 10, 0.2366, 0.7634; "half of ten")]
    #[test_case(10, 10, 0.7225, 1.0; "all of ten")]
    #[test_case(81, 263, 0.2553, 0.3662; "81 of 263")]
    fn the_interval_is_wilsons(hits: u64, all: u64, low: f64, high: f64) {
        let interval = wilson(hits, all).unwrap();
        assert!((interval.low - low).abs() < 1e-4, "{interval:?}");
        assert!((interval.high - high).abs() < 1e-4, "{interval:?}");
    }

    proptest! {
        #[test]
        fn the_rate_lies_within_its_interval(hits in 0u64..1_000_000, more in 0u64..1_000_000) {
            prop_assume!(hits + more > 0);
            let found = wilson(hits, hits + more).unwrap();
            prop_assert!(0.0 <= found.low && found.low <= found.rate + 1e-12);
            prop_assert!(found.rate <= found.high + 1e-12 && found.high <= 1.0);
        }
    }

    #[test]
    fn nothing_counted_has_no_rate() {
        assert_eq!(wilson(0, 0), None);
    }
}
