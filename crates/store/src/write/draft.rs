//! What a model is saying, before it has said it: for whoever looks at a run that goes on. Once the run is
//! over, what was said is in its attempts, and there is no draft.

use std::sync::atomic::Ordering;

use super::progress::{Timely, holds};
use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::retention::Level;
use crate::rows::Columns;
use crate::run::{RunId, RunToken};
use crate::writer::{Transaction, Write};

/// The most that is kept of a draft: more than anybody reads while it grows.
pub const DRAFT_LIMIT_BYTES: usize = 64 * 1024;

const SET: &str = "INSERT INTO drafts (run, body, told_at) VALUES ($1, $2, $3) \
     ON CONFLICT (run) DO UPDATE SET body = excluded.body, told_at = excluded.told_at";
const CLEAR: &str = "DELETE FROM drafts WHERE run = $1";
const GET: &str = "SELECT body FROM drafts JOIN runs ON runs.seq = drafts.run \
     WHERE runs.id = $1 AND runs.state = 'open'";

impl Ledger {
    /// Keeps what was said so far, if everything that is said may be kept: the half of a secret that would
    /// be masked cannot be told from other text.
    pub async fn draft(&self, token: &RunToken, said: &str) -> Result<(), StoreError> {
        if token.level != Level::Full {
            return Ok(());
        }
        let body = said.get(..said.floor_char_boundary(DRAFT_LIMIT_BYTES)).unwrap_or_default();
        token.drafted.store(true, Ordering::Relaxed);
        let draft = Draft { token: token.clone(), body: body.replace('\0', "\u{fffd}") };
        self.write(token.seq, draft).await?.stored()
    }

    /// Returns what the model of a run that goes on has said so far, if that is known.
    pub async fn draft_of(&self, run: &RunId) -> Result<Option<String>, StoreError> {
        let mut reader = self.reader().await?;
        let row = sqlx::query(GET)
            .bind(run.as_str())
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        row.map(|row| Columns::of(&row).take()).transpose()
    }
}

/// Forgets the draft of a run that is over.
pub(super) async fn clear(to: &mut Transaction<'_>, token: &RunToken) -> Result<(), StoreError> {
    if !token.drafted.load(Ordering::Relaxed) {
        return Ok(());
    }
    let query = sqlx::query(CLEAR).bind(token.seq);
    query.execute(&mut *to.connection).await.map_err(to.fail()).map(drop)
}

struct Draft {
    token: RunToken,
    body: String,
}

impl Write for Draft {
    type Output = Timely;

    async fn apply(&self, to: &mut Transaction<'_>) -> Result<Timely, StoreError> {
        if !holds(to, &self.token).await? {
            return Ok(Timely::Late);
        }
        let query = sqlx::query(SET).bind(self.token.seq).bind(self.body.as_str()).bind(to.now_ms);
        query.execute(&mut *to.connection).await.map_err(to.fail())?;
        Ok(Timely::Stored)
    }
}
