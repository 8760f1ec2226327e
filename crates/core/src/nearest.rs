//! Which of several names somebody probably meant.

/// How many names are looked at, and how long they may be: the cost is a product of all three.
const NAME_LIMIT: usize = 1_000;
const LENGTH_LIMIT: usize = 48;

/// Returns the name nearest to `meant`, if one is near enough to be a slip.
pub fn nearest<'n>(meant: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let meant = fold(meant)?;
    let near = names.into_iter().take(NAME_LIMIT).filter_map(|name| {
        let letters = fold(name)?;
        let slips = distance(&meant, &letters);
        (slips <= letters.len() / 3).then_some((slips, name))
    });
    near.min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// Returns the letters without case, so that `URL` is near `url`.
fn fold(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> =
        name.chars().flat_map(char::to_lowercase).take(LENGTH_LIMIT + 1).collect();
    (letters.len() <= LENGTH_LIMIT).then_some(letters)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours between two names.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, column) + usize::from(letter != other);
            let mut best = replaced.min(at(&last, column + 1) + 1).min(at(&current, column) + 1);
            let is_swapped =
                column > 0 && previous == Some(other) && right.get(column - 1) == Some(letter);
            if is_swapped {
                best = best.min(at(&before_last, column - 1).saturating_add(1));
            }
            current.push(best);
        }
        previous = Some(letter);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("warnig", Some("warning"))]
    #[test_case("WARNING", Some("warning"); "case")]
    #[test_case("wraning", Some("warning"); "swap")]
    #[test_case("crit", None; "too far")]
    #[test_case("infos", Some("info"))]
    #[test_case("x", None; "nothing in common")]
    #[test_case("", None; "nothing")]
    fn slips_have_a_nearest_name(meant: &str, expected: Option<&str>) {
        assert_eq!(nearest(meant, ["info", "warning", "critical"]), expected);
    }

    #[test_case("kitten", "sitting", 3)]
    #[test_case("", "abc", 3)]
    #[test_case("abc", "abc", 0)]
    #[test_case("flaw", "lawn", 2)]
    #[test_case("tpye", "type", 1; "swap")]
    fn distances_count_slips(left: &str, right: &str, expected: usize) {
        assert_eq!(distance(&fold(left).unwrap(), &fold(right).unwrap()), expected);
    }
}
