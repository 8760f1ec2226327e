//! The write that ends a run: all of it in one transaction, once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use sqlx::AssertSqlSafe;

use super::begin::LEAVE_OPEN_ATTEMPTS;
use super::draft;
use super::progress::{PackedEnd, PackedEvents, Timely};
use super::sheaf::Table;
use crate::clock::millis;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::queue::{Again, Claim, JobState};
use crate::rows::{self, Columns, Packer, names};
use crate::run::{Finish, Postponed, RunToken};
use crate::stats::{Latencies, Tally, TallyKey};
use crate::watch::PackedMinutes;
use crate::writer::{Transaction, Write};

const END: &str = "UPDATE runs SET state = 'done', outcome = $3, rung = $4, valid = $5, \
     review = $6, attempts = $7, early_cancels = $8, tokens_saved = $9, input_tokens = $10, \
     output_tokens = $11, cache_read_tokens = $12, cache_write_tokens = $13, \
     reasoning_tokens = $14, cost_nano = $15, ended_at = $16, expires_at = $16 + keep_ms, \
     elapsed_ms = COALESCE($17, $16 - started_at) \
     WHERE seq = $1 AND token = $2 AND state = 'open' \
     RETURNING provider, model, contract, contract_version, elapsed_ms";
const ENDED_BY: &str = "SELECT seq FROM runs WHERE seq = $1 AND token = $2 AND state = $3";
const STRAYS: &str = "SELECT COALESCE(MIN(number), 0), \
     COALESCE(MAX(CASE WHEN state = 'stray' AND number < 0 AND token = $2 THEN 1 ELSE 0 END), 0) \
     FROM attempts WHERE run = $1";
const INSERT_STRAY: &str = "INSERT INTO attempts (run, number, state, token, provider, model, \
     purpose, ending, rung, output, coded, input_tokens, output_tokens, cache_read_tokens, \
     cache_write_tokens, reasoning_tokens, cost_nano, started_at, ended_at) \
     SELECT seq, $2, 'stray', $3, provider, model, '', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
     $14, $14 FROM runs WHERE seq = $1 AND id = $15";
const POSTPONE: &str = "UPDATE runs SET state = 'postponed', owner = '' \
     WHERE seq = $1 AND token = $2 AND state = 'open'";
const CLAIMED: &str = "SELECT seq FROM jobs WHERE seq = $1 AND claim_token = $2 {LOCK}";
pub(crate) const DELETE_JOB: &str = "DELETE FROM jobs WHERE seq = $1";
pub(crate) const DELETE_PAYLOAD: &str = "DELETE FROM payloads WHERE job = $1";
const REQUEUE: &str = "UPDATE jobs SET state = $4, claim_token = NULL, \
     worker = NULL, leased_until = NULL, run_at = $2, claims = 0, \
     failures = failures + $5, error = $3 \
     WHERE seq = $1";

impl Ledger {
    /// Ends a run: its result, attempts, last events, review flag and tallies are stored together,
    /// and the job of the queue is done. Refused as [`StoreError::Fenced`] if another process has
    /// taken the run or the job over; what was said is then kept as a stray attempt.
    pub async fn finish(&self, token: &RunToken, finish: Finish) -> Result<(), StoreError> {
        let write = End::new(self, token, finish)?;
        self.write(token.seq, write).await?.stored()
    }

    /// Leaves a run to be tried again later, by whoever begins one with its key.
    pub async fn postpone(&self, token: &RunToken, postponed: Postponed) -> Result<(), StoreError> {
        let sieve = self.sieve(token);
        let error = Packer::new(sieve).error("error", Some(&postponed.error))?;
        let pack = |end| PackedEnd::new(sieve, end);
        let write = Postpone {
            token: token.clone(),
            again: postponed.again,
            error,
            ended: postponed.ended.into_iter().map(pack).collect::<Result<_, _>>()?,
            events: PackedEvents::new(sieve, token, postponed.events)?,
            claim: postponed.claim,
        };
        self.write(token.seq, write).await?.stored()
    }
}

struct End {
    token: RunToken,
    finish: Finish,
    valid: bool,
    cost_nano: Option<i64>,
    output: Option<String>,
    parsed: Option<String>,
    errors: Option<String>,
    edits: Option<String>,
    losses: Option<String>,
    unchecked: Option<String>,
    coded: String,
    ended: Vec<PackedEnd>,
    events: PackedEvents,
    minutes: Option<PackedMinutes>,
}

