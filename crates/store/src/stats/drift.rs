//! Whether a failure rate has moved beyond its own history.

use serde::Serialize;

use super::interval::{Interval, interval};

/// Runs that were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// All of them.
    pub runs: u64,
    /// Those that failed.
    pub failed: u64,
}

/// A failure rate that has moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// What it is.
    pub recent: Interval,
    /// What it was.
    pub history: Interval,
}

/// Fewer runs say nothing about a rate.
const RUNS_MIN: u64 = 20;

/// How many standard deviations each of the two intervals spans. 99 % each: somebody who looks once an hour
/// at ten providers is wrongly alarmed less than once a month.
const Z: f64 = 2.575_829_304;

/// A rise that is smaller is nothing to wake anybody for, however certain it is.
const RISE_MIN: f64 = 0.01;

/// Returns how the failure rate has risen, if what is recent lies beyond what history explains.
pub fn drift(recent: Sample, history: Sample) -> Option<Drift> {
    if recent.runs < RUNS_MIN || history.runs < RUNS_MIN {
        return None;
    }
    let now = interval(recent.failed, recent.runs, Z)?;
    let then = interval(history.failed, history.runs, Z)?;
    let risen = now.low > then.high && now.rate - then.rate >= RISE_MIN;
    risen.then_some(Drift { recent: now, history: then })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case((30, 100), (100, 10_000) => true; "thirty times as many")]
    #[test_case((2, 100), (100, 10_000) => false; "within chance")]
    #[test_case((5, 5), (0, 10_000) => false; "too few to say")]
    #[test_case((100, 100), (0, 5) => false; "no history")]
    #[test_case((0, 100), (5_000, 10_000) => false; "better is no alarm")]
    #[test_case((1_500, 1_000_000), (1_000, 1_000_000) => false; "certain and small")]
    fn a_rate_drifts_when_history_does_not_explain_it(
        (failed, runs): (u64, u64),
        (failed_before, runs_before): (u64, u64),
    ) -> bool {
        let recent = Sample { runs, failed };
        drift(recent, Sample { runs: runs_before, failed: failed_before }).is_some()
    }
}
