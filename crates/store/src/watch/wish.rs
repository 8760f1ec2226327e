//! What somebody asks of the watch: a chain that is to run, or the end of the one that does. Anybody may
//! ask; whoever leads finds it here.

use serde::Serialize;
use sqlx::AssertSqlSafe;

use super::text::Texts;
use crate::error::StoreError;
use crate::filter::{Order, Page};
use crate::ledger::Ledger;
use crate::rows::{Columns, names};
use crate::run::fresh;
use crate::writer::{Transaction, Write};

/// How many wishes may wait: more than a watch grants in a day.
pub const WISHES_WAITING: u32 = 100;

// The row is locked so that wishes are weighed one by one.
const LED: &str = "SELECT leased_until FROM leases WHERE name = 'watch' {LOCK}";
const WAITING: &str = "SELECT COUNT(*) FROM wishes WHERE chain IS NULL AND id <> $1";
const GOING_ON: &str = "SELECT COUNT(*) FROM chains WHERE state = 'open'";
const WISH: &str = "INSERT INTO wishes (id, cause, tier, request, asked_at) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
const GRANT: &str = "UPDATE wishes SET chain = $2 WHERE id = $1 AND chain IS NULL";
const BECAME: &str = "SELECT chain FROM wishes WHERE id = $1";
const STOP: &str = "INSERT INTO chain_stops (chain, asked_at) \
     SELECT id, $1 FROM chains WHERE state = 'open' ON CONFLICT DO NOTHING";
const IS_STOPPED: &str = "SELECT COUNT(*) FROM chain_stops WHERE chain = $1";

/// The chain of a wish that was taken back: none has this name. Its row stays, so that no number is given
/// twice.
pub(super) const TAKEN_BACK: &str = "";

/// A chain that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWish {
    /// Why: `api`, `alert`.
    pub cause: String,
    /// The tier that is to begin.
    pub tier: i64,
    /// What is asked, in their words.
    pub request: Option<String>,
    /// Whether it may wait.
    pub patience: Patience,
}

/// Whether a wish may wait for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It is refused while a chain goes on, another wish waits, or nobody leads.
    None,
    /// It is granted when what came before is over, by whoever leads then.
    Some,
}

/// What became of putting a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wished {
    /// It waits, on record.
    Waiting(Wish),
    /// Others come first, and it has no patience, or too many do.
    Busy,
    /// Nobody leads a watch, and it has no patience.
    Unwatched,
}

/// A chain that somebody wants, on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Wish {
    /// Its number: wishes are granted in its order.
    pub number: i64,
    /// Its name.
    pub id: String,
    /// Why.
    pub cause: String,
    /// The tier that is to begin.
    pub tier: i64,
    /// What is asked.
    pub request: Option<String>,
    /// When, in Unix milliseconds.
    pub at: i64,
    /// The chain that it became; absent while it waits.
    pub chain: Option<String>,
}

pub(super) const COLUMNS: &str = "seq, id, cause, tier, request, asked_at, chain";

pub(super) fn read(columns: &mut Columns<'_>) -> Result<Wish, StoreError> {
    Ok(Wish {
        number: columns.take()?,
        id: columns.take()?,
        cause: columns.take()?,
        tier: columns.take()?,
        request: columns.take()?,
        at: columns.take()?,
        chain: columns.take()?,
    })
}

impl Ledger {
    /// Puts a wish on record, where whoever leads finds it.
    pub async fn wish(&self, mut wish: NewWish) -> Result<Wished, StoreError> {
        names(&[("cause", &wish.cause)])?;
        let texts = Texts { redactor: &self.place.settings.redactor };
        wish.request = texts.maybe("request", wish.request.as_deref())?;
        self.write(0, Put { id: fresh(), wish }).await
    }

    /// Returns the wish that is granted next, if one waits.
    pub async fn next_wish(&self) -> Result<Option<Wish>, StoreError> {
        let page = Page { limit: 1, after: None, order: Order::OldestFirst };
        Ok(self.waiting_wishes(page).await?.into_iter().next())
    }

    /// Takes a wish back, unless it has become a chain; says whether it was taken back.
    pub async fn withdraw_wish(&self, id: &str) -> Result<bool, StoreError> {
        self.write(0, Withdraw { id: id.to_owned() }).await
    }

    /// Asks for the end of the chain that goes on; says whether one does.
    pub async fn stop_chain(&self) -> Result<bool, StoreError> {
        self.write(0, Stop).await
    }

