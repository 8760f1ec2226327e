//! Tells findings that conform and help nobody: a schema enforces structure, not quality.
//!
//! A finding is flagged, never dropped, if one of these holds. Only English is known; a word in
//! another language counts as one that says something.
//!
//! - its suggestion, or its description, has nothing but words that fit any code ("consider
//!   refactoring this for better readability") and no piece of code;
//! - its suggestion repeats its description.

use super::finding::Finding;
use super::merge::{normalised, similarity};

/// Words that fit any code, so that a sentence of nothing but them says nothing about this one.
const EMPTY: [&str; 155] = [
    "a",
    "add",
    "adding",
    "address",
    "all",
    "an",
    "and",
    "any",
    "applicable",
    "approach",
    "appropriate",
    "appropriately",
    "are",
    "as",
    "avoid",
    "bad",
    "be",
    "best",
    "better",
    "bug",
    "bugs",
    "can",
    "careful",
    "cases",
    "change",
    "check",
    "clarity",
    "clean",
    "cleaner",
    "clear",
    "clearer",
    "code",
    "comment",
    "comments",
    "consider",
    "consistency",
    "consistent",
    "correct",
    "correctly",
    "could",
    "descriptive",
    "different",
    "do",
    "docs",
    "documentation",
    "double",
    "edge",
    "efficiency",
    "efficient",
    "ensure",
    "error",
    "errors",
    "exception",
    "exceptions",
    "exists",
    "fix",
    "fixed",
    "follow",
    "for",
    "function",
    "further",
    "good",
    "gracefully",
    "handle",
    "handled",
    "handling",
    "has",
    "here",
    "if",
    "implement",
    "improve",
    "improved",
    "improvement",
    "improvements",
    "in",
    "into",
    "is",
    "issue",
    "issues",
    "it",
    "its",
    "less",
    "logic",
    "maintainability",
    "maintainable",
    "make",
    "making",
    "maybe",
    "method",
    "might",
    "more",
    "n",
    "name",
    "names",
    "naming",
    "necessary",
    "need",
    "needed",
    "needs",
    "no",
    "none",
    "not",
    "of",
    "on",
    "optimize",
    "or",
    "performance",
    "please",
    "potential",
    "practices",
    "problem",
    "proper",
    "properly",
    "quality",
    "readability",
    "readable",
    "refactor",
    "refactoring",
    "review",
    "rewrite",
    "robust",
    "robustness",
    "security",
    "should",
    "simpler",
    "simplified",
    "simplify",
    "simplifying",
    "some",
    "something",
    "structure",
    "style",
    "sure",
    "test",
    "tests",
    "that",
    "the",
    "there",
    "this",
    "to",
    "todo",
    "unit",
    "up",
    "use",
    "using",
    "validation",
    "variable",
    "variables",
    "way",
    "we",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Characters that prose has seldom and code often.
const CODE: [char; 9] = ['`', '=', '{', '}', ';', '<', '>', '_', '$'];

/// How alike two texts are, in hundredths, so that one repeats the other.
const REPETITION: usize = 85;

/// Why a finding is worth little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weakness {
    /// The description would fit any code.
    #[error("the description says nothing about this code")]
    VagueDescription,
    /// The suggestion would fit any code.
    #[error("the suggestion says nothing that could be done here")]
    VagueSuggestion,
    /// The suggestion is the description again.
    #[error("the suggestion repeats the description")]
    Repetition,
}

/// Says why a finding is worth little, if it is.
pub fn weakness(finding: &Finding) -> Option<Weakness> {
    let Finding { description, suggestion, .. } = finding;
    if is_vague(suggestion) {
        return Some(Weakness::VagueSuggestion);
    }
    if is_vague(description) {
        return Some(Weakness::VagueDescription);
    }
    let is_repeated = similarity(description, suggestion) >= REPETITION;
    is_repeated.then_some(Weakness::Repetition)
}

/// Claims that a text has no word that says something, and no code.
fn is_vague(text: &str) -> bool {
    let is_code = |word: &str| {
        let humps = word.chars().skip(1).any(char::is_uppercase);
        let is_shouted = word.chars().all(|it| !it.is_lowercase());
        word.contains(CODE)
            || word.contains(|it: char| it.is_ascii_digit())
            || (humps && !is_shouted)
    };
    let says = |word: &str| EMPTY.binary_search(&word).is_err();
    !text.split_whitespace().any(is_code)
        && !normalised(text).split(' ').any(|it| !it.is_empty() && says(it))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn finding(description: &str, suggestion: &str) -> Finding {
        Finding {
            severity: super::super::Severity::Info,
            file: "a.rs".to_owned(),
            lines: None,
            description: description.to_owned(),
            suggestion: suggestion.to_owned(),
        }
    }

    #[test]
    fn empty_words_can_be_looked_up() {
        assert!(EMPTY.is_sorted());
    }

    #[test_case("Consider refactoring this." => true)]
    #[test_case("Refactor this function for better readability and maintainability" => true)]
    #[test_case("Add proper error handling." => true)]
    #[test_case("Follow best practices" => true)]
    #[test_case("N/A" => true)]
    #[test_case("TODO" => true)]
    #[test_case("You should consider refactoring this function" => true)]
    #[test_case("Consider refactoring this (for readability)" => true; "brackets of prose")]
    #[test_case("Please add more unit tests" => true)]
    #[test_case("Use a more descriptive variable name" => true)]
    #[test_case("Move it to src/auth.rs" => false; "a path")]
    #[test_case("Call drop()" => false; "a call")]
    #[test_case("None" => true)]
    #[test_case("..." => true)]
    #[test_case("Fix it" => true)]
    #[test_case("Compare in constant time." => false)]
    #[test_case("Remove this line." => false)]
    #[test_case("Close the file." => false)]
    #[test_case("Use `check`" => false; "code")]
    #[test_case("use HashMap" => false; "a name with humps")]
    #[test_case("Add 1" => false; "a number")]
    #[test_case("エラーを処理する" => false; "another language")]
    fn suggestions_without_a_word_about_this_code_are_vague(suggestion: &str) -> bool {
        let finding = finding("The token is compared with ==, which leaks its length.", suggestion);
        weakness(&finding) == Some(Weakness::VagueSuggestion)
    }

    #[test]
    fn descriptions_and_repetitions_are_told_apart() {
        let vague = finding("This code could be improved.", "Compare in constant time.");
        assert_eq!(weakness(&vague), Some(Weakness::VagueDescription));
        let again = finding("The file is never closed.", "The file is never closed");
        assert_eq!(weakness(&again), Some(Weakness::Repetition));
        let fine = finding("The file is never closed.", "Close the file in `drop`.");
        assert_eq!(weakness(&fine), None);
    }
}
