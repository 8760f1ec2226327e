//! Findings: what a reviewer has to say, as the contract `code-review` has it.

use std::cmp::Ordering;

use crate::json::{Document, Node};

/// What stands for no line.
pub(super) const NO_LINE: i64 = -1;

/// How bad an issue is, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It breaks in production or leaks data.
    Critical,
    /// It is wrong in some case.
    Warning,
    /// It could be better.
    Info,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Self; 3] = [Self::Critical, Self::Warning, Self::Info];

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }

    /// Returns the severity of this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == word)
    }
}

/// One issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it is shown in the diff.
    pub file: String,
    /// The lines of its new version; absent if it is about no line.
    pub lines: Option<Lines>,
    /// What is wrong.
    pub description: String,
    /// What to do about it.
    pub suggestion: String,
}

/// Lines of a file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lines {
    /// The first.
    pub first: u32,
    /// The last, which is not before the first.
    pub last: u32,
}

impl Lines {
    /// Claims that both have a line.
    pub fn overlap(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl Finding {
    /// Reads the findings in an answer that satisfies the contract; absent if one cannot be read, which
    /// the contract excludes.
    pub fn read(answer: &Document) -> Option<Vec<Self>> {
        answer.root().items().map(Self::of).collect()
    }

    fn of(node: Node<'_>) -> Option<Self> {
        let text = |name: &str| node.member(name)?.as_str().map(str::to_owned);
        let line = |name: &str| integer(node.member(name)?);
        let lines = match (line("line_start")?, line("line_end")?) {
            (NO_LINE, NO_LINE) => None,
            (first, last) => {
                Some(Lines { first: u32::try_from(first).ok()?, last: u32::try_from(last).ok()? })
            }
        };
        Some(Self {
            severity: Severity::named(&text("severity")?)?,
            file: text("file")?,
            lines,
            description: text("description")?,
            suggestion: text("suggestion")?,
        })
    }

    /// Orders findings: the worst first, then by place; those about no line come first in their file.
    pub fn compare(&self, other: &Self) -> Ordering {
        let key = |it: &Self| (it.severity, it.file.clone(), it.lines);
        let words = |it: &Self| (it.description.clone(), it.suggestion.clone());
        key(self).cmp(&key(other)).then_with(|| words(self).cmp(&words(other)))
    }

    /// Returns the place as people write it: `src/a.rs:10-12`.
    pub fn place(&self) -> String {
        match self.lines {
            None => self.file.clone(),
            Some(Lines { first, last }) if first == last => format!("{}:{first}", self.file),
            Some(Lines { first, last }) => format!("{}:{first}-{last}", self.file),
        }
    }
}

/// Reads a whole number, however it is written: `12`, `12.0` and `1.2e1` are the same to a contract.
pub(super) fn integer(node: Node<'_>) -> Option<i64> {
    let number = node.as_number()?;
    number.as_str().parse().ok().or_else(|| {
        let float = number.to_f64();
        let is_exact = number.is_integer() && float.abs() < f64::from(u32::MAX);
        is_exact.then(|| format!("{float:.0}").parse().ok())?
    })
}
