//! Latencies in buckets that are 5 % wide, so that quantiles need no list of runs.
//!
//! All buckets of a tally stand in one text, `112 98:3`: the bucket, and how many runs are in it if
//! there are more than one. Texts behind each other are such a text again, so a database adds to one
//! without reading it, and a row for each bucket, almost one for each run, is not needed.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::StoreError;

/// The ratio of one bucket to the next.
const WIDTH: f64 = 1.05;

/// The bucket of everything longer: some 30 years.
const LAST: i64 = 570;

/// How many runs are in each bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Latencies(BTreeMap<i64, u64>);

impl Latencies {
    /// Returns those of one run.
    pub(crate) fn of(elapsed_ms: i64) -> Self {
        Self(BTreeMap::from([(bucket_of(elapsed_ms), 1)]))
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (bucket, runs) in &other.0 {
            self.count(*bucket, *runs);
        }
    }

    fn count(&mut self, bucket: i64, runs: u64) {
        let sum = self.0.entry(bucket).or_default();
        *sum = sum.saturating_add(runs);
    }

    /// Adds those of a text, or of several behind each other.
    pub(super) fn read(&mut self, text: &str) -> Result<(), StoreError> {
        for word in text.split_ascii_whitespace() {
            let (bucket, runs) = word.split_once(':').unwrap_or((word, "1"));
            let (Ok(bucket), Ok(runs)) = (bucket.parse::<i64>(), runs.parse::<u64>()) else {
                return Err(StoreError::Damaged { what: "the latencies of a tally" });
            };
            self.count(bucket, runs);
        }
        Ok(())
    }

    /// Returns the milliseconds that the share `q` of the runs does not exceed.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        let all = self.0.values().fold(0, |all: u64, runs| all.saturating_add(*runs));
        if all == 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rank needs no more than 53 bits")]
        let rank = (q * all as f64).max(1.0);
        let mut seen: u64 = 0;
        let reached = self.0.iter().find(|(_, runs)| {
            seen = seen.saturating_add(**runs);
            #[expect(clippy::cast_precision_loss, reason = "a rank needs no more than 53 bits")]
            let enough = seen as f64 >= rank;
            enough
        });
        reached.or(self.0.last_key_value()).map(|(bucket, _)| middle_ms(*bucket))
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (bucket, runs)) in self.0.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            match runs {
                1 => write!(formatter, "{gap}{bucket}")?,
                runs => write!(formatter, "{gap}{bucket}:{runs}")?,
            }
        }
        Ok(())
    }
}

/// Returns the bucket of `elapsed_ms`.
fn bucket_of(elapsed_ms: i64) -> i64 {
    if elapsed_ms < 1 {
        return 0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a bucket is 5 % wide")]
    let bucket = (elapsed_ms as f64).ln() / WIDTH.ln();
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of an i64 is below 900")]
    let bucket = bucket.floor() as i64 + 1;
    bucket.min(LAST)
}

/// Returns the milliseconds in the middle of a bucket.
fn middle_ms(bucket: i64) -> f64 {
    if bucket < 1 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "buckets are few")]
    let power = (bucket - 1) as f64 + 0.5;
    WIDTH.powf(power)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_all(times: &[i64]) -> Latencies {
        let mut latencies = Latencies::default();
        for time in times {
            latencies.add(&Latencies::of(*time));
        }
        latencies
    }

    proptest! {
        #[test]
        fn a_bucket_is_within_five_percent(elapsed_ms in 1i64..10_000_000_000) {
            #[expect(clippy::cast_precision_loss, reason = "small enough")]
            let exact = elapsed_ms as f64;
            let shown = middle_ms(bucket_of(elapsed_ms));
            prop_assert!((shown / exact - 1.0).abs() < 0.05, "{exact} as {shown}");
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_list(mut times in prop::collection::vec(1i64..1_000_000, 1..200)) {
            times.sort_unstable();
            let latencies = of_all(&times);
            for (q, rank) in [(0.5, times.len().div_ceil(2)), (1.0, times.len())] {
                #[expect(clippy::cast_precision_loss, reason = "small enough")]
                let exact = times[rank - 1] as f64;
                let shown = latencies.quantile(q).unwrap();
                prop_assert!((shown / exact - 1.0).abs() < 0.06, "{exact} as {shown}");
            }
        }

        #[test]
        fn texts_behind_each_other_are_the_sum(
            one in prop::collection::vec(0i64..1_000_000, 0..50),
            other in prop::collection::vec(0i64..1_000_000, 0..50),
        ) {
            let mut read = Latencies::default();
            read.read(&format!("{} {}", of_all(&one), of_all(&other))).unwrap();
            prop_assert_eq!(read, of_all(&[one, other].concat()));
        }
    }

    #[test]
    fn no_time_is_a_bucket_of_its_own() {
        assert_eq!((bucket_of(0), bucket_of(-5), bucket_of(1)), (0, 0, 1));
        assert_eq!(of_all(&[0, 0, 0]).quantile(0.5), Some(0.0));
        assert_eq!(Latencies::default().quantile(0.5), None);
        assert_eq!(bucket_of(i64::MAX), LAST);
    }

    #[test]
    fn a_text_is_short_and_damage_is_named() {
        assert_eq!(of_all(&[1, 1, 1, 100]).to_string(), "1:3 95");
        for text in ["x", "1:", ":1", "1:-1", "1:2:3"] {
            let read = Latencies::default().read(text);
            assert!(matches!(read, Err(StoreError::Damaged { .. })), "{text}");
        }
    }
}
