//! A parser as one writes it for reviews in prose: blocks between blank lines, a field on each line.
//!
//! It forgives what is cheap to forgive: bullets, numbers, bold letters, other words for a field, and
//! a block of five lines in the order that was asked for. A text without any block is unreadable, unless
//! it says that there is nothing to say.

use airtight_core::review::{Finding, Lines, Severity};

/// What a text holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) findings: Vec<Finding>,
    pub(crate) is_unreadable: bool,
    pub(crate) lacks_field: bool,
    pub(crate) has_commentary: bool,
}

/// The fields of one block.
#[derive(Debug, Default)]
struct Block {
    severity: Option<Severity>,
    file: Option<String>,
    lines: Option<Lines>,
    description: Option<String>,
    suggestion: Option<String>,
}

/// Words that say that there is nothing to say.
const NOTHING: [&str; 5] = ["no issues", "no bugs", "no findings", "no problems", "looks good"];

/// Reads a review.
pub(crate) fn read(text: &str) -> Reading {
    let mut reading = Reading::default();
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let mut count = 0;
    for block in blocks {
        let block = Block::read(block);
        if block.severity.is_none() && block.file.is_none() && block.lines.is_none() {
            reading.has_commentary = true;
            continue;
        }
        count += 1;
        match block.finding() {
            Some(finding) => reading.findings.push(finding),
            None => reading.lacks_field = true,
        }
    }
    let lower = text.to_lowercase();
    let is_nothing = NOTHING.iter().any(|words| lower.contains(words));
    reading.is_unreadable = count == 0 && !is_nothing;
    reading
}

impl Block {
    fn read(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(bare).filter(|line| !line.is_empty()).collect();
        if let [severity, file, numbers, description, suggestion] = lines.as_slice()
            && let Some(severity) = named(severity)
        {
            return Self {
                severity: Some(severity),
                file: Some((*file).to_owned()),
                lines: range(numbers),
                description: Some((*description).to_owned()),
                suggestion: Some((*suggestion).to_owned()),
            };
        }
        let mut block = Self::default();
        for line in lines {
            let Some((label, value)) = line.split_once(':') else { continue };
            let value = bare(value);
            if !value.is_empty() {
                block.take(&label.trim().trim_matches('*').to_lowercase(), value);
            }
        }
        block
    }

    fn take(&mut self, label: &str, value: &str) {
        match label {
            "severity" | "severity level" | "level" => self.severity = named(value),
            "file" | "file path" | "path" | "filename" => self.file = Some(value.to_owned()),
            "line" | "lines" | "line number" | "line numbers" | "line range" => {
                self.lines = range(value);
            }
            "description" | "issue" | "problem" | "description of the issue" => {
                self.description = Some(value.to_owned());
            }
            "suggestion" | "suggested fix" | "fix" | "your suggested fix" | "solution" => {
                self.suggestion = Some(value.to_owned());
            }
            _ => {}
        }
    }

    fn finding(self) -> Option<Finding> {
        Some(Finding {
            severity: self.severity?,
            file: self.file?.trim_matches('`').to_owned(),
            lines: Some(self.lines?),
            description: self.description?,
            suggestion: self.suggestion?,
        })
    }
}

/// Returns a line without bullets, numbers and bold letters.
fn bare(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '#', '>', ' ']);
    let digits = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let line = match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < line.len() => rest,
        _ => line,
    };
    line.trim_matches(['*', ' ', '\t'])
}

fn named(word: &str) -> Option<Severity> {
    Severity::named(&word.trim_matches(['.', '(', ')', '*', ' ']).to_lowercase())
}

/// Reads `12`, `12-14`, `12 to 14` and `lines 12 and 14`.
fn range(text: &str) -> Option<Lines> {
    let numbers = text.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    Some(Lines { first: first.min(last), last: first.max(last) })
}
