//! What finished runs add up to: one row for an hour, a model, a contract and an outcome, and one for the
//! day. Days are what statistics mostly read: a year of them is short, however the runs are spread.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;
use sqlx::query::Query;

use super::latency::Latencies;
use crate::error::StoreError;
use crate::rows::{Columns, placeholders};
use crate::write::{Cell, Script};
use crate::writer::Transaction;

/// What rows are told apart by, besides their time.
pub(super) const NAMES: &str = "provider, model, contract, contract_version, outcome, rung";

/// What they add up to, in the order of [`Tally`].
pub(super) const COUNTS: [&str; 9] = [
    "runs",
    "valid",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost_nano",
    "unpriced",
    "early_cancels",
    "tokens_saved",
];

/// A time, six names, nine counts and the latencies.
const COLUMNS: usize = 17;

/// A text of latencies that is longer is read and folded: two thousand bytes stay in one page of SQLite,
/// and hold four times the buckets that the runs of a model usually spread over.
const LATENCY_LIMIT: i64 = 2_000;

/// How finely a table tells times apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    Hour,
    Day,
}

impl Grain {
    /// Returns the table, and its column of the time.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Hour => ("tallies_by_hour", "hour"),
            Self::Day => ("tallies_by_day", "day"),
        }
    }

    /// Returns the statement that adds to a row, and says how long its latencies have become.
    fn add(self) -> String {
        let (table, time) = self.words();
        let sums = COUNTS.map(|count| format!("{count} = {table}.{count} + excluded.{count}"));
        format!(
            "INSERT INTO {table} ({time}, {NAMES}, {}, latency) VALUES {} \
             ON CONFLICT ({time}, {NAMES}) DO UPDATE SET {}, \
             latency = {table}.latency || ' ' || excluded.latency \
             RETURNING CAST(LENGTH(latency) AS BIGINT)",
            COUNTS.join(", "),
            placeholders(1, COLUMNS),
            sums.join(", "),
        )
    }

    /// Returns the condition for the row of a time and six names.
    fn row(self) -> String {
        let (_, time) = self.words();
        let columns = [time].into_iter().chain(NAMES.split(", "));
        let equal: Vec<String> =
            columns.zip(1..).map(|(column, place)| format!("{column} = ${place}")).collect();
        equal.join(" AND ")
    }
}

/// What runs are told apart by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TallyKey {
    /// The number of the hour in which they ended, or of the day.
    pub(crate) time: i64,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) contract: String,
    pub(crate) contract_version: String,
    pub(crate) outcome: String,
    pub(crate) rung: String,
}

impl TallyKey {
    fn names(&self) -> [&str; 6] {
        let Self { time: _, provider, model, contract, contract_version, outcome, rung } = self;
        [provider, model, contract, contract_version, outcome, rung].map(String::as_str)
    }
}

/// What they add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) runs: i64,
    pub(crate) valid: i64,
    pub(crate) attempts: i64,
    pub(crate) input_tokens: i64,
    pub(crate) output_tokens: i64,
    pub(crate) cost_nano: i64,
    /// Runs whose cost nobody knows.
    pub(crate) unpriced: i64,
    pub(crate) early_cancels: i64,
    pub(crate) tokens_saved: i64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.runs, other.runs),
            (&mut self.valid, other.valid),
            (&mut self.attempts, other.attempts),
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.cost_nano, other.cost_nano),
            (&mut self.unpriced, other.unpriced),
            (&mut self.early_cancels, other.early_cancels),
            (&mut self.tokens_saved, other.tokens_saved),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// Returns the columns, in the order of [`COUNTS`].
    fn columns(&self) -> [i64; 9] {
        [
            self.runs,
            self.valid,
            self.attempts,
            self.input_tokens,
            self.output_tokens,
            self.cost_nano,
            self.unpriced,
            self.early_cancels,
            self.tokens_saved,
        ]
    }
}

/// The tallies of one transaction, sorted: rows are locked in the same order by everybody.
#[derive(Debug, Default)]
pub(crate) struct Tallies(BTreeMap<TallyKey, (Tally, Latencies)>);

impl Tallies {
    /// Adds to the tally of an hour.
    pub(crate) fn add(&mut self, key: TallyKey, tally: &Tally, latencies: &Latencies) {
        let (sum, times) = self.0.entry(key).or_default();
        sum.add(tally);
        times.add(latencies);
    }

    /// Adds what writes them, by the hour and by the day: each statement answers how long a row's latencies
    /// have become.
    pub(crate) fn add_to(&self, script: &mut Script) {
        for (grain, tallies) in [(Grain::Hour, self), (Grain::Day, &self.by_day())] {
            for (key, (tally, latencies)) in &tallies.0 {
                let names = key.names().map(Cell::from);
                let counts = tally.columns().map(Cell::from);
                let mut row = vec![key.time.into()];
                row.extend(names.into_iter().chain(counts));
                row.push(latencies.to_string().as_str().into());
                script.add(grain.add(), row);
            }
        }
    }

    /// Folds the latencies that have become too long: `lengths` are the answers to what was added.
    pub(crate) async fn fold(
        &self,
        to: &mut Transaction<'_>,
        lengths: Vec<AnyRow>,
    ) -> Result<(), StoreError> {
        let days = self.by_day();
        let hours = self.0.keys().map(|key| (Grain::Hour, key));
        let keys = hours.chain(days.0.keys().map(|key| (Grain::Day, key)));
        for ((grain, key), length) in keys.zip(lengths) {
            if Columns::of(&length).take::<i64>()? > LATENCY_LIMIT {
                fold(to, grain, key).await?;
            }
        }
        Ok(())
    }

    fn by_day(&self) -> Self {
        let mut days = Self::default();
        for (key, (tally, latencies)) in &self.0 {
            let day = TallyKey { time: key.time.div_euclid(24), ..key.clone() };
            days.add(day, tally, latencies);
        }
        days
    }
}

/// Writes the latencies of a row as short as they can be. The row was added to in this transaction, so
/// nobody else is at it.
async fn fold(to: &mut Transaction<'_>, grain: Grain, key: &TallyKey) -> Result<(), StoreError> {
    let fail = to.fail();
    let ((table, _), row) = (grain.words(), grain.row());
    let sql = format!("SELECT latency FROM {table} WHERE {row}");
    let query = sqlx::query(AssertSqlSafe(sql)).bind(key.time);
    let names = key.names().map(str::to_owned);
    let query = names.into_iter().fold(query, Query::bind);
    let found = query.fetch_one(&mut *to.connection).await.map_err(&fail)?;
    let mut latencies = Latencies::default();
    latencies.read(&Columns::of(&found).take::<String>()?)?;
    let sql = format!("UPDATE {table} SET latency = $8 WHERE {row}");
    let query = sqlx::query(AssertSqlSafe(sql)).bind(key.time);
    let names = key.names().map(str::to_owned);
    let query = names.into_iter().fold(query, Query::bind);
    let query = query.bind(latencies.to_string());
    query.execute(&mut *to.connection).await.map_err(&fail).map(drop)
}
