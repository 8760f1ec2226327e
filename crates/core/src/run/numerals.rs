//! Numbers as people write them: `1,234.50`, `1.234,5`, `3,5`, `−2`, `6e3`.

use std::collections::BTreeSet;
use std::str::Chars;

use crate::json::Number;

/// Returns every number that is written in `text`, each as [`Number::canonical`] has it. What can be
/// read in two ways, as `1.234`, is both.
pub(super) fn read(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut before: (Option<char>, Option<char>) = (None, None);
    let mut rest = text.chars();
    loop {
        let start = rest.clone();
        let Some(next) = rest.next() else { return found };
        if !next.is_ascii_digit() {
            before = (before.1, Some(next));
            continue;
        }
        let numeral;
        (numeral, rest) = Numeral::take(start);
        let sign = if is_minus(before) { "-" } else { "" };
        let readings = numeral.readings().into_iter().map(|reading| format!("{sign}{reading}"));
        found.extend(readings.map(|literal| Number::new(&literal).canonical()));
        before = (None, Some(next));
    }
}

/// Claims that these two characters in front of a number make it negative; a hyphen behind a word or
/// a number is none: `5-7`, `top-10`.
fn is_minus(before: (Option<char>, Option<char>)) -> bool {
    matches!(before.1, Some('-' | '−')) && !before.0.is_some_and(char::is_alphanumeric)
}

/// Digits in groups, with what stands between them.
struct Numeral {
    groups: Vec<String>,
    separators: Vec<char>,
    exponent: String,
}

impl Numeral {
    /// Takes the number that `rest` begins with, and returns what follows.
    fn take(mut rest: Chars<'_>) -> (Self, Chars<'_>) {
        let mut groups = vec![digits(&mut rest)];
        let mut separators = Vec::new();
        loop {
            let mut ahead = rest.clone();
            let separator = ahead.next().filter(|mark| is_separator(*mark));
            let group = digits(&mut ahead);
            match separator {
                Some(separator) if !group.is_empty() => {
                    separators.push(separator);
                    groups.push(group);
                    rest = ahead;
                }
                _ => break,
            }
        }
        let exponent = exponent(&mut rest);
        (Self { groups, separators, exponent }, rest)
    }

    /// Returns what it may mean, as literals.
    fn readings(&self) -> Vec<String> {
        let exponent = &self.exponent;
        let mut readings = Vec::new();
        if is_one_kind(&self.separators) && has_thousands(&self.groups) {
            readings.push(format!("{}{exponent}", self.groups.concat()));
        }
        if let (Some((mark, before)), Some((fraction, whole))) =
            (self.separators.split_last(), self.groups.split_last())
            && matches!(mark, '.' | ',')
            && is_one_kind(before)
            && !before.contains(mark)
            && (before.is_empty() || has_thousands(whole))
        {
            readings.push(format!("{}.{fraction}{exponent}", whole.concat()));
        }
        if readings.is_empty() {
            // A date, an address, or a list without spaces.
            readings.clone_from(&self.groups);
        }
        readings
    }
}

/// Takes the digits that `rest` begins with.
fn digits(rest: &mut Chars<'_>) -> String {
    let mut digits = String::new();
    loop {
        let mut ahead = rest.clone();
        match ahead.next() {
            Some(digit) if digit.is_ascii_digit() => digits.push(digit),
            _ => return digits,
        }
        *rest = ahead;
    }
}

/// Takes the exponent that `rest` begins with, if it is one.
fn exponent(rest: &mut Chars<'_>) -> String {
    let mut ahead = rest.clone();
    if !matches!(ahead.next(), Some('e' | 'E')) {
        return String::new();
    }
    let mut behind = ahead.clone();
    let sign = match behind.next() {
        Some('-') => "-",
        Some('+') => "",
        _ => {
            behind = ahead;
            ""
        }
    };
    match digits(&mut behind) {
        digits if digits.is_empty() => String::new(),
        digits => {
            *rest = behind;
            format!("e{sign}{digits}")
        }
    }
}

/// Claims that digits are grouped, or parted from their fraction, by this. A plain space is not among
/// it: too often it stands between two numbers.
fn is_separator(mark: char) -> bool {
    matches!(mark, '.' | ',' | '_' | '\'' | '’' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

fn is_one_kind(separators: &[char]) -> bool {
    separators.windows(2).all(|pair| pair.first() == pair.last())
}

/// Claims that these are one group, or groups of three behind a first one of up to three.
fn has_thousands(groups: &[String]) -> bool {
    match groups.split_first() {
        None => false,
        Some((_, [])) => true,
        Some((first, others)) => first.len() <= 3 && others.iter().all(|group| group.len() == 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn found(text: &str, literal: &str) -> bool {
        read(text).contains(&Number::new(literal).canonical())
    }

    #[test_case("It has 157 words.", "157"; "at the end of a sentence")]
    #[test_case("It has 157 words.", "1.57e2"; "in another notation")]
    #[test_case("1,234 readers", "1234"; "english thousands")]
    #[test_case("1.234.567 readers", "1234567"; "german thousands")]
    #[test_case("€1,234.50", "1234.5"; "english price")]
    #[test_case("1.234,50 €", "1234.5"; "german price")]
    #[test_case("1\u{202f}234,5", "1234.5"; "french number")]
    #[test_case("3,5 stars", "3.5"; "decimal comma")]
    #[test_case("Q3", "3"; "behind a letter")]
    #[test_case("-5 degrees", "-5"; "negative")]
    #[test_case("(−5)", "-5"; "with a real minus sign")]
    #[test_case("5-7 people", "7"; "a range")]
    #[test_case("6e3", "6000"; "exponent")]
    #[test_case("2026-03-01", "1"; "a date")]
    #[test_case("2026.03.01", "2026"; "a date with dots")]
    #[test_case("10,20,30", "20"; "a list")]
    #[test_case("-0.50", "-0.5"; "zeros")]
    #[test_case("0", "0.0"; "zero")]
    fn numbers_are_found_however_they_are_written(text: &str, literal: &str) {
        assert!(found(text, literal), "{:?}", read(text));
    }

    #[test_case("70 of 100", "7"; "a beginning")]
    #[test_case("1,234 readers", "234"; "a group")]
    #[test_case("3.5 stars", "35"; "without its point")]
    #[test_case("-5 degrees", "5"; "without its sign")]
    #[test_case("5-7 people", "-7"; "with the hyphen of a range")]
    #[test_case("three stars", "3"; "in words")]
    #[test_case("12 %", "0.12"; "calculated")]
    #[test_case("", "0"; "in nothing")]
    fn other_numbers_are_not_found(text: &str, literal: &str) {
        assert!(!found(text, literal), "{:?}", read(text));
    }
}
