//! Whole runs, one after the other, in constant memory.

use futures_util::{Stream, stream};

use super::conditions::Conditions;
use super::lives::Lives;
use crate::error::StoreError;
use crate::filter::{Filter, Order, Page};
use crate::ledger::Ledger;
use crate::rows::{Columns, SUMMARY, TEXTS, WHOLE};
use crate::run::Run;

/// How many runs are in memory at once: their texts may be long.
const AT_ONCE: u32 = 16;

/// Where an export stands.
struct Cursor {
    ledger: Ledger,
    filter: Filter,
    after: Option<i64>,
    ready: std::vec::IntoIter<Run>,
    over: bool,
}

impl Ledger {
    /// Returns the runs that `filter` means with their texts, the oldest first. No connection is
    /// held between two of them, so whoever takes them may be slow.
    pub fn export(
        &self,
        filter: &Filter,
    ) -> impl Stream<Item = Result<Run, StoreError>> + Send + use<> {
        let cursor = Cursor {
            ledger: self.clone(),
            filter: filter.clone(),
            after: None,
            ready: Vec::new().into_iter(),
            over: false,
        };
        stream::try_unfold(cursor, |mut cursor| async move {
            loop {
                if let Some(run) = cursor.ready.next() {
                    return Ok(Some((run, cursor)));
                }
                if cursor.over {
                    return Ok(None);
                }
                cursor.refill().await?;
            }
        })
    }
}

impl Cursor {
    async fn refill(&mut self) -> Result<(), StoreError> {
        let mut reader = self.ledger.reader().await?;
        let mut conditions = Conditions::of(&self.filter);
        let page = Page { limit: AT_ONCE, after: self.after, order: Order::OldestFirst };
        let order = conditions.page(page);
        let clause = conditions.clause();
        let sql = format!("SELECT {SUMMARY}, {TEXTS} FROM {WHOLE} {clause} {order}");
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.ledger.place.dialect, error))?;
        self.over = u32::try_from(rows.len()).is_ok_and(|rows| rows < AT_ONCE);
        let mut lives = Lives::default();
        let mut runs = Vec::with_capacity(rows.len());
        for row in &rows {
            let (mut run, owner) = Columns::of(row).run()?;
            lives.tell(&self.ledger, &mut reader, &mut run.summary, &owner).await?;
            self.after = Some(run.summary.number);
            if self.filter.state.is_none_or(|state| state == run.summary.state) {
                runs.push(run);
            }
        }
        self.ready = runs.into_iter();
        Ok(())
    }
}