impl End {
    fn new(ledger: &Ledger, token: &RunToken, mut finish: Finish) -> Result<Self, StoreError> {
        let rung = finish.rung.as_deref().unwrap_or_default();
        names(&[("outcome", &finish.outcome), ("rung", rung)])?;
        let sieve = ledger.sieve(token);
        let ended = std::mem::take(&mut finish.ended);
        let events = std::mem::take(&mut finish.events);
        let minutes = finish.minutes.take();
        let minutes = minutes.map(|(lead, it)| PackedMinutes::new(ledger, lead, it)).transpose()?;
        let mut packer = Packer::new(sieve);
        Ok(Self {
            minutes,
            token: token.clone(),
            valid: finish.outcome == "met" && finish.parsed.is_some(),
            cost_nano: finish.cost.map(rows::nano),
            output: packer.bytes("output", finish.output.take().as_deref())?,
            parsed: packer.json("parsed", finish.parsed.take().as_deref())?,
            errors: packer.json("errors", finish.errors.take().as_deref())?,
            edits: packer.json("edits", finish.edits.take().as_deref())?,
            losses: packer.json("losses", finish.losses.take().as_deref())?,
            unchecked: packer.json("unchecked", finish.unchecked.take().as_deref())?,
            coded: packer.packed.coded(),
            ended: ended
                .into_iter()
                .map(|end| PackedEnd::new(sieve, end))
                .collect::<Result<_, _>>()?,
            events: PackedEvents::new(sieve, token, events)?,
            finish,
        })
    }

    /// Ends the row of the run, and counts it; `Late` if another has it, or it is over.
    async fn end_row(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let finish = &self.finish;
        let mut query = sqlx::query(END)
            .bind(self.token.seq)
            .bind(self.token.token.as_str())
            .bind(finish.outcome.as_str())
            .bind(finish.rung.clone())
            .bind(i64::from(self.valid))
            .bind(finish.review.name())
            .bind(finish.attempts)
            .bind(finish.early_cancels)
            .bind(finish.tokens_saved);
        for tokens in rows::usage(&finish.usage) {
            query = query.bind(tokens);
        }
        let row = query
            .bind(self.cost_nano)
            .bind(to.now_ms)
            .bind(finish.elapsed.map(millis))
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let Some(row) = row else { return Ok(Timely::Late) };
        let mut columns = Columns::of(&row);
        let key = TallyKey {
            time: to.now_ms.div_euclid(3_600_000),
            provider: columns.take()?,
            model: columns.take()?,
            contract: columns.take()?,
            contract_version: columns.take()?,
            outcome: finish.outcome.clone(),
            rung: finish.rung.clone().unwrap_or_default(),
        };
        to.tallies.add(key, &self.tally(), &Latencies::of(columns.take()?));
        Ok(Timely::Stored)
    }

    fn tally(&self) -> Tally {
        let tokens = |tokens: Option<u64>| i64::try_from(tokens.unwrap_or(0)).unwrap_or(i64::MAX);
        Tally {
            runs: 1,
            valid: i64::from(self.valid),
            attempts: self.finish.attempts,
            input_tokens: tokens(self.finish.usage.input_tokens),
            output_tokens: tokens(self.finish.usage.output_tokens),
            cost_nano: self.cost_nano.unwrap_or(0),
            unpriced: i64::from(self.cost_nano.is_none()),
            early_cancels: self.finish.early_cancels,
            tokens_saved: self.finish.tokens_saved,
        }
    }

    fn write_answer(&self, to: &mut Transaction<'_>) {
        let answer = vec![
            self.token.seq.into(),
            self.output.clone().into(),
            self.parsed.clone().into(),
            self.errors.clone().into(),
            self.edits.clone().into(),
            self.losses.clone().into(),
            self.unchecked.clone().into(),
            self.coded.as_str().into(),
        ];
        to.sheaf.add(Table::Answers, answer);
    }

    /// Keeps what came too late, without effect on the run. Its number is negative: those above 0
    /// are the other process's to give. Not with a run of another name: a server that ends before a beginning
    /// is on its disk gives the number again.
    async fn keep_stray(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        let fail = to.fail();
        for end in &self.ended {
            end.write(to, &self.token, Timely::Late).await?;
        }
        let row = sqlx::query(STRAYS)
            .bind(self.token.seq)
            .bind(self.token.token.as_str())
            .fetch_one(&mut *to.connection)
            .await
            .map_err(&fail)?;
        let mut columns = Columns::of(&row);
        let (least, kept): (i64, i64) = (columns.take()?, columns.take()?);
        if kept != 0 {
            return Ok(());
        }
        let mut query = sqlx::query(INSERT_STRAY)
            .bind(self.token.seq)
            .bind(least.min(0) - 1)
            .bind(self.token.token.as_str())
            .bind(self.finish.outcome.as_str())
            .bind(self.finish.rung.clone())
            .bind(self.output.clone())
            .bind(self.coded.as_str());
        for tokens in rows::usage(&self.finish.usage) {
            query = query.bind(tokens);
        }
        query
            .bind(self.cost_nano)
            .bind(to.now_ms)
            .bind(self.token.id().as_str())
            .execute(&mut *to.connection)
            .await
            .map_err(&fail)
            .map(drop)
    }
}

