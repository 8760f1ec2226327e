//! Whether the processes at open runs still live.

use std::collections::HashMap;

use sqlx::AnyConnection;

use crate::error::StoreError;
use crate::ledger::Ledger;
use crate::owner::{Life, SILENCE_MS};
use crate::rows::Columns;
use crate::run::{RunState, RunSummary};

const OWNERS: &str = "SELECT id, seen_at FROM owners";

/// Which processes live, each asked after once.
#[derive(Default)]
pub(crate) struct Lives {
    known: HashMap<String, bool>,
    elsewhere: Option<HashMap<String, i64>>,
}

impl Lives {
    /// Says so if the process at `run` is gone.
    pub(crate) async fn tell(
        &mut self,
        ledger: &Ledger,
        reader: &mut AnyConnection,
        run: &mut RunSummary,
        owner: &str,
    ) -> Result<(), StoreError> {
        if run.state != RunState::Open {
            return Ok(());
        }
        let lives = match self.known.get(owner) {
            Some(lives) => *lives,
            None => match ledger.place.owner.life_of(owner) {
                Life::Alive => true,
                Life::Dead => false,
                Life::Elsewhere => self.heard(ledger, reader, run.started_at, owner).await?,
            },
        };
        self.known.insert(owner.to_owned(), lives);
        if !lives {
            run.state = RunState::Unknown;
        }
        Ok(())
    }

    async fn heard(
        &mut self,
        ledger: &Ledger,
        reader: &mut AnyConnection,
        since_ms: i64,
        owner: &str,
    ) -> Result<bool, StoreError> {
        if self.elsewhere.is_none() {
            let rows = sqlx::query(OWNERS)
                .fetch_all(&mut *reader)
                .await
                .map_err(|error| StoreError::of(ledger.place.dialect, error))?;
            let pair = |row| {
                let mut columns = Columns::of(row);
                Ok((columns.take()?, columns.take()?))
            };
            self.elsewhere = Some(rows.iter().map(pair).collect::<Result<_, StoreError>>()?);
        }
        let seen = self.elsewhere.as_ref().and_then(|owners| owners.get(owner).copied());
        Ok(ledger.now_ms() - seen.unwrap_or(since_ms).max(since_ms) < SILENCE_MS)
    }
}
