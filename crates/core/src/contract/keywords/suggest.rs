//! The keyword that somebody probably meant.

use jsonschema::Draft;

use super::{KEYWORDS, Keyword};

/// Longer names are no typos of a keyword, and comparing them would cost time.
const LONGEST: usize = 32;

/// Returns the keyword of `draft` that `name` is most likely a typo of.
pub(in crate::contract) fn nearest(name: &str, draft: Draft) -> Option<&'static Keyword> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    KEYWORDS
        .iter()
        .filter(|keyword| keyword.is_in(draft))
        .map(|keyword| (distance(&lower, &keyword.name.to_lowercase()), keyword))
        .filter(|(edits, keyword)| *edits <= keyword.name.len() / 3)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, keyword)| keyword)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours between two names.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (row, character) in left.chars().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, column) + usize::from(character != *other);
            let mut best = replaced.min(at(&last, column + 1) + 1).min(at(&current, column) + 1);
            let swapped =
                column > 0 && previous == Some(*other) && right.get(column - 1) == Some(&character);
            if swapped {
                best = best.min(at(&before_last, column - 1).saturating_add(1));
            }
            current.push(best);
        }
        previous = Some(character);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("propertees", Some("properties"))]
    #[test_case("Properties", Some("properties"); "case")]
    #[test_case("reqiured", Some("required"); "swap")]
    #[test_case("additionalProps", Some("additionalProperties"); "short form")]
    #[test_case("anyof", Some("anyOf"))]
    #[test_case("tpye", Some("type"); "swap in a short name")]
    #[test_case("password", None)]
    #[test_case("foo", None)]
    fn typos_lead_to_the_keyword(typo: &str, expected: Option<&str>) {
        let found = nearest(typo, Draft::Draft202012).map(|keyword| keyword.name);
        assert_eq!(found, expected);
    }

    #[test]
    fn only_keywords_of_the_draft_are_suggested() {
        assert_eq!(nearest("prefixItem", Draft::Draft7).map(|keyword| keyword.name), None);
    }
}