impl Write for End {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let mut timely = Timely::Stored;
        if let Some(claim) = &self.finish.claim {
            timely = claimed(to, claim).await?;
        }
        if let Some(minutes) = self.minutes.as_ref().filter(|_| timely == Timely::Stored) {
            timely = minutes.holds(to).await?;
        }
        if timely == Timely::Stored {
            timely = self.end_row(to).await?;
        }
        if timely == Timely::Late {
            timely = already(to, &self.token, "done").await?;
            if timely == Timely::Late {
                self.keep_stray(to).await?;
            }
            return Ok(timely);
        }
        self.write_answer(to);
        close_attempts(to, &self.token, &self.ended).await?;
        self.events.write(to, &self.token);
        draft::clear(to, &self.token).await?;
        if let Some(minutes) = &self.minutes {
            minutes.write(to).await?;
        }
        if let Some(claim) = &self.finish.claim {
            delete_job(to, claim.job).await?;
        }
        Ok(Timely::Stored)
    }
}

struct Postpone {
    token: RunToken,
    again: Again,
    error: Option<String>,
    ended: Vec<PackedEnd>,
    events: PackedEvents,
    claim: Option<Claim>,
}

impl Postpone {
    /// Keeps what was said to a process that has lost the run, without effect on the run.
    async fn late(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let timely = already(to, &self.token, "postponed").await?;
        if timely == Timely::Late {
            for end in &self.ended {
                end.write(to, &self.token, Timely::Late).await?;
            }
        }
        Ok(timely)
    }
}

impl Write for Postpone {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        if let Some(claim) = &self.claim
            && claimed(to, claim).await? == Timely::Late
        {
            return self.late(to).await;
        }
        let done = sqlx::query(POSTPONE)
            .bind(self.token.seq)
            .bind(self.token.token.as_str())
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        if done.rows_affected() == 0 {
            return self.late(to).await;
        }
        close_attempts(to, &self.token, &self.ended).await?;
        self.events.write(to, &self.token);
        draft::clear(to, &self.token).await?;
        if let Some(claim) = &self.claim {
            requeue(to, claim.job, self.again, self.error.clone()).await?;
        }
        Ok(Timely::Stored)
    }
}

/// Closes `ended`, and leaves others that are open as unknown.
async fn close_attempts(
    to: &mut Transaction<'_>,
    token: &RunToken,
    ended: &[PackedEnd],
) -> Result<(), StoreError> {
    for end in ended {
        end.write_later(to, token);
    }
    let open = usize::try_from(token.open.load(Ordering::Relaxed)).unwrap_or(0);
    if open <= ended.len() {
        return Ok(());
    }
    sqlx::query(LEAVE_OPEN_ATTEMPTS)
        .bind(token.seq)
        .bind(to.now_ms)
        .execute(&mut *to.connection)
        .await
        .map_err(to.fail())
        .map(drop)
}

/// Says whether the claim still holds, and keeps it so until the commit.
pub(crate) async fn claimed(to: &mut Transaction<'_>, claim: &Claim) -> Result<Timely, StoreError> {
    let row = sqlx::query(AssertSqlSafe(to.place.dialect.locking(CLAIMED)))
        .bind(claim.job)
        .bind(claim.token.as_str())
        .fetch_optional(&mut *to.connection)
        .await
        .map_err(to.fail())?;
    Ok(if row.is_some() { Timely::Stored } else { Timely::Late })
}

/// Says whether `token` has brought its run into `state` already: written before a connection broke,
/// and asked for again.
async fn already(
    to: &mut Transaction<'_>,
    token: &RunToken,
    state: &str,
) -> Result<Timely, StoreError> {
    let row = sqlx::query(ENDED_BY)
        .bind(token.seq)
        .bind(token.token.as_str())
        .bind(state)
        .fetch_optional(&mut *to.connection)
        .await
        .map_err(to.fail())?;
    Ok(if row.is_some() { Timely::Stored } else { Timely::Late })
}

pub(crate) async fn delete_job(to: &mut Transaction<'_>, job: i64) -> Result<(), StoreError> {
    for statement in [DELETE_JOB, DELETE_PAYLOAD] {
        let query = sqlx::query(statement).bind(job);
        query.execute(&mut *to.connection).await.map_err(to.fail())?;
    }
    Ok(())
}

pub(crate) async fn requeue(
    to: &mut Transaction<'_>,
    job: i64,
    again: Again,
    error: Option<String>,
) -> Result<(), StoreError> {
    let (pause, state, failures) = match again {
        Again::After(pause) => (pause, JobState::Ready, 1_i64),
        Again::Elsewhere(pause) => (pause, JobState::Ready, 0),
        Again::WhenAsked => (Duration::ZERO, JobState::Quarantined, 1),
    };
    sqlx::query(REQUEUE)
        .bind(job)
        .bind(to.now_ms.saturating_add(millis(pause)))
        .bind(error)
        .bind(state.name())
        .bind(failures)
        .execute(&mut *to.connection)
        .await
        .map_err(to.fail())
        .map(drop)
}
