//! What finished runs add up to: one row for an hour, a model, a contract, an outcome and a latency.

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::writer::Transaction;

const ADD: &str = "INSERT INTO tallies (hour, provider, model, contract, contract_version, \
     outcome, rung, bucket, runs, valid, attempts, input_tokens, output_tokens, cost_nano, \
     unpriced, early_cancels, tokens_saved) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) \
     ON CONFLICT (hour, provider, model, contract, contract_version, outcome, rung, bucket) \
     DO UPDATE SET runs = tallies.runs + excluded.runs, valid = tallies.valid + excluded.valid, \
     attempts = tallies.attempts + excluded.attempts, \
     input_tokens = tallies.input_tokens + excluded.input_tokens, \
     output_tokens = tallies.output_tokens + excluded.output_tokens, \
     cost_nano = tallies.cost_nano + excluded.cost_nano, \
     unpriced = tallies.unpriced + excluded.unpriced, \
     early_cancels = tallies.early_cancels + excluded.early_cancels, \
     tokens_saved = tallies.tokens_saved + excluded.tokens_saved";

/// What runs are told apart by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TallyKey {
    pub(crate) hour: i64,
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) contract: String,
    pub(crate) contract_version: String,
    pub(crate) outcome: String,
    pub(crate) rung: String,
    pub(crate) bucket: i64,
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
}

/// The tallies of one transaction, sorted: rows are locked in the same order by everybody.
#[derive(Debug, Default)]
pub(crate) struct Tallies(BTreeMap<TallyKey, Tally>);

impl Tallies {
    pub(crate) fn add(&mut self, key: TallyKey, tally: &Tally) {
        self.0.entry(key).or_default().add(tally);
    }

    pub(crate) async fn write(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        for (key, tally) in &self.0 {
            sqlx::query(ADD)
                .bind(key.hour)
                .bind(key.provider.as_str())
                .bind(key.model.as_str())
                .bind(key.contract.as_str())
                .bind(key.contract_version.as_str())
                .bind(key.outcome.as_str())
                .bind(key.rung.as_str())
                .bind(key.bucket)
                .bind(tally.runs)
                .bind(tally.valid)
                .bind(tally.attempts)
                .bind(tally.input_tokens)
                .bind(tally.output_tokens)
                .bind(tally.cost_nano)
                .bind(tally.unpriced)
                .bind(tally.early_cancels)
                .bind(tally.tokens_saved)
                .execute(&mut *to.connection)
                .await
                .map_err(to.fail())?;
        }
        Ok(())
    }
}
