//! Latencies in buckets that are 5 % wide, so that quantiles need no list of runs.

/// The ratio of one bucket to the next.
const WIDTH: f64 = 1.05;

/// The bucket of everything longer: some 30 years.
const LAST: i64 = 570;

/// Returns the bucket of `elapsed_ms`.
pub(crate) fn bucket_of(elapsed_ms: i64) -> i64 {
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

/// Returns the milliseconds that the share `q` of the runs does not exceed; `buckets` are sorted
/// pairs of a bucket and how many runs are in it.
pub(crate) fn quantile(buckets: &[(i64, u64)], q: f64) -> Option<f64> {
    let all: u64 = buckets.iter().map(|(_, runs)| runs).sum();
    if all == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rank needs no more than 53 bits")]
    let rank = (q * all as f64).max(1.0);
    let mut seen = 0;
    let reached = buckets.iter().find(|(_, runs)| {
        seen += runs;
        #[expect(clippy::cast_precision_loss, reason = "a rank needs no more than 53 bits")]
        let enough = seen as f64 >= rank;
        enough
    });
    reached.or(buckets.last()).map(|(bucket, _)| middle_ms(*bucket))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            let mut buckets: Vec<(i64, u64)> = Vec::new();
            for time in &times {
                match buckets.last_mut() {
                    Some((bucket, runs)) if *bucket == bucket_of(*time) => *runs += 1,
                    _ => buckets.push((bucket_of(*time), 1)),
                }
            }
            for (q, rank) in [(0.5, times.len().div_ceil(2)), (1.0, times.len())] {
                #[expect(clippy::cast_precision_loss, reason = "small enough")]
                let exact = times[rank - 1] as f64;
                let shown = quantile(&buckets, q).unwrap();
                prop_assert!((shown / exact - 1.0).abs() < 0.06, "{exact} as {shown}");
            }
        }
    }

    #[test]
    fn no_time_is_a_bucket_of_its_own() {
        assert_eq!((bucket_of(0), bucket_of(-5), bucket_of(1)), (0, 0, 1));
        assert_eq!(quantile(&[(0, 3)], 0.5), Some(0.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(bucket_of(i64::MAX), LAST);
    }
}
