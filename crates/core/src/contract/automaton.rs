//! How large the automaton of a pattern gets, before it is built.
//!
//! `\p{L}` is six hundred ranges of characters, and each becomes states of an automaton over bytes:
//! to compile it takes a hundred times as long as `[a-z]`. Who compiles the patterns of many schemas
//! has to count that.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Returns about how many states the automaton of `pattern` has, counted as if every range of
/// characters were one.
pub(super) fn weigh(pattern: &str) -> u64 {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok();
    let read = translated.and_then(|translated| regex_syntax::parse(&translated).ok());
    // What is for another engine is at least as long as it is written.
    read.map_or_else(|| count(pattern.len()), |hir| states(&hir))
}

/// Recurses as deep as the pattern, which its parser has bounded.
fn states(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => count(literal.0.len()),
        HirKind::Class(Class::Unicode(class)) => count(class.ranges().len()),
        HirKind::Class(Class::Bytes(class)) => count(class.ranges().len()),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            states(&repetition.sub).saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => states(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(states).fold(1, u64::saturating_add)
        }
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_characters_weigh_what_they_hold() {
        assert!(weigh("^[a-z]+$") < 10);
        assert!(weigh(r"^\p{L}+$") > 300);
        assert!(weigh(r"^(\p{L}{100}){100}$") > 3_000_000);
        assert_eq!(weigh("^(?=a)b"), 7);
    }
}
