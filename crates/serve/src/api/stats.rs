//! How often runs fail, how long they take and what they cost.

use std::collections::BTreeMap;

use airtight_store::{GroupBy, Interval, Stat, StatsFilter};
use axum::extract::State;
use axum::response::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::asked::{Asked, Limit, Number, limit};
use super::{Answered, Api};
use crate::problem::Problem;

/// What runs may be told apart by.
const GROUPS: [(&str, GroupBy); 8] = [
    ("provider", GroupBy::Provider),
    ("model", GroupBy::Model),
    ("contract", GroupBy::Contract),
    ("version", GroupBy::Version),
    ("outcome", GroupBy::Outcome),
    ("rung", GroupBy::Rung),
    ("hour", GroupBy::Hour),
    ("day", GroupBy::Day),
];

/// How many of them at once: more would be a row for each run.
const GROUPS_MOST: usize = 3;

/// Which runs are counted, and what they are told apart by.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct StatsQuery {
    /// Up to three words with commas between: `provider`, `model`, `contract`, `version`, `outcome`,
    /// `rung`, `hour`, `day`. Absent, all runs are one group.
    #[param(
        pattern = "^(provider|model|contract|version|outcome|rung|hour|day)(,(provider|model|contract|version|outcome|rung|hour|day)){0,2}$"
    )]
    by: Option<String>,
    /// The most groups; the rest is left out.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Ended in the hour of this time or later, in Unix milliseconds.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    since: Option<Number>,
    /// Ended before the hour of this time.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    until: Option<Number>,
    /// Who served the model.
    provider: Option<String>,
    /// The model.
    model: Option<String>,
    /// The name of the contract.
    contract: Option<String>,
    /// The version of the contract.
    contract_version: Option<String>,
}

/// A rate with its 95 % interval.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the members are called so everywhere")]
pub(super) struct Rate {
    low: f64,
    rate: f64,
    high: f64,
}

/// What is known of a group of runs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatRow {
    /// What they share, by the words that were asked for; hours and days as Unix milliseconds.
    group: BTreeMap<String, String>,
    runs: u64,
    /// How many have no valid output.
    failed: u64,
    failure: Rate,
    p50_ms: f64,
    p95_ms: f64,
    attempts: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: f64,
    /// How many runs have a cost that nobody knows.
    unpriced: u64,
    early_cancels: u64,
    tokens_saved: u64,
    outcomes: BTreeMap<String, u64>,
    rungs: BTreeMap<String, u64>,
}

impl StatRow {
    fn new(words: &[&str], stat: Stat) -> Self {
        let Interval { low, rate, high } = stat.failure;
        let words = words.iter().map(|word| (*word).to_owned());
        Self {
            group: words.zip(stat.group).collect(),
            runs: stat.runs,
            failed: stat.failed,
            failure: Rate { low, rate, high },
            p50_ms: stat.p50_ms,
            p95_ms: stat.p95_ms,
            attempts: stat.attempts,
            input_tokens: stat.input_tokens,
            output_tokens: stat.output_tokens,
            cost_usd: stat.cost_usd.usd(),
            unpriced: stat.unpriced,
            early_cancels: stat.early_cancels,
            tokens_saved: stat.tokens_saved,
            outcomes: stat.outcomes,
            rungs: stat.rungs,
        }
    }
}

/// Statistics.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Stats {
    /// One for each group.
    items: Vec<StatRow>,
    /// How many groups there are, those included that were left out.
    total: usize,
}

/// Counts finished runs, also those that were pruned.
#[utoipa::path(get, path = "/api/v1/stats", tag = "stats", params(StatsQuery),
    responses((status = OK, body = Stats)))]
pub(super) async fn stats(
    State(api): State<Api>,
    Asked(query): Asked<StatsQuery>,
) -> Answered<Stats> {
    let groups = groups(query.by.as_deref())?;
    let most = usize::try_from(limit(query.limit)).unwrap_or(usize::MAX);
    let ms = |number: Option<Number>| number.map(|Number(ms)| ms);
    let filter = StatsFilter {
        since: ms(query.since),
        until: ms(query.until),
        provider: query.provider,
        model: query.model,
        contract: query.contract,
        contract_version: query.contract_version,
    };
    let (words, by): (Vec<&str>, Vec<GroupBy>) = groups.into_iter().unzip();
    let stats = api.ledger.stats(&filter, &by).await?;
    let total = stats.len();
    let items = stats.into_iter().take(most).map(|stat| StatRow::new(&words, stat)).collect();
    Ok(Json(Stats { items, total }))
}

fn groups(by: Option<&str>) -> Result<Vec<(&'static str, GroupBy)>, Problem> {
    let Some(by) = by else { return Ok(Vec::new()) };
    let named = |word: &str| GROUPS.into_iter().find(|(name, _)| *name == word);
    let groups: Option<Vec<_>> = by.split(',').map(named).collect();
    groups.filter(|groups| groups.len() <= GROUPS_MOST).ok_or_else(|| {
        let names = GROUPS.map(|(name, _)| name).join(", ");
        let message = format!("`by` is up to {GROUPS_MOST} of {names}, with commas between");
        Problem::request(message).at("by")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_few_and_known() {
        let words = |by| groups(by).map(|it| it.into_iter().map(|(name, _)| name).collect());
        assert_eq!(words(None), Ok(Vec::new()));
        assert_eq!(words(Some("model,day")), Ok(vec!["model", "day"]));
        for by in ["", "mood", "model,", "hour,day,model,rung"] {
            assert!(words(Some(by)).is_err(), "{by}");
        }
    }
}
