//! What happened during a run: attempts and events.

use crate::error::StoreError;
use crate::filter::PAGE_LIMIT;
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::rows::{Columns, text};
use crate::run::{Attempt, AttemptState, RunId, RunState, StoredEvent};

const READ_ATTEMPTS: &str = "SELECT attempts.number, attempts.state, attempts.provider, \
     attempts.model, purpose, ending, attempts.rung, output, violations, error, coded, \
     attempts.input_tokens, attempts.output_tokens, attempts.cache_read_tokens, \
     attempts.cache_write_tokens, attempts.reasoning_tokens, attempts.cost_nano, \
     attempts.started_at, attempts.ended_at FROM attempts JOIN runs ON runs.seq = attempts.run \
     WHERE runs.id = $1 ORDER BY CASE WHEN number < 0 THEN 1 ELSE 0 END, ABS(number)";
const READ_EVENTS: &str = "SELECT number, told_at, kind, body, coded FROM events \
     JOIN runs ON runs.seq = events.run WHERE runs.id = $1 AND number > $2 \
     ORDER BY number LIMIT $3";

const LAST_EVENT: &str = "SELECT CAST(COALESCE(MAX(number), 0) AS BIGINT) FROM events \
     JOIN runs ON runs.seq = events.run WHERE runs.id = $1";

impl Ledger {
    /// Returns the attempts of a run, in order; strays come last.
    pub async fn attempts(&self, id: &RunId) -> Result<Vec<Attempt>, StoreError> {
        let gone = self.run(id.as_str()).await?.summary.state == RunState::Unknown;
        let mut reader = self.reader().await?;
        let rows = sqlx::query(READ_ATTEMPTS)
            .bind(id.as_str())
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let mut attempts: Vec<Attempt> =
            rows.iter().map(|row| attempt(&mut Columns::of(row))).collect::<Result<_, _>>()?;
        for attempt in attempts.iter_mut().filter(|attempt| attempt.state == AttemptState::Open) {
            if gone {
                attempt.state = AttemptState::Unknown;
            }
        }
        Ok(attempts)
    }

    /// Returns the number of the last event of a run, 0 if it has none.
    pub async fn last_event(&self, id: &RunId) -> Result<i64, StoreError> {
        let mut reader = self.reader().await?;
        let query = sqlx::query(LAST_EVENT).bind(id.as_str());
        let row = query.fetch_one(&mut *reader).await;
        Columns::of(&row.map_err(|error| StoreError::of(self.place.dialect, error))?).take()
    }

    /// Returns up to `limit` events of a run that come after the number `after`.
    pub async fn events(
        &self,
        id: &RunId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(READ_EVENTS)
            .bind(id.as_str())
            .bind(after)
            .bind(i64::from(limit.min(PAGE_LIMIT)))
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        rows.iter().map(|row| event(&mut Columns::of(row))).collect()
    }
}

fn attempt(columns: &mut Columns<'_>) -> Result<Attempt, StoreError> {
    let number = columns.take()?;
    let state = AttemptState::named(&columns.take::<String>()?);
    let (provider, model, purpose) = (columns.take()?, columns.take()?, columns.take()?);
    let (ending, rung) = (columns.take()?, columns.take()?);
    let [output, violations, error] = [columns.take()?, columns.take()?, columns.take()?];
    let coded: String = columns.take()?;
    Ok(Attempt {
        number,
        state,
        provider,
        model,
        purpose,
        ending,
        rung,
        output: unpack("output", output, &coded)?,
        violations: unpack("violations", violations, &coded)?.map(text).transpose()?,
        error: unpack("error", error, &coded)?.map(text).transpose()?,
        usage: columns.usage()?,
        cost_usd: columns.cost()?,
        started_at: columns.take()?,
        ended_at: columns.take()?,
    })
}

fn event(columns: &mut Columns<'_>) -> Result<StoredEvent, StoreError> {
    let (number, at, kind) = (columns.take()?, columns.take()?, columns.take()?);
    let body = columns.take()?;
    let coded: String = columns.take()?;
    let body = unpack("body", body, &coded)?.map(text).transpose()?;
    Ok(StoredEvent { number, at, kind, body })
}
