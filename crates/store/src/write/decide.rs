//! The write that records what a person decided about a run.

use sqlx::AssertSqlSafe;

use super::begin::whole;
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::retention::Level;
use crate::review::NewDecision;
use crate::rows::{Packer, names};
use crate::run::{Review, Run, RunState, fresh};
use crate::writer::{Transaction, Write};

const LOCK: &str = "SELECT seq FROM runs WHERE seq = $1 {LOCK}";
const INSERT: &str = "INSERT INTO decisions \
     (run, token, review, who, note, value_before, value_after, coded, told_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
const ACCEPT: &str =
    "UPDATE runs SET review = 'accepted', rung = 'human', valid = 1 WHERE seq = $1";
const REJECT: &str = "UPDATE runs SET review = 'rejected', valid = 0 WHERE seq = $1";
const REPLACE: &str = "UPDATE answers SET parsed = $2, coded = $3 WHERE run = $1";

impl Ledger {
    /// Records what `who` decided about the run `name`, and returns the run as it is now. An accepted
    /// value must have been judged against the contract; it becomes the parsed output, on the rung
    /// `human`, and the value until then is kept. What the model said never changes, nor do the
    /// statistics of its provider.
    pub async fn decide(
        &self,
        name: &str,
        decision: NewDecision,
        who: &str,
        note: Option<&str>,
    ) -> Result<Run, StoreError> {
        names(&[("who", who)])?;
        let run = self.run(name).await?;
        if run.summary.state != RunState::Done {
            return Err(StoreError::NotOver { id: run.summary.id.to_string() });
        }
        let write = Decide {
            seq: run.summary.number,
            token: fresh(),
            decision,
            who: who.to_owned(),
            note: note.map(str::to_owned),
            level: run.summary.store,
        };
        self.write(run.summary.number, write).await
    }
}

struct Decide {
    seq: i64,
    token: String,
    decision: NewDecision,
    who: String,
    note: Option<String>,
    level: Level,
}

impl Decide {
    async fn record(&self, to: &mut Transaction<'_>, before: &Run) -> Result<bool, StoreError> {
        let (review, value) = match &self.decision {
            NewDecision::Accept { value } => (Review::Accepted, Some(value.as_str())),
            NewDecision::Reject => (Review::Rejected, None),
        };
        let mut packer = Packer::new(to.sieve(self.level));
        let note = packer.error("note", self.note.as_deref())?;
        let old = packer.json("before", before.parsed_output.as_deref())?;
        let new = packer.json("after", value)?;
        let coded = packer.packed.coded();
        let done = sqlx::query(INSERT)
            .bind(self.seq)
            .bind(self.token.as_str())
            .bind(review.name())
            .bind(self.who.as_str())
            .bind(note)
            .bind(old)
            .bind(new)
            .bind(coded)
            .bind(to.now_ms)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        Ok(done.rows_affected() > 0)
    }

    /// Puts the accepted value where the parsed output is, and leaves the other texts as they are.
    async fn replace(
        &self,
        to: &mut Transaction<'_>,
        before: &Run,
        value: &str,
    ) -> Result<(), StoreError> {
        let mut packer = Packer::new(to.sieve(self.level));
        let parsed = packer.json("parsed", Some(value))?;
        if parsed.as_deref() != Some(value) {
            let id = before.summary.id.to_string();
            return Err(StoreError::Unkept { id, level: self.level.name() });
        }
        // Which columns are in base64 is a matter of the row: name the others again.
        let full = to.sieve(Level::Full);
        let mut others = Packer { sieve: full, packed: packer.packed };
        others.bytes("output", before.output.as_deref())?;
        others.json("errors", before.output_errors.as_deref())?;
        others.json("edits", before.edits.as_deref())?;
        others.json("losses", before.losses.as_deref())?;
        others.json("unchecked", before.unchecked.as_deref())?;
        let coded = others.packed.coded();
        sqlx::query(REPLACE)
            .bind(self.seq)
            .bind(parsed)
            .bind(coded)
            .execute(&mut *to.connection)
            .await
            .map_err(to.fail())
            .map(drop)
    }
}

impl Write for Decide {
    type Output = Run;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Run, StoreError> {
        to.settle().await?;
        sqlx::query(AssertSqlSafe(to.place.dialect.locking(LOCK)))
            .bind(self.seq)
            .fetch_optional(&mut *to.connection)
            .await
            .map_err(to.fail())?;
        let before = whole(to, self.seq).await?;
        if self.record(to, &before).await? {
            let statement = match &self.decision {
                NewDecision::Accept { value } => {
                    self.replace(to, &before, value).await?;
                    ACCEPT
                }
                NewDecision::Reject => REJECT,
            };
            let query = sqlx::query(statement).bind(self.seq);
            query.execute(&mut *to.connection).await.map_err(to.fail())?;
        }
        whole(to, self.seq).await
    }
}
