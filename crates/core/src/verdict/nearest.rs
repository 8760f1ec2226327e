//! Which of several names somebody probably meant.

/// How many names are looked at, and how long they may be: the cost is a product of all three.
const NAME_LIMIT: usize = 1_000;
const LENGTH_LIMIT: usize = 48;

/// Returns the name nearest to `meant`, if one is near enough to be a slip.
pub(crate) fn nearest<'n>(
    meant: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let meant = fold(meant)?;
    let names = names.into_iter().take(NAME_LIMIT);
    let (name, distance) = names
        .filter_map(|name| Some((name, distance(&meant, &fold(name)?))))
        .min_by_key(|(_, distance)| *distance)?;
    let tolerance = 1 + meant.len() / 4;
    (distance <= tolerance && distance < meant.len().max(1)).then_some(name)
}

/// Returns the letters without case, so that `URL` is near `url`.
fn fold(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> =
        name.chars().flat_map(char::to_lowercase).take(LENGTH_LIMIT + 1).collect();
    (letters.len() <= LENGTH_LIMIT).then_some(letters)
}

/// Counts the insertions, deletions and replacements from one to the other (Levenshtein).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.iter().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        for (cell, other) in row.iter_mut().skip(1).zip(right) {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = *cell;
            before = replaced.min(diagonal + 1).min(before + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("warnig", Some("warning"))]
    #[test_case("WARNING", Some("warning"); "case")]
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
    fn distances_are_levenshteins(left: &str, right: &str, expected: usize) {
        assert_eq!(distance(&fold(left).unwrap(), &fold(right).unwrap()), expected);
    }
}
