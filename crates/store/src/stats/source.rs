//! Which rows a question about some time reads: whole days, and hours where a day is cut.
//!
//! Programs of an older version count in `tallies`, a row for each bucket. That table is read along: it is
//! empty unless one of them is still running, or was since the last step of the schema.

use super::tally::{COUNTS, Grain, NAMES};
use crate::read::Conditions;

/// Some time, by the hour: from the first on, and before the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
}

impl Span {
    /// Returns what to read where hours are told apart.
    pub(super) fn by_hour(self, conditions: &mut Conditions) -> String {
        union(None, &[self], self, conditions)
    }

    /// Returns what to read where they are not.
    pub(super) fn by_day(self, conditions: &mut Conditions) -> String {
        let (days, hours) = self.split();
        union(days, &hours, self, conditions)
    }

    /// Splits it into whole days, which are numbered as days, and the hours before and behind them.
    fn split(self) -> (Option<Self>, Vec<Self>) {
        // The first day that begins in it, and the one in which it ends.
        let first = self.since.map(|hour| -(-hour).div_euclid(24));
        let last = self.until.map(|hour| hour.div_euclid(24));
        if first.zip(last).is_some_and(|(first, last)| first >= last) {
            return (None, vec![self]);
        }
        let before = Self { since: self.since, until: first.map(|day| day * 24) };
        let behind = Self { since: last.map(|day| day * 24), until: self.until };
        let is_some = |hours: &Self| hours.since.zip(hours.until).is_some_and(|(a, b)| a < b);
        let hours = [before, behind].into_iter().filter(is_some).collect();
        (Some(Self { since: first, until: last }), hours)
    }

    /// Returns the conditions of it for a column.
    fn texts(self, column: &str, conditions: &mut Conditions) -> Vec<String> {
        let since = self.since.map(|time| format!("{column} >= {}", conditions.place(time)));
        let until = self.until.map(|time| format!("{column} < {}", conditions.place(time)));
        since.into_iter().chain(until).collect()
    }
}

/// Returns what to read of all time where what is before the hour `since` is told from what is not.
pub(super) fn before_and_since(since: i64, conditions: &mut Conditions) -> String {
    let day = since.div_euclid(24);
    let days = Span { since: None, until: Some(day) };
    let hours = Span { since: Some(day * 24), until: None };
    union(Some(days), &[hours], Span { since: None, until: None }, conditions)
}

/// Returns the rows of these days and of these hours as one table, each with the hour in which its time begins,
/// and those of `whole` that older programs count.
fn union(days: Option<Span>, hours: &[Span], whole: Span, conditions: &mut Conditions) -> String {
    let counts = COUNTS.join(", ");
    let mut parts = Vec::new();
    let table = |grain: Grain| grain.words().0;
    if let Some(days) = days {
        let clause = days.texts("day", conditions);
        let clause = conditions.clause_with(&clause);
        let table = table(Grain::Day);
        parts.push(format!(
            "SELECT day * 24 AS hour, {NAMES}, {counts}, latency FROM {table} {clause}"
        ));
    }
    for span in hours {
        let clause = span.texts("hour", conditions);
        let clause = conditions.clause_with(&clause);
        let table = table(Grain::Hour);
        parts.push(format!("SELECT hour, {NAMES}, {counts}, latency FROM {table} {clause}"));
    }
    let clause = whole.texts("hour", conditions);
    let clause = conditions.clause_with(&clause);
    parts.push(format!(
        "SELECT hour, {NAMES}, {counts}, CAST(bucket AS TEXT) || ':' || CAST(runs AS TEXT) \
         FROM tallies {clause}"
    ));
    format!("({}) AS counted", parts.join(" UNION ALL "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    /// A span whose ends are given as numbers; -1 is no end.
    fn span(since: i64, until: i64) -> Span {
        let end = |hour: i64| Some(hour).filter(|hour| *hour >= 0);
        Span { since: end(since), until: end(until) }
    }

    #[test_case(span(-1, -1) => (Some(span(-1, -1)), vec![]); "all time")]
    #[test_case(span(48, -1) => (Some(span(2, -1)), vec![]); "from midnight on")]
    #[test_case(span(47, -1) => (Some(span(2, -1)), vec![span(47, 48)]); "from an hour on")]
    #[test_case(span(-1, 49) => (Some(span(-1, 2)), vec![span(48, 49)]); "up to an hour")]
    #[test_case(span(23, 49) => (Some(span(1, 2)), vec![span(23, 24), span(48, 49)]); "a day and two hours")]
    #[test_case(span(25, 30) => (None, vec![span(25, 30)]); "within a day")]
    #[test_case(span(23, 25) => (None, vec![span(23, 25)]); "across midnight")]
    fn a_span_is_whole_days_and_the_hours_at_its_ends(span: Span) -> (Option<Span>, Vec<Span>) {
        span.split()
    }

    proptest! {
        #[test]
        fn every_hour_of_a_span_is_read_once(since in 0i64..200, length in 0i64..200, hour in 0i64..500) {
            let whole = span(since, since + length);
            let holds = |span: &Span, time: i64| {
                span.since.is_none_or(|since| since <= time) && span.until.is_none_or(|until| time < until)
            };
            let (days, hours) = whole.split();
            let read = hours.iter().filter(|span| holds(span, hour)).count()
                + usize::from(days.is_some_and(|days| holds(&days, hour.div_euclid(24))));
            prop_assert_eq!(read, usize::from(holds(&whole, hour)));
        }
    }
}
