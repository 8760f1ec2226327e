//! The beginning of a text that is too long to be told.

use std::borrow::Cow;

/// Returns `text` as it is if it has at most `limit_chars` characters, else as many of them with
/// `mark` behind.
pub fn excerpt<'t>(text: &'t str, limit_chars: usize, mark: &str) -> Cow<'t, str> {
    match text.char_indices().nth(limit_chars).and_then(|(end, _)| text.get(..end)) {
        Some(beginning) => Cow::Owned(format!("{beginning}{mark}")),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::excerpt;

    #[test_case("", 0 => ""; "nothing")]
    #[test_case("é漢", 2 => "é漢"; "what fits")]
    #[test_case("é漢x", 2 => "é漢…"; "characters are counted, not bytes")]
    #[test_case("a", 0 => "…"; "no room")]
    fn only_what_does_not_fit_is_marked(text: &str, limit_chars: usize) -> String {
        excerpt(text, limit_chars, "…").into_owned()
    }
}
