//! Runs as they come on record, whoever begins them.
//!
//! The rule it protects: none is passed over. PostgreSQL gives a run its number before it is committed, and
//! four writers of each process commit as they can, so that a number may appear after a greater one. Numbers
//! that were passed over are asked after until nobody can be at them any more. To write in the order of
//! numbers instead would make all writers wait for each other's disk.

use super::conditions::Conditions;
use crate::dialect::Numbering;
use crate::error::StoreError;
use crate::filter::{Filter, Order, Page};
use crate::ledger::Ledger;
use crate::rows::{Columns, SUMMARY};
use crate::run::RunSummary;

/// How long a number that was passed over is asked after: longer than a transaction of ours may take, which
/// is two minutes. Most of them never come: a run that was found by its key has used a number, too.
const PATIENCE_MS: i64 = 300_000;

/// How many stretches of such numbers are asked after at once; of more, the oldest are given up.
const GAPS: usize = 512;

/// How far back whoever begins to look finds numbers that may still come: more than are under way at once.
const LOOK_BACK: i64 = 1_000;

const NUMBERS: &str = "SELECT seq FROM runs WHERE seq > \
     (SELECT COALESCE(MAX(seq), 0) FROM runs) - $1 ORDER BY seq";

/// Where somebody stands who is told of runs as they come on record.
#[derive(Debug, Clone, Default)]
pub struct Arrivals {
    /// The greatest number that was seen.
    last: i64,
    gaps: Vec<Gap>,
}

/// A stretch of numbers that were passed over, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    from: i64,
    to: i64,
    noticed_at: i64,
}

impl Arrivals {
    /// Returns the greatest number that was seen, 0 if none was.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Notes that the run of this number was seen.
    fn see(&mut self, number: i64, now_ms: i64) {
        if number > self.last {
            if number > self.last + 1 {
                self.gaps.push(Gap { from: self.last + 1, to: number - 1, noticed_at: now_ms });
            }
            self.last = number;
            return;
        }
        let is_there = |gap: &Gap| (gap.from..=gap.to).contains(&number);
        let Some(at) = self.gaps.iter().position(is_there) else { return };
        let gap = self.gaps.remove(at);
        let rest = [Gap { to: number - 1, ..gap }, Gap { from: number + 1, ..gap }];
        self.gaps.extend(rest.into_iter().filter(|gap| gap.from <= gap.to));
    }

    /// Gives up what cannot come any more.
    fn forget(&mut self, now_ms: i64) {
        self.gaps.retain(|gap| now_ms - gap.noticed_at <= PATIENCE_MS);
        self.gaps.sort_by_key(|gap| gap.noticed_at);
        self.gaps.drain(..self.gaps.len().saturating_sub(GAPS));
    }
}

impl Ledger {
    /// Begins to look: what is on record by now has arrived.
    pub async fn arrivals(&self) -> Result<Arrivals, StoreError> {
        let mut reader = self.reader().await?;
        let query = sqlx::query(NUMBERS).bind(LOOK_BACK);
        let rows = query.fetch_all(&mut *reader).await;
        let rows = rows.map_err(|error| StoreError::of(self.place.dialect, error))?;
        let numbers: Vec<i64> =
            rows.iter().map(|row| Columns::of(row).take()).collect::<Result<_, _>>()?;
        let newest = numbers.last().copied().unwrap_or(0);
        let last = newest.saturating_sub(LOOK_BACK).max(0);
        let mut arrivals = Arrivals { last, gaps: Vec::new() };
        self.note(&mut arrivals, numbers.into_iter());
        Ok(arrivals)
    }

    /// Returns the runs that came on record since the last time: first those whose numbers were passed
    /// over, then up to `limit` others, the oldest first.
    pub async fn arrived(
        &self,
        arrivals: &mut Arrivals,
        limit: u32,
    ) -> Result<Vec<RunSummary>, StoreError> {
        let mut came = self.late(&arrivals.gaps).await?;
        let page = Page { limit, after: Some(arrivals.last), order: Order::OldestFirst };
        came.extend(self.runs(&Filter::default(), page).await?);
        self.note(arrivals, came.iter().map(|run| run.number));
        Ok(came)
    }

    /// Notes that the runs of these numbers were seen.
    fn note(&self, arrivals: &mut Arrivals, numbers: impl Iterator<Item = i64>) {
        let now_ms = self.now_ms();
        numbers.for_each(|number| arrivals.see(number, now_ms));
        match self.place.dialect.numbering() {
            Numbering::InOrder => arrivals.gaps.clear(),
            Numbering::AsTaken => arrivals.forget(now_ms),
        }
    }

    /// Returns the runs that are on record by now among those that were passed over.
    async fn late(&self, gaps: &[Gap]) -> Result<Vec<RunSummary>, StoreError> {
        if gaps.is_empty() {
            return Ok(Vec::new());
        }
        let mut conditions = Conditions::default();
        conditions.among("seq", gaps.iter().map(|gap| (gap.from, gap.to)));
        let sql = format!("SELECT {SUMMARY} FROM runs {} ORDER BY seq", conditions.clause());
        let mut reader = self.reader().await?;
        let rows = conditions.query(sql).fetch_all(&mut *reader).await;
        let rows = rows.map_err(|error| StoreError::of(self.place.dialect, error))?;
        self.summaries(&mut reader, &rows).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(arrivals: &Arrivals) -> Vec<(i64, i64)> {
        let mut gaps: Vec<_> = arrivals.gaps.iter().map(|gap| (gap.from, gap.to)).collect();
        gaps.sort_unstable();
        gaps
    }

    #[test]
    fn numbers_that_were_passed_over_are_asked_after_until_they_come_or_cannot() {
        let mut arrivals = Arrivals::default();
        for number in [1, 2, 7, 9] {
            arrivals.see(number, 0);
        }
        assert_eq!((arrivals.last(), gaps(&arrivals)), (9, vec![(3, 6), (8, 8)]));
        for number in [4, 8, 4, 9, 1] {
            arrivals.see(number, 0);
        }
        assert_eq!((arrivals.last(), gaps(&arrivals)), (9, vec![(3, 3), (5, 6)]));
        arrivals.see(11, PATIENCE_MS);
        arrivals.forget(PATIENCE_MS + 1);
        assert_eq!(gaps(&arrivals), [(10, 10)]);
    }

    #[test]
    fn of_too_many_the_oldest_are_given_up() {
        let mut arrivals = Arrivals::default();
        for number in 1..=1_000 {
            arrivals.see(2 * number, number);
        }
        arrivals.forget(1_000);
        let gaps = gaps(&arrivals);
        assert_eq!((gaps.len(), gaps.first()), (GAPS, Some(&(977, 977))));
        assert_eq!(gaps.last(), Some(&(1_999, 1_999)));
    }
}
