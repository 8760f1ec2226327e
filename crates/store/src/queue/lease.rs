//! One leader at a time, and a number that says which.

use std::time::Duration;

use crate::clock::millis;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::owner::Life;
use crate::rows::{Columns, names};
use crate::writer::{Transaction, Write};

const ACQUIRE: &str = "INSERT INTO leases (name, owner, fence, leased_until) \
     VALUES ($1, $2, 1, $3) ON CONFLICT (name) DO UPDATE SET \
     fence = CASE WHEN leases.owner = $2 THEN leases.fence ELSE leases.fence + 1 END, \
     owner = $2, leased_until = $3 WHERE leases.owner = $2 OR leases.leased_until < $4 \
     RETURNING fence";
const OWNER: &str = "SELECT owner FROM leases WHERE name = $1";
const SUCCEED: &str = "UPDATE leases SET owner = $2, fence = fence + 1, leased_until = $3 \
     WHERE name = $1 AND owner = $4 RETURNING fence";
const RELINQUISH: &str = "UPDATE leases SET leased_until = 0 WHERE name = $1 AND owner = $2";

/// The lead, for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Grows with every new leader: whoever sees a greater one has been replaced.
    pub fence: i64,
}

impl Ledger {
    /// Takes or renews the lead in `name` for as long as `ttl`; `None` if another process has it. One
    /// of this machine that is gone has nothing.
    pub async fn lease(&self, name: &str, ttl: Duration) -> Result<Option<Lease>, StoreError> {
        names(&[("the name of a lease", name)])?;
        self.write_any(Acquire { name: name.to_owned(), ttl_ms: millis(ttl) }).await
    }

    /// Gives the lead in `name` up, if this process has it.
    pub async fn unlease(&self, name: &str) -> Result<(), StoreError> {
        names(&[("the name of a lease", name)])?;
        self.write_any(Relinquish(name.to_owned())).await
    }
}

struct Acquire {
    name: String,
    ttl_ms: i64,
}

impl Write for Acquire {
    type Output = Option<Lease>;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Option<Lease>, StoreError> {
        let row = sqlx::query(ACQUIRE)
            .bind(self.name.as_str())
            .bind(to.place.owner.to_string())
            .bind(to.now_ms.saturating_add(self.ttl_ms))
            .bind(to.now_ms)
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        match row {
            Some(row) => Ok(Some(Lease { fence: Columns::of(&row).take()? })),
            None => self.succeed(to).await,
        }
    }
}

impl Acquire {
    /// Takes the lead from a process that is known to be gone, without waiting for its lease to end.
    async fn succeed(&self, to: &mut Transaction<'_>) -> Result<Option<Lease>, StoreError> {
        let fail = to.fail();
        let row = sqlx::query(OWNER)
            .bind(self.name.as_str())
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(&fail)?;
        let owner: Option<String> = row.map(|row| Columns::of(&row).take()).transpose()?;
        let is_dead = |owner: &String| to.place.owner.life_of(owner) == Life::Dead;
        let Some(dead) = owner.filter(is_dead) else { return Ok(None) };
        let row = sqlx::query(SUCCEED)
            .bind(self.name.as_str())
            .bind(to.place.owner.to_string())
            .bind(to.now_ms.saturating_add(self.ttl_ms))
            .bind(dead)
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(&fail)?;
        row.map(|row| Ok(Lease { fence: Columns::of(&row).take()? })).transpose()
    }
}

struct Relinquish(String);

impl Write for Relinquish {
    type Output = ();

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<(), StoreError> {
        sqlx::query(RELINQUISH)
            .bind(self.0.as_str())
            .bind(to.place.owner.to_string())
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())
            .map(drop)
    }
}
