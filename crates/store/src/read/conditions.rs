//! Which rows a question is about.

use sqlx::AssertSqlSafe;
use sqlx::any::{Any, AnyArguments};
use sqlx::query::Query;

use crate::filter::{Filter, Order, PAGE_LIMIT, Page, Validity};
use crate::run::{Review, RunState};

/// Comes after every character in names.
const LAST: char = '\u{10ffff}';

/// The fewest digits that mean a fingerprint: shorter ones may well be a name.
const DIGITS_MIN: usize = 12;

/// Claims that `name` is the beginning of a fingerprint.
pub(super) fn is_fingerprint(name: &str) -> bool {
    name.len() >= DIGITS_MIN && name.bytes().all(|byte| byte.is_ascii_hexdigit())
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
        conditions.text("driver =", filter.driver.as_deref());
        conditions.text("provider =", filter.provider.as_deref());
        conditions.text("model =", filter.model.as_deref());
        conditions.text("outcome =", filter.outcome.as_deref());
        conditions.text("rung =", filter.rung.as_deref());
        conditions.text("batch =", filter.batch.as_deref());
        conditions.text("parent =", filter.parent.as_deref());
        if let Some(text) = &filter.search {
            conditions.search(text);
        }
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

    /// Adds that `text` occurs in one of the names of a run.
    fn search(&mut self, text: &str) {
        let escaped = text.replace('\0', "\u{fffd}").to_lowercase();
        let escaped = escaped.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        self.values.push(Value::Text(format!("%{escaped}%")));
        let place = self.values.len();
        let like = |column: &str| format!("LOWER({column}) LIKE ${place} ESCAPE '\\'");
        let names = ["id", "contract", "provider", "model", "COALESCE(batch, '')"].map(like);
        self.texts.push(format!("({})", names.join(" OR ")));
    }

    /// Rows that come behind one in an order by when they were first seen, the newest first, and then by
    /// these columns.
    pub(crate) fn behind(&mut self, first_seen_at: i64, places: &[(&'static str, &String)]) {
        self.values.push(Value::Number(first_seen_at));
        let moment = self.values.len();
        // From the last column to the first: each counts if those before it are the same.
        let numbered: Vec<(&str, usize)> = places
            .iter()
            .map(|(column, value)| {
                self.values.push(Value::Text(value.replace('\0', "\u{fffd}")));
                (*column, self.values.len())
            })
            .collect();
        let later = numbered.iter().rev().fold(String::new(), |later, (column, value)| match later
            .as_str()
        {
            "" => format!("{column} > ${value}"),
            later => format!("({column} > ${value} OR ({column} = ${value} AND {later}))"),
        });
        self.texts.push(format!(
            "(first_seen_at < ${moment} OR (first_seen_at = ${moment} AND {later}))"
        ));
    }

    /// Rows whose number is in one of these stretches, both ends included.
    pub(super) fn among(
        &mut self,
        column: &'static str,
        stretches: impl Iterator<Item = (i64, i64)>,
    ) {
        let mut texts = Vec::new();
        for (from, to) in stretches {
            self.values.extend([Value::Number(from), Value::Number(to)]);
            let last = self.values.len();
            texts.push(format!("({column} >= ${} AND {column} <= ${last})", last - 1));
        }
        self.texts.push(format!("({})", texts.join(" OR ")));
    }

    pub(crate) fn prefix(&mut self, column: &'static str, prefix: &str) {
        let prefix = prefix.replace('\0', "\u{fffd}");
        self.bound(&format!("{column} >="), Value::Text(prefix.clone()));
        self.bound(&format!("{column} <"), Value::Text(format!("{prefix}{LAST}")));
    }

    /// A contract is meant by its name, or by the beginning of its fingerprint.
    fn contract(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        if is_fingerprint(name) {
            // Equality is the same in every language of a server; order, which a range goes by, is not.
            let beginning = format!("SUBSTR(fingerprint, 1, {}) =", name.len());
            self.bound(&beginning, Value::Text(name.to_owned()));
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
        self.clause_with(&[])
    }

    /// Returns the `WHERE` of these conditions and of those that one table of several has for itself.
    pub(crate) fn clause_with(&self, own: &[String]) -> String {
        let texts: Vec<&str> = own.iter().chain(&self.texts).map(String::as_str).collect();
        if texts.is_empty() { String::new() } else { format!("WHERE {}", texts.join(" AND ")) }
    }

    /// Binds a number, and returns what stands for it.
    pub(crate) fn place(&mut self, number: i64) -> String {
        self.values.push(Value::Number(number));
        format!("${}", self.values.len())
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
    use crate::ledger::Ledger;
    use crate::location::Location;
    use crate::rows::SUMMARY;

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
