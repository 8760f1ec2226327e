//! Patterns that were read or compiled before.
//!
//! A search tries the same few patterns on hundreds of values, and to read one with classes such as
//! `\p{L}` takes longer than all else that is done for a value.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::Hir;

use super::pattern;

/// How many patterns are kept; more are read each time.
const KEPT_LIMIT: usize = 1_000;

/// How many bytes the automaton of one pattern may take: as many as one of a contract may. What would
/// take more is taken to match nothing, and the verdict knows better.
const AUTOMATON_LIMIT_BYTES: usize = 2 * 1024 * 1024;

/// What is known of patterns.
#[derive(Debug, Default)]
pub(super) struct Known {
    read: HashMap<String, Option<Hir>>,
    compiled: HashMap<String, Option<Regex>>,
}

impl Known {
    /// Returns the `variant`-th text that `pattern` matches, as [`pattern::sample`] does.
    pub(super) fn sample(&mut self, pattern: &str, least: usize, variant: usize) -> Option<String> {
        let sample = |hir: &Hir| pattern::sample(hir, least, variant);
        kept(&mut self.read, pattern, pattern::read, sample).flatten()
    }

    /// Claims that `pattern` matches `name`.
    pub(super) fn matches(&mut self, pattern: &str, name: &str) -> bool {
        let is_match = |regex: &Regex| regex.is_match(name);
        kept(&mut self.compiled, pattern, compile, is_match).unwrap_or_default()
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    RegexBuilder::new(&translated).size_limit(AUTOMATON_LIMIT_BYTES).build().ok()
}

/// Uses what `make` makes of `pattern`, made once as long as not too many are kept.
fn kept<T, R>(
    all: &mut HashMap<String, Option<T>>,
    pattern: &str,
    make: fn(&str) -> Option<T>,
    using: impl FnOnce(&T) -> R,
) -> Option<R> {
    if let Some(known) = all.get(pattern) {
        return known.as_ref().map(using);
    }
    let made = make(pattern);
    let used = made.as_ref().map(using);
    if all.len() < KEPT_LIMIT {
        all.insert(pattern.to_owned(), made);
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_once_and_only_so_many_are_kept() {
        let mut known = Known::default();
        for _ in 0..3 {
            assert!(known.matches("^x-", "x-a") && !known.matches("^x-", "a"));
            assert!(!known.matches("(", "("));
            assert_eq!(known.sample("^[a-c]{2}$", 0, 0).as_deref(), Some("ab"));
            assert_eq!(known.sample("(?=a)", 0, 0), None);
        }
        assert_eq!((known.read.len(), known.compiled.len()), (2, 2));
        for n in 0..2 * KEPT_LIMIT {
            assert!(known.matches(&format!("^{n}$"), &n.to_string()));
        }
        assert_eq!(known.compiled.len(), KEPT_LIMIT);
    }

    #[test]
    fn automata_are_bounded() {
        assert!(!Known::default().matches(r"^(\p{L}{1000}){10}$", "a"));
    }
}
