//! The writes of what happens during a run: attempts and events.

use std::sync::atomic::Ordering;

use airtight_core::codec::Usage;
use sqlx::AssertSqlSafe;

use super::script::Script;
use super::sheaf::{Cell, Row, Table};
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::retention::Sieve;
use crate::rows::{self, Packer, names};
use crate::run::{AttemptEnd, NewAttempt, NewEvent, RunToken};
use crate::writer::{Transaction, Write};

const HELD: &str = "SELECT seq FROM runs WHERE seq = $1 AND token = $2 AND state = 'open' {LOCK}";
pub(super) const CLOSE_ATTEMPT: &str = "UPDATE attempts SET state = $4, ending = $5, rung = $6, output = $7, \
     violations = $8, error = $9, coded = $10, input_tokens = $11, output_tokens = $12, \
     cache_read_tokens = $13, cache_write_tokens = $14, reasoning_tokens = $15, cost_nano = $16, \
     ended_at = $17 WHERE run = $1 AND number = $2 AND token = $3 AND state IN ('open', 'unknown')";
/// Not in the sheaf: whoever stops waiting for it may end the run in the same transaction, and that closes
/// what is open.
const INSERT_ATTEMPT: &str = "INSERT INTO attempts \
     (run, number, state, token, provider, model, purpose, coded, started_at) \
     VALUES ($1, $2, 'open', $3, $4, $5, $6, '', $7) ON CONFLICT DO NOTHING";

impl Ledger {
    /// Opens an attempt and returns its number. Once this returns, the request may leave.
    pub async fn open_attempt(
        &self,
        token: &RunToken,
        attempt: NewAttempt,
    ) -> Result<i64, StoreError> {
        names(&[
            ("provider", &attempt.provider),
            ("model", &attempt.model),
            ("purpose", &attempt.purpose),
        ])?;
        let number = token.next_attempt();
        // Counted before: whoever stops waiting here leaves one that may be open.
        token.open.fetch_add(1, Ordering::Relaxed);
        let write = OpenAttempt { token: token.clone(), number, attempt };
        self.write(token.seq, write).await?.stored()?;
        Ok(number)
    }

    /// Closes an attempt.
    pub async fn close_attempt(&self, token: &RunToken, end: AttemptEnd) -> Result<(), StoreError> {
        let end = PackedEnd::new(self.sieve(token), end)?;
        let write = CloseAttempt { token: token.clone(), end };
        self.write(token.seq, write).await?.stored()?;
        token.open.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    /// Appends events to the stream of a run.
    pub async fn append(&self, token: &RunToken, events: Vec<NewEvent>) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let events = PackedEvents::new(self.sieve(token), token, events)?;
        let write = Append { token: token.clone(), events };
        self.write(token.seq, write).await?.stored()
    }

    pub(crate) fn sieve(&self, token: &RunToken) -> Sieve<'_> {
        Sieve { level: token.level, redactor: &self.place.settings.redactor }
    }
}

/// Whether a write was in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timely {
    Stored,
    /// Another process has the run.
    Late,
}

impl Timely {
    pub(crate) fn stored(self) -> Result<(), StoreError> {
        match self {
            Self::Stored => Ok(()),
            Self::Late => Err(StoreError::Fenced),
        }
    }
}

/// Claims that `token` still holds its run, and keeps it so until the commit.
pub(super) async fn holds(to: &mut Transaction<'_>, token: &RunToken) -> Result<bool, StoreError> {
    let row = sqlx::query(AssertSqlSafe(to.place.dialect.locking(HELD)))
        .bind(token.seq)
        .bind(token.token.as_str())
        .fetch_optional(&mut *to.connection)
        .await
        .map_err(to.fail())?;
    Ok(row.is_some())
}

struct OpenAttempt {
    token: RunToken,
    number: i64,
    attempt: NewAttempt,
}

impl Write for OpenAttempt {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        if !holds(to, &self.token).await? {
            return Ok(Timely::Late);
        }
        sqlx::query(INSERT_ATTEMPT)
            .bind(self.token.seq)
            .bind(self.number)
            .bind(self.token.token.as_str())
            .bind(self.attempt.provider.as_str())
            .bind(self.attempt.model.as_str())
            .bind(self.attempt.purpose.as_str())
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        Ok(Timely::Stored)
    }
}

