//! Rows that are only added, and ends of attempts. Those of a whole transaction wait and are written
//! together: a database is asked a few times for a group of runs, instead of several times for each.
//!
//! The rule it protects: whoever reads or changes such rows in the same transaction settles them first.
//! Those are who takes a run over, who decides on one, and who prunes; nobody else can know of a run whose
//! beginning or end is in the transaction.

use super::progress::CLOSE_ATTEMPT;
use super::script::Script;
use crate::error::StoreError;
use crate::rows::placeholders;
use crate::writer::Transaction;

/// How many rows one statement inserts, the most first. Each length of each table is a statement that a
/// connection keeps ready, so there are few.
const LENGTHS: [usize; 6] = [32, 16, 8, 4, 2, 1];

const QUESTIONS: &str = "INSERT INTO questions (run, prompt, system, input, coded, digest) VALUES";
const ATTEMPTS: &str = "INSERT INTO attempts \
     (run, number, state, token, provider, model, purpose, coded, started_at) VALUES";
const ANSWERS: &str = "INSERT INTO answers \
     (run, output, parsed, errors, edits, losses, unchecked, coded) VALUES";
const EVENTS: &str = "INSERT INTO events (run, number, told_at, kind, body, coded) VALUES";

/// What a write does that finds its row there: it was written before a connection broke.
const AGAIN: &str = "ON CONFLICT DO NOTHING";

/// A table that rows are added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Questions,
    Attempts,
    Answers,
    Events,
}

impl Table {
    const ALL: [Self; 4] = [Self::Questions, Self::Attempts, Self::Answers, Self::Events];

    /// Returns how the statement begins, how many columns it fills, and how it ends.
    fn words(self) -> (&'static str, usize, &'static str) {
        match self {
            Self::Questions => (QUESTIONS, 6, ""),
            Self::Attempts => (ATTEMPTS, 9, AGAIN),
            Self::Answers => (ANSWERS, 8, ""),
            Self::Events => (EVENTS, 6, AGAIN),
        }
    }
}

/// One row: its columns, in the order of the statement.
pub(crate) type Row = Vec<Cell>;

/// What one column holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Number(i64),
    Text(String),
    /// No text.
    Absent,
    NoNumber,
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::NoNumber, Self::Number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

/// The rows that wait in a transaction.
#[derive(Debug, Default)]
pub(crate) struct Sheaf {
    questions: Vec<Row>,
    attempts: Vec<Row>,
    answers: Vec<Row>,
    events: Vec<Row>,
    /// What ends attempts, which may be among these.
    closed: Vec<Row>,
}

impl Sheaf {
    /// Adds a row.
    pub(crate) fn add(&mut self, table: Table, row: Row) {
        self.rows(table).push(row);
    }

    /// Ends an attempt by [`CLOSE_ATTEMPT`].
    pub(crate) fn close(&mut self, row: Row) {
        self.closed.push(row);
    }

    fn rows(&mut self, table: Table) -> &mut Vec<Row> {
        match table {
            Table::Questions => &mut self.questions,
            Table::Attempts => &mut self.attempts,
            Table::Answers => &mut self.answers,
            Table::Events => &mut self.events,
        }
    }
}

impl Sheaf {
    /// Returns the statements that write all of it.
    fn script(mut self) -> Script {
        let mut script = Script::default();
        for table in Table::ALL {
            let rows = self.rows(table);
            while let Some(length) = LENGTHS.into_iter().find(|length| *length <= rows.len()) {
                let (beginning, columns, end) = table.words();
                let sql = format!("{beginning} {} {end}", placeholders(length, columns));
                script.add(sql, rows.drain(..length).flatten().collect());
            }
        }
        for row in self.closed {
            script.add(CLOSE_ATTEMPT, row);
        }
        script
    }
}

impl Transaction<'_> {
    /// Writes the rows that wait.
    pub(crate) async fn settle(&mut self) -> Result<(), StoreError> {
        std::mem::take(&mut self.sheaf).script().run(self).await.map(drop)
    }

    /// Writes all that waits, at the end.
    pub(crate) async fn conclude(&mut self) -> Result<(), StoreError> {
        let mut script = std::mem::take(&mut self.sheaf).script();
        let tallies = std::mem::take(&mut self.tallies);
        tallies.add_to(&mut script);
        let lengths = script.run(self).await?;
        tallies.fold(self, lengths).await
    }
}
