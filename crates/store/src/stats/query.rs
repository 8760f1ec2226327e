//! Questions to the tallies.

use std::collections::BTreeMap;

use airtight_core::price::Cost;
use serde::Serialize;
use sqlx::any::AnyRow;

use super::drift::{Drift, Sample, drift};
use super::interval::{Interval, wilson};
use super::latency::Latencies;
use super::source::{Span, before_and_since};
use super::tally::{COUNTS, Tally};
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::read::Conditions;
use crate::rows::{Columns, cost};

const HOUR_MS: i64 = 3_600_000;

/// Which runs are counted. What is absent does not matter. Times are rounded down to the hour, and
/// are those at which runs ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsFilter {
    /// Ended in this hour or later, in Unix milliseconds.
    pub since: Option<i64>,
    /// Ended before this hour.
    pub until: Option<i64>,
    /// Who served the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The name of the contract.
    pub contract: Option<String>,
    /// The version of the contract.
    pub contract_version: Option<String>,
}

/// What runs are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Who served the model.
    Provider,
    /// The model.
    Model,
    /// The contract.
    Contract,
    /// The version of the contract.
    Version,
    /// How they ended.
    Outcome,
    /// How their values were obtained.
    Rung,
    /// The hour in which they ended, as Unix milliseconds of its beginning.
    Hour,
    /// The day in which they ended (UTC), as Unix milliseconds of its beginning.
    Day,
}

impl GroupBy {
    fn column(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Model => "model",
            Self::Contract => "contract",
            Self::Version => "contract_version",
            Self::Outcome => "outcome",
            Self::Rung => "rung",
            Self::Hour => "CAST(hour * 3600000 AS TEXT)",
            Self::Day => "CAST(hour / 24 * 86400000 AS TEXT)",
        }
    }
}

/// What is known of a group of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stat {
    /// What they share, in the order that was asked for.
    pub group: Vec<String>,
    /// How many there are.
    pub runs: u64,
    /// How many have no valid output.
    pub failed: u64,
    /// The failure rate, with its 95 % interval.
    pub failure: Interval,
    /// Half of them took no longer, in milliseconds, to 5 %.
    pub p50_ms: f64,
    /// 95 of 100 took no longer.
    pub p95_ms: f64,
    /// Answers that were judged.
    pub attempts: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens said.
    pub output_tokens: u64,
    /// What is known of their cost.
    pub cost_usd: Cost,
    /// How many runs have a cost that nobody knows.
    pub unpriced: u64,
    /// Answers that were stopped early.
    pub early_cancels: u64,
    /// An estimate of the tokens which that saved.
    pub tokens_saved: u64,
    /// How they ended.
    pub outcomes: BTreeMap<String, u64>,
    /// How their values were obtained.
    pub rungs: BTreeMap<String, u64>,
}

/// A group while it is summed up.
#[derive(Default)]
struct Sum {
    all: Tally,
    latencies: Latencies,
    outcomes: BTreeMap<String, u64>,
    rungs: BTreeMap<String, u64>,
}

impl Sum {
    fn add(&mut self, outcome: String, rung: String, tally: &Tally) {
        let runs = tally.runs.unsigned_abs();
        self.all.add(tally);
        *self.outcomes.entry(outcome).or_default() += runs;
        if !rung.is_empty() {
            *self.rungs.entry(rung).or_default() += runs;
        }
    }

    fn stat(self, group: Vec<String>) -> Option<Stat> {
        let runs = self.all.runs.unsigned_abs();
        let failed = (self.all.runs - self.all.valid).unsigned_abs();
        Some(Stat {
            group,
            runs,
            failed,
            failure: wilson(failed, runs)?,
            p50_ms: self.latencies.quantile(0.5)?,
            p95_ms: self.latencies.quantile(0.95)?,
            attempts: self.all.attempts.unsigned_abs(),
            input_tokens: self.all.input_tokens.unsigned_abs(),
            output_tokens: self.all.output_tokens.unsigned_abs(),
            cost_usd: cost(self.all.cost_nano).unwrap_or_default(),
            unpriced: self.all.unpriced.unsigned_abs(),
            early_cancels: self.all.early_cancels.unsigned_abs(),
            tokens_saved: self.all.tokens_saved.unsigned_abs(),
            outcomes: self.outcomes,
            rungs: self.rungs,
        })
    }
}