/// The end of an attempt, as its columns hold it.
pub(crate) struct PackedEnd {
    number: i64,
    ending: String,
    rung: Option<String>,
    output: Option<String>,
    violations: Option<String>,
    error: Option<String>,
    coded: String,
    usage: Usage,
    cost_nano: Option<i64>,
}

impl PackedEnd {
    pub(crate) fn new(sieve: Sieve<'_>, end: AttemptEnd) -> Result<Self, StoreError> {
        names(&[("ending", &end.ending), ("rung", end.rung.as_deref().unwrap_or_default())])?;
        let mut packer = Packer::new(sieve);
        Ok(Self {
            number: end.number,
            output: packer.bytes("output", end.output.as_deref())?,
            violations: packer.json("violations", end.violations.as_deref())?,
            error: packer.error("error", end.error.as_deref())?,
            coded: packer.packed.coded(),
            ending: end.ending,
            rung: end.rung,
            usage: end.usage,
            cost_nano: end.cost.map(rows::nano),
        })
    }

    /// Closes the attempt, as one that counts or as a stray.
    pub(crate) async fn write(
        &self,
        to: &mut Transaction<'_>,
        token: &RunToken,
        timely: Timely,
    ) -> Result<(), StoreError> {
        let state = match timely {
            Timely::Stored => "closed",
            Timely::Late => "stray",
        };
        let mut script = Script::default();
        script.add(CLOSE_ATTEMPT, self.row(to, token, state));
        script.run(to).await.map(drop)
    }

    /// Does the same with the end of the transaction, for an attempt that counts.
    pub(super) fn write_later(&self, to: &mut Transaction<'_>, token: &RunToken) {
        let row = self.row(to, token, "closed");
        to.sheaf.close(row);
    }

    fn row(&self, to: &Transaction<'_>, token: &RunToken, state: &str) -> Row {
        let mut row: Row = vec![
            token.seq.into(),
            self.number.into(),
            token.token.as_str().into(),
            state.into(),
            self.ending.as_str().into(),
            self.rung.clone().into(),
            self.output.clone().into(),
            self.violations.clone().into(),
            self.error.clone().into(),
            self.coded.as_str().into(),
        ];
        row.extend(rows::usage(&self.usage).map(Cell::from));
        row.extend([self.cost_nano.into(), to.now_ms.into()]);
        row
    }
}

struct CloseAttempt {
    token: RunToken,
    end: PackedEnd,
}

impl Write for CloseAttempt {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        let timely = if holds(to, &self.token).await? { Timely::Stored } else { Timely::Late };
        self.end.write(to, &self.token, timely).await?;
        Ok(timely)
    }
}

/// Events with their numbers, as their columns hold them.
pub(crate) struct PackedEvents {
    first: i64,
    rows: Vec<(String, Option<String>, String)>,
}

impl PackedEvents {
    pub(crate) fn new(
        sieve: Sieve<'_>,
        token: &RunToken,
        events: Vec<NewEvent>,
    ) -> Result<Self, StoreError> {
        let pack = |event: NewEvent| {
            names(&[("the kind of an event", &event.kind)])?;
            let mut packer = Packer::new(sieve);
            let body = packer.json("body", Some(&event.body))?;
            Ok((event.kind, body, packer.packed.coded()))
        };
        let rows: Vec<_> = events.into_iter().map(pack).collect::<Result<_, StoreError>>()?;
        Ok(Self { first: token.next_events(rows.len()), rows })
    }

    pub(crate) fn write(&self, to: &mut Transaction<'_>, token: &RunToken) {
        for (number, (kind, body, coded)) in (self.first..).zip(&self.rows) {
            let row = vec![
                token.seq.into(),
                number.into(),
                to.now_ms.into(),
                kind.as_str().into(),
                body.clone().into(),
                coded.as_str().into(),
            ];
            to.sheaf.add(Table::Events, row);
        }
    }
}

struct Append {
    token: RunToken,
    events: PackedEvents,
}

impl Write for Append {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        if !holds(to, &self.token).await? {
            return Ok(Timely::Late);
        }
        self.events.write(to, &self.token);
        Ok(Timely::Stored)
    }
}
