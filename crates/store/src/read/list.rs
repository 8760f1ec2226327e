//! Lists of runs, and single ones.

use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use super::conditions::Conditions;
use super::lives::Lives;
use crate::error::StoreError;
use crate::filter::{Filter, PAGE_LIMIT, Page};
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::review::Decision;
use crate::rows::{Columns, SUMMARY, TEXTS, WHOLE, text};
use crate::run::{Review, Run, RunId, RunSummary};

const DECISIONS: &str = "SELECT decisions.review, who, told_at, note, value_before, value_after, \
     coded FROM decisions JOIN runs ON runs.seq = decisions.run WHERE runs.id = $1 \
     ORDER BY told_at, decisions.token";

impl Ledger {
    /// Returns a page of the runs that `filter` means. The next page goes on after the number of
    /// the last run. Its cost does not depend on how far it is from the beginning.
    pub async fn runs(&self, filter: &Filter, page: Page) -> Result<Vec<RunSummary>, StoreError> {
        let mut reader = self.reader().await?;
        let mut runs = Vec::new();
        let mut page = Page { limit: page.limit.min(PAGE_LIMIT), ..page };
        let wanted = usize::try_from(page.limit).unwrap_or(usize::MAX);
        loop {
            let (found, last) = self.page(&mut reader, filter, page).await?;
            let full = u32::try_from(found.len()).is_ok_and(|rows| rows >= page.limit);
            // Whether a process lives is not for SQL to know, so some of a page may fall away.
            let fits = |run: &RunSummary| filter.state.is_none_or(|state| state == run.state);
            runs.extend(found.into_iter().filter(fits));
            if !full || runs.len() >= wanted {
                runs.truncate(wanted);
                return Ok(runs);
            }
            page.after = last;
        }
    }

    async fn page(
        &self,
        reader: &mut AnyConnection,
        filter: &Filter,
        page: Page,
    ) -> Result<(Vec<RunSummary>, Option<i64>), StoreError> {
        let mut conditions = Conditions::of(filter);
        let order = conditions.page(page);
        let clause = conditions.clause();
        let sql = format!("SELECT {SUMMARY} FROM runs {clause} {order}");
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let runs = self.summaries(reader, &rows).await?;
        let last = runs.last().map(|run| run.number);
        Ok((runs, last))
    }

    /// Reads rows of runs, and finds out whose processes are gone.
    pub(super) async fn summaries(
        &self,
        reader: &mut AnyConnection,
        rows: &[AnyRow],
    ) -> Result<Vec<RunSummary>, StoreError> {
        let mut lives = Lives::default();
        let mut runs = Vec::with_capacity(rows.len());
        for row in rows {
            let (mut run, owner) = Columns::of(row).summary()?;
            lives.tell(self, reader, &mut run, &owner).await?;
            runs.push(run);
        }
        Ok(runs)
    }

    /// Returns a run by its name, by the beginning of its name, or by its number.
    pub async fn run(&self, name: &str) -> Result<Run, StoreError> {
        let mut reader = self.reader().await?;
        let what = format!("{SUMMARY}, {TEXTS} FROM {WHOLE}");
        let rows = self.named_run(&mut reader, name, &what).await?;
        let row = rows.first().ok_or_else(|| no_run(name))?;
        let (mut run, owner) = Columns::of(row).run()?;
        certain(rows.len(), &run.summary, name)?;
        Lives::default().tell(self, &mut reader, &mut run.summary, &owner).await?;
        Ok(run)
    }

    /// Returns a run without its texts, which may be long.
    pub async fn summary(&self, name: &str) -> Result<RunSummary, StoreError> {
        let mut reader = self.reader().await?;
        let rows = self.named_run(&mut reader, name, &format!("{SUMMARY} FROM runs")).await?;
        let row = rows.first().ok_or_else(|| no_run(name))?;
        let (mut run, owner) = Columns::of(row).summary()?;
        certain(rows.len(), &run, name)?;
        Lives::default().tell(self, &mut reader, &mut run, &owner).await?;
        Ok(run)
    }

    async fn named_run(
        &self,
        reader: &mut AnyConnection,
        name: &str,
        what: &str,
    ) -> Result<Vec<AnyRow>, StoreError> {
        if name.is_empty() || name.contains('\0') {
            return Ok(Vec::new());
        }
        let mut conditions = Conditions::default();
        // Names are UUIDs of version 7 and begin with 0 until the year 6429.
        match name.parse::<i64>() {
            Ok(number) if !name.starts_with('0') => conditions.number("seq =", Some(number)),
            _ => conditions.prefix("id", name),
        }
        let clause = conditions.clause();
        let sql = format!("SELECT {what} {clause} ORDER BY id LIMIT 2");
        let rows = conditions.query(sql).fetch_all(reader).await;
        rows.map_err(|error| StoreError::of(self.place.dialect, error))
    }

    /// Returns what people decided about a run, in order.
    pub async fn decisions(&self, id: &RunId) -> Result<Vec<Decision>, StoreError> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(DECISIONS)
            .bind(id.as_str())
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        (1i64..).zip(&rows).map(|(number, row)| decision(number, &mut Columns::of(row))).collect()
    }
}

fn no_run(name: &str) -> StoreError {
    StoreError::NotFound { what: "run", name: name.to_owned() }
}

/// Refuses a name that is the beginning of several; a whole one comes first.
fn certain(found: usize, first: &RunSummary, name: &str) -> Result<(), StoreError> {
    if found > 1 && first.id.as_str() != name {
        return Err(StoreError::Ambiguous { prefix: name.to_owned(), matches: 2 });
    }
    Ok(())
}

fn decision(number: i64, columns: &mut Columns<'_>) -> Result<Decision, StoreError> {
    let review = Review::named(&columns.take::<String>()?);
    let (who, at) = (columns.take()?, columns.take()?);
    let [note, before, after] = [columns.take()?, columns.take()?, columns.take()?];
    let coded: String = columns.take()?;
    Ok(Decision {
        number,
        review,
        who,
        at,
        note: unpack("note", note, &coded)?.map(text).transpose()?,
        before: unpack("before", before, &coded)?.map(text).transpose()?,
        after: unpack("after", after, &coded)?.map(text).transpose()?,
    })
}
