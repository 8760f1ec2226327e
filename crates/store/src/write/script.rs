//! Statements that follow each other, whatever each of them answers.
//!
//! SQLite's driver hands every question to a thread of its own, which wakes up for it and wakes its asker up:
//! that takes longer than most statements. There they are asked as one. PostgreSQL takes no parameters for
//! several statements at once, and is asked one by one.

use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::sheaf::{Cell, Row};
use crate::dialect::Dialect;
use crate::error::StoreError;
use crate::writer::Transaction;

/// How many parameters are asked together at the most. A connection keeps the whole text ready, and those of
/// many rows differ.
const TOGETHER: usize = 128;

/// Statements with their parameters, in their order.
#[derive(Debug, Default)]
pub(crate) struct Script(Vec<(String, Row)>);

impl Script {
    /// Adds a statement, in which every `$` is followed by the number of a parameter.
    pub(crate) fn add(&mut self, sql: impl Into<String>, row: Row) {
        self.0.push((sql.into(), row));
    }

    /// Executes all, and returns the rows that they answer.
    pub(crate) async fn run(self, to: &mut Transaction<'_>) -> Result<Vec<AnyRow>, StoreError> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let count: usize = self.0.iter().map(|(_, row)| row.len()).sum();
        let is_one = to.place.dialect == Dialect::Sqlite && to.is_alone && count <= TOGETHER;
        let statements = if is_one { vec![self.joined()] } else { self.0 };
        let mut rows = Vec::new();
        for (sql, row) in statements {
            let mut query = sqlx::query(AssertSqlSafe(sql));
            for cell in row {
                query = match cell {
                    Cell::Number(number) => query.bind(number),
                    Cell::Text(text) => query.bind(text),
                    Cell::Absent => query.bind(None::<String>),
                    Cell::NoNumber => query.bind(None::<i64>),
                };
            }
            rows.extend(query.fetch_all(&mut *to.connection).await.map_err(to.fail())?);
        }
        Ok(rows)
    }

    /// Returns all as one statement, with its parameters numbered through.
    fn joined(self) -> (String, Row) {
        let (mut text, mut cells) = (String::new(), Vec::new());
        for (sql, row) in self.0 {
            let mut parts = sql.split('$');
            text.push_str(parts.next().unwrap_or_default());
            for part in parts {
                let digits =
                    part.len() - part.trim_start_matches(|it: char| it.is_ascii_digit()).len();
                let (number, behind) = part.split_at(digits);
                let number = number.parse::<usize>().map_or(0, |number| number + cells.len());
                text.push('$');
                text.push_str(&number.to_string());
                text.push_str(behind);
            }
            text.push(';');
            cells.extend(row);
        }
        (text, cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through() {
        let mut script = Script::default();
        script.add("UPDATE a SET b = $2 WHERE c = $1", vec![1.into(), "x".into()]);
        script.add("INSERT INTO d VALUES ($1)", vec![Cell::Absent]);
        let (text, row) = script.joined();
        assert_eq!(text, "UPDATE a SET b = $2 WHERE c = $1;INSERT INTO d VALUES ($3);");
        assert_eq!(row, [Cell::Number(1), Cell::Text("x".to_owned()), Cell::Absent]);
    }
}