    /// Says whether somebody wants a chain stopped.
    pub async fn is_stop_asked(&self, chain: &str) -> Result<bool, StoreError> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(IS_STOPPED)
            .bind(chain)
            .fetch_one(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        Ok(Columns::of(&row).take::<i64>()? > 0)
    }
}

/// Notes that a wish became a chain; refused if it was taken back, or has become another.
pub(super) async fn grant(
    to: &mut Transaction<'_>,
    id: &str,
    chain: &str,
) -> Result<(), StoreError> {
    let query = sqlx::query(GRANT).bind(id).bind(chain);
    let granted = query.execute(&mut *to.connection).await.map_err(to.fail())?;
    if granted.rows_affected() > 0 {
        return Ok(());
    }
    // Written before the connection broke, it is granted already.
    let row = sqlx::query(BECAME).bind(id).fetch_optional(&mut *to.connection);
    let row = row.await.map_err(to.fail())?;
    let became = row.map_or(Ok(None), |row| Columns::of(&row).take::<Option<String>>())?;
    if became.as_deref() == Some(chain) {
        return Ok(());
    }
    Err(StoreError::NotFound { what: "wish", name: id.to_owned() })
}

struct Put {
    id: String,
    wish: NewWish,
}

impl Put {
    /// Says what stands against it, if anything does.
    async fn refusal(&self, to: &mut Transaction<'_>) -> Result<Option<Wished>, StoreError> {
        let led = sqlx::query(AssertSqlSafe(to.place.dialect.locking(LED)));
        let led = led.fetch_optional(&mut *to.connection).await.map_err(to.fail())?;
        let leased_until = led.map_or(Ok(0), |row| Columns::of(&row).take::<i64>())?;
        if self.wish.patience == Patience::None && leased_until <= to.now_ms {
            return Ok(Some(Wished::Unwatched));
        }
        let waiting = sqlx::query(WAITING).bind(self.id.as_str());
        let waiting = waiting.fetch_one(&mut *to.connection).await.map_err(to.fail())?;
        let waiting: i64 = Columns::of(&waiting).take()?;
        let is_busy = match self.wish.patience {
            Patience::Some => waiting >= i64::from(WISHES_WAITING),
            Patience::None => {
                let open = sqlx::query(GOING_ON).fetch_one(&mut *to.connection);
                let open: i64 = Columns::of(&open.await.map_err(to.fail())?).take()?;
                waiting > 0 || open > 0
            }
        };
        Ok(is_busy.then_some(Wished::Busy))
    }

    async fn stored(&self, to: &mut Transaction<'_>) -> Result<Option<Wish>, StoreError> {
        let find = format!("SELECT {COLUMNS} FROM wishes WHERE id = $1");
        let found = sqlx::query(AssertSqlSafe(find)).bind(self.id.as_str());
        let found = found.fetch_optional(&mut *to.connection).await.map_err(to.fail())?;
        found.map(|row| read(&mut Columns::of(&row))).transpose()
    }
}

impl Write for Put {
    type Output = Wished;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Wished, StoreError> {
        // Written before the connection broke, it may have been granted since.
        if let Some(stored) = self.stored(to).await? {
            return Ok(Wished::Waiting(stored));
        }
        if let Some(refusal) = self.refusal(to).await? {
            return Ok(refusal);
        }
        sqlx::query(WISH)
            .bind(self.id.as_str())
            .bind(self.wish.cause.as_str())
            .bind(self.wish.tier)
            .bind(self.wish.request.clone())
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let stored = self.stored(to).await?;
        stored.map(Wished::Waiting).ok_or(StoreError::Damaged { what: "a wish" })
    }
}

struct Withdraw {
    id: String,
}

impl Write for Withdraw {
    /// Whether it was taken back.
    type Output = bool;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let withdraw = sqlx::query(GRANT).bind(self.id.as_str()).bind(TAKEN_BACK);
        let done = withdraw.execute(&mut *to.connection).await.map_err(to.fail())?;
        Ok(done.rows_affected() > 0)
    }
}

struct Stop;

impl Write for Stop {
    /// Whether a chain goes on.
    type Output = bool;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let stop = sqlx::query(STOP).bind(to.now_ms);
        stop.execute(&mut *to.connection).await.map_err(to.fail())?;
        let open = sqlx::query(GOING_ON).fetch_one(&mut *to.connection);
        Ok(Columns::of(&open.await.map_err(to.fail())?).take::<i64>()? > 0)
    }
}
