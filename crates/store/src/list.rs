//! Lists of runs, and single ones.

use std::collections::HashMap;

use sqlx::any::{Any, AnyArguments};
use sqlx::query::Query;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::error::StoreError;
use crate::filter::{Filter, Order, PAGE_LIMIT, Page, Validity};
use crate::form::unpack;
use crate::ledger::Ledger;
use crate::owner::{Life, SILENCE_MS};
use crate::review::Decision;
use crate::rows::{Columns, SUMMARY, TEXTS, WHOLE, text};
use crate::run::{ContractRow, Review, Run, RunId, RunState, RunSummary};

const OWNERS: &str = "SELECT id, seen_at FROM owners";
const CONTRACT: &str = "SELECT fingerprint, name, version, schema, coded FROM contracts \
     WHERE name = $1 OR (fingerprint >= $1 AND fingerprint < $2) ORDER BY first_seen_at DESC LIMIT 1";
const DECISIONS: &str = "SELECT decisions.review, who, told_at, note, value_before, value_after, \
     coded FROM decisions JOIN runs ON runs.seq = decisions.run WHERE runs.id = $1 \
     ORDER BY told_at, decisions.token";

/// Comes after every character in names.
const LAST: char = '\u{10ffff}';

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
        let mut lives = Lives::default();
        let mut runs = Vec::with_capacity(rows.len());
        for row in &rows {
            let (mut run, owner) = Columns::of(row).summary()?;
            lives.tell(self, reader, &mut run, &owner).await?;
            runs.push(run);
        }
        let last = runs.last().map(|run| run.number);
        Ok((runs, last))
    }

    /// Returns a run by its name, by the beginning of its name, or by its number.
    pub async fn run(&self, name: &str) -> Result<Run, StoreError> {
        let absent = || StoreError::NotFound { what: "run", name: name.to_owned() };
        if name.is_empty() || name.contains('\0') {
            return Err(absent());
        }
        let mut reader = self.reader().await?;
        let mut conditions = Conditions::default();
        // Names are UUIDs of version 7 and begin with 0 until the year 6429.
        match name.parse::<i64>() {
            Ok(number) if !name.starts_with('0') => conditions.number("seq =", Some(number)),
            _ => conditions.prefix("id", name),
        }
        let clause = conditions.clause();
        let sql = format!("SELECT {SUMMARY}, {TEXTS} FROM {WHOLE} {clause} ORDER BY id LIMIT 2");
        let rows = conditions
            .query(sql)
            .fetch_all(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?;
        let (mut run, owner) = Columns::of(rows.first().ok_or_else(absent)?).run()?;
        // A whole name may be the beginning of another; it comes first.
        if rows.len() > 1 && run.summary.id.as_str() != name {
            return Err(StoreError::Ambiguous { prefix: name.to_owned(), matches: 2 });
        }
        Lives::default().tell(self, &mut reader, &mut run.summary, &owner).await?;
        Ok(run)
    }

    /// Returns a contract by its name or the beginning of its fingerprint: the newest.
    pub async fn contract(&self, name: &str) -> Result<ContractRow, StoreError> {
        let absent = || StoreError::NotFound { what: "contract", name: name.to_owned() };
        if name.is_empty() || name.contains('\0') {
            return Err(absent());
        }
        let mut reader = self.reader().await?;
        let row = sqlx::query(CONTRACT)
            .bind(name)
            .bind(format!("{name}{LAST}"))
            .fetch_optional(&mut *reader)
            .await
            .map_err(|error| StoreError::of(self.place.dialect, error))?
            .ok_or_else(absent)?;
        let mut columns = Columns::of(&row);
        let (fingerprint, name, version) = (columns.take()?, columns.take()?, columns.take()?);
        let schema = columns.take()?;
        let coded: String = columns.take()?;
        let schema = unpack("schema", schema, &coded)?.map(text).transpose()?.unwrap_or_default();
        Ok(ContractRow { fingerprint, name, version, schema })
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

/// The conditions of a question: constant texts, and values that are bound.
#[derive(Default)]
pub(crate) struct Conditions {
    texts: Vec<String>,
    values: Vec<Value>,
}

enum Value {
    Number(i64),
    Text(String),
}

impl Conditions {
    pub(crate) fn of(filter: &Filter) -> Self {
        let mut conditions = Self::default();
        conditions.number("started_at >=", filter.since);
        conditions.number("started_at <", filter.until);
        conditions.contract(filter.contract.as_deref());
        conditions.text("contract_version =", filter.contract_version.as_deref());
        conditions.text("provider =", filter.provider.as_deref());
        conditions.text("model =", filter.model.as_deref());
        conditions.text("outcome =", filter.outcome.as_deref());
        conditions.text("rung =", filter.rung.as_deref());
        conditions.text("batch =", filter.batch.as_deref());
        conditions.text("parent =", filter.parent.as_deref());
        if let Some(prefix) = &filter.id {
            conditions.prefix("id", prefix);
        }
        // Words, not values: so the partial indexes fit.
        match filter.valid {
            Some(Validity::Valid) => conditions.constant("valid = 1"),
            Some(Validity::Invalid) => conditions.constant("valid = 0"),
            None => {}
        }
        match filter.state {
            Some(RunState::Open | RunState::Unknown) => {
                conditions.constant("state <> 'done' AND state <> 'postponed'");
            }
            Some(RunState::Postponed) => {
                conditions.constant("state <> 'done' AND state = 'postponed'");
            }
            Some(RunState::Done) => conditions.constant("state = 'done'"),
            None => {}
        }
        match filter.review {
            Some(Review::Flagged) => conditions.constant("review = 'flagged'"),
            Some(review) => conditions.text("review =", Some(review.name())),
            None => {}
        }
        conditions
    }

    pub(crate) fn constant(&mut self, text: &'static str) {
        self.texts.push(text.to_owned());
    }

    pub(crate) fn number(&mut self, condition: &'static str, value: Option<i64>) {
        if let Some(value) = value {
            self.bound(condition, Value::Number(value));
        }
    }

    pub(crate) fn text(&mut self, condition: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            // No name holds a NUL, and PostgreSQL takes none.
            self.bound(condition, Value::Text(value.replace('\0', "\u{fffd}")));
        }
    }

    fn bound(&mut self, condition: &str, value: Value) {
        self.values.push(value);
        self.texts.push(format!("{condition} ${}", self.values.len()));
    }

    pub(crate) fn prefix(&mut self, column: &'static str, prefix: &str) {
        let prefix = prefix.replace('\0', "\u{fffd}");
        self.bound(&format!("{column} >="), Value::Text(prefix.clone()));
        self.bound(&format!("{column} <"), Value::Text(format!("{prefix}{LAST}")));
    }

    /// A contract is meant by its name, or by the beginning of its fingerprint.
    fn contract(&mut self, name: Option<&str>) {
        const DIGITS_MIN: usize = 12;

        let Some(name) = name else { return };
        let is_fingerprint =
            name.len() >= DIGITS_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_fingerprint {
            self.prefix("fingerprint", name);
        } else {
            self.text("contract =", Some(name));
        }
    }

    /// Adds the beginning of a page, and returns its order and length.
    pub(crate) fn page(&mut self, page: Page) -> String {
        let (condition, order) = match page.order {
            Order::NewestFirst => ("seq <", "DESC"),
            Order::OldestFirst => ("seq >", "ASC"),
        };
        self.number(condition, page.after);
        format!("ORDER BY seq {order} LIMIT {}", page.limit.min(PAGE_LIMIT))
    }

    /// Returns the `WHERE`, if there is any condition.
    pub(crate) fn clause(&self) -> String {
        match self.texts.as_slice() {
            [] => String::new(),
            texts => format!("WHERE {}", texts.join(" AND ")),
        }
    }

    /// Returns the question `sql` with the values bound.
    pub(crate) fn query(self, sql: String) -> Query<'static, Any, AnyArguments> {
        self.values.into_iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, value| match value {
            Value::Number(number) => query.bind(number),
            Value::Text(text) => query.bind(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Row as _;

    use super::*;
    use crate::location::Location;

    #[tokio::test]
    async fn a_page_is_found_without_reading_those_before() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("ledger.db"));
        let ledger = Ledger::open(&location).await.unwrap();
        let flagged = Filter { review: Some(Review::Flagged), ..Filter::default() };
        let open = Filter { state: Some(RunState::Open), ..Filter::default() };
        let batch = Filter { batch: Some("b".to_owned()), ..Filter::default() };
        for (filter, plan) in [
            (Filter::default(), "SEARCH runs USING INTEGER PRIMARY KEY (rowid<?)"),
            (flagged, "SEARCH runs USING INDEX runs_flagged (seq<?)"),
            (open, "SEARCH runs USING INDEX runs_not_over (seq<?)"),
            (batch, "SEARCH runs USING INDEX runs_of_batch (batch=? AND seq<?)"),
        ] {
            let mut conditions = Conditions::of(&filter);
            let order = conditions.page(Page { after: Some(1000), ..Page::default() });
            let clause = conditions.clause();
            let sql = format!("EXPLAIN QUERY PLAN SELECT {SUMMARY} FROM runs {clause} {order}");
            let mut reader = ledger.reader().await.unwrap();
            let rows = conditions.query(sql).fetch_all(&mut *reader).await.unwrap();
            let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            assert_eq!(steps, [plan]);
        }
    }
}