impl Ledger {
    /// Returns what is known of the runs that `filter` means, one entry for each group, sorted by
    /// what the group shares; one entry in all if `groups` is empty, none if there are no runs.
    pub async fn stats(
        &self,
        filter: &StatsFilter,
        groups: &[GroupBy],
    ) -> Result<Vec<Stat>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.text("provider =", filter.provider.as_deref());
        conditions.text("model =", filter.model.as_deref());
        conditions.text("contract =", filter.contract.as_deref());
        conditions.text("contract_version =", filter.contract_version.as_deref());
        let hour = |ms: i64| ms.div_euclid(HOUR_MS);
        let span = Span { since: filter.since.map(hour), until: filter.until.map(hour) };
        let source = if groups.contains(&GroupBy::Hour) {
            span.by_hour(&mut conditions)
        } else {
            span.by_day(&mut conditions)
        };
        let columns: String = groups.iter().flat_map(|group| [group.column(), ", "]).collect();
        let sql = format!(
            "SELECT {columns} outcome, rung, {}, {}(latency, ' ') FROM {source} \
             GROUP BY {columns} outcome, rung",
            COUNTS.map(|count| format!("CAST(SUM({count}) AS BIGINT)")).join(", "),
            self.place.dialect.joined(),
        );
        let mut sums: BTreeMap<Vec<String>, Sum> = BTreeMap::new();
        for row in &self.counted(conditions, sql).await? {
            let mut columns = Columns::of(row);
            let group: Vec<String> =
                groups.iter().map(|_| columns.take()).collect::<Result<_, _>>()?;
            let (outcome, rung) = (columns.take()?, columns.take()?);
            let tally = tally(&mut columns)?;
            let sum = sums.entry(group).or_default();
            sum.add(outcome, rung, &tally);
            sum.latencies.read(&columns.take::<String>()?)?;
        }
        Ok(sums.into_iter().filter_map(|(group, sum)| sum.stat(group)).collect())
    }

    /// Returns the models whose failure rate since `since_ms` lies beyond their own history.
    pub async fn drifts(&self, since_ms: i64) -> Result<Vec<(String, String, Drift)>, StoreError> {
        let mut conditions = Conditions::default();
        let since = since_ms.div_euclid(HOUR_MS);
        let source = before_and_since(since, &mut conditions);
        let since = conditions.place(since);
        let sum = |when: &str, what: &str| {
            format!("CAST(SUM(CASE WHEN hour {when} {since} THEN {what} ELSE 0 END) AS BIGINT)")
        };
        let sums = [
            sum(">=", "runs"),
            sum(">=", "runs - valid"),
            sum("<", "runs"),
            sum("<", "runs - valid"),
        ];
        let sums = sums.join(", ");
        let sql = format!("SELECT provider, model, {sums} FROM {source} GROUP BY provider, model");
        let mut drifts = Vec::new();
        for row in &self.counted(conditions, sql).await? {
            let mut columns = Columns::of(row);
            let (provider, model): (String, String) = (columns.take()?, columns.take()?);
            let recent = sample(&mut columns)?;
            let history = sample(&mut columns)?;
            drifts.extend(drift(recent, history).map(|drift| (provider, model, drift)));
        }
        drifts.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        Ok(drifts)
    }

    async fn counted(
        &self,
        conditions: Conditions,
        sql: String,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let mut reader = self.reader().await?;
        let rows = conditions.query(sql).fetch_all(&mut *reader).await;
        rows.map_err(|error| StoreError::of(self.place.dialect, error))
    }
}

fn sample(columns: &mut Columns<'_>) -> Result<Sample, StoreError> {
    let (runs, failed): (i64, i64) = (columns.take()?, columns.take()?);
    Ok(Sample { runs: runs.unsigned_abs(), failed: failed.unsigned_abs() })
}

fn tally(columns: &mut Columns<'_>) -> Result<Tally, StoreError> {
    Ok(Tally {
        runs: columns.take()?,
        valid: columns.take()?,
        attempts: columns.take()?,
        input_tokens: columns.take()?,
        output_tokens: columns.take()?,
        cost_nano: columns.take()?,
        unpriced: columns.take()?,
        early_cancels: columns.take()?,
        tokens_saved: columns.take()?,
    })
}
