//! What happened during a run: attempts and events.

use crate::error::StoreError;
use crate::filter::PAGE_LIMIT;
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::rows::{Columns, text};
use crate::run::{
    Attempt, AttemptState, BoundedEvent, EventBounds, EventPage, RunId, RunState, StoredEvent,
};

const READ_ATTEMPTS: &str = "SELECT attempts.number, attempts.state, attempts.provider, \
     attempts.model, purpose, ending, attempts.rung, output, violations, error, coded, \
     attempts.input_tokens, attempts.output_tokens, attempts.cache_read_tokens, \
     attempts.cache_write_tokens, attempts.reasoning_tokens, attempts.cost_nano, \
     attempts.started_at, attempts.ended_at FROM attempts JOIN runs ON runs.seq = attempts.run \
     WHERE runs.id = $1 ORDER BY CASE WHEN number < 0 THEN 1 ELSE 0 END, ABS(number)";
const READ_EVENTS: &str = "SELECT number, told_at, kind, body, coded FROM events \
     JOIN runs ON runs.seq = events.run WHERE runs.id = $1 AND number > $2 \
     ORDER BY number LIMIT $3";
const MEASURE_EVENTS: &str = "SELECT number, CAST(COALESCE(OCTET_LENGTH(body), 0) AS BIGINT) \
     FROM events JOIN runs ON runs.seq = events.run WHERE runs.id = $1 AND number > $2 \
     ORDER BY number LIMIT $3";
const READ_SHORT_EVENTS: &str = "SELECT number, told_at, kind, \
     CASE WHEN OCTET_LENGTH(body) > $4 THEN NULL ELSE body END, coded FROM events \
     JOIN runs ON runs.seq = events.run WHERE runs.id = $1 AND number > $2 AND number <= $3 \
     ORDER BY number";
const LAST_EVENT: &str = "SELECT CAST(COALESCE(MAX(number), 0) AS BIGINT) FROM events \
     JOIN runs ON runs.seq = events.run WHERE runs.id = $1";

impl Ledger {
    /// Returns the attempts of a run, in order; strays come last.
    pub async fn attempts(&self, id: &RunId) -> Result<Vec<Attempt>, StoreError> {
        let gone = self.summary(id.as_str()).await?.state == RunState::Unknown;
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

    /// Returns events of a run that come after the number `after`, and no more than `bounds` allow: what
    /// is longer is not read.
    pub async fn events_within(
        &self,
        id: &RunId,
        after: i64,
        bounds: EventBounds,
    ) -> Result<EventPage, StoreError> {
        let fail = |error| StoreError::of(self.place.dialect, error);
        let mut reader = self.reader().await?;
        let rows = sqlx::query(MEASURE_EVENTS)
            .bind(id.as_str())
            .bind(after)
            .bind(i64::from(bounds.rows))
            .fetch_all(&mut *reader)
            .await
            .map_err(fail)?;
        let measure = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.take()?, columns.take()?))
        };
        let measured = rows.iter().map(measure).collect::<Result<Vec<(i64, i64)>, StoreError>>()?;
        let is_full = u32::try_from(measured.len()).is_ok_and(|rows| rows >= bounds.rows);
        let kept = within(&measured, bounds);
        let is_last = !is_full && kept.len() == measured.len();
        let Some((upto, _)) = kept.last() else {
            return Ok(EventPage { events: Vec::new(), is_last });
        };
        let rows = sqlx::query(READ_SHORT_EVENTS)
            .bind(id.as_str())
            .bind(after)
            .bind(*upto)
            .bind(bounds.body_bytes)
            .fetch_all(&mut *reader)
            .await
            .map_err(fail)?;
        let read = |row| Ok(bounded(event(&mut Columns::of(row))?, kept, bounds));
        let events = rows.iter().map(read).collect::<Result<_, StoreError>>()?;
        Ok(EventPage { events, is_last })
    }
}

/// Returns the first events whose bodies are not too long together, and one at least.
fn within(measured: &[(i64, i64)], bounds: EventBounds) -> &[(i64, i64)] {
    let mut all = 0;
    let fits = |(_, bytes): &&(i64, i64)| {
        all += if *bytes > bounds.body_bytes { 0 } else { *bytes };
        all <= bounds.all_bytes
    };
    let count = measured.iter().take_while(fits).count().max(1);
    measured.get(..count).unwrap_or_default()
}

/// Says how long the body of an event is, if it was left out.
fn bounded(event: StoredEvent, measured: &[(i64, i64)], bounds: EventBounds) -> BoundedEvent {
    let own = measured.iter().find(|(number, _)| *number == event.number);
    let left_out_bytes = own.map(|(_, bytes)| *bytes).filter(|bytes| *bytes > bounds.body_bytes);
    BoundedEvent { event, left_out_bytes }
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
