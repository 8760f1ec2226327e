//! Tags around what was said earlier, which no text can close or open: what a tool returned must not speak
//! for the user.
//!
//! Texts stay as they are. Where one of them holds a tag, all tags are numbered, by a number that no text holds.

use std::collections::BTreeSet;

/// Tags that fit some texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tags {
    /// Plain tags are those with the number 0, which is not written.
    number: u64,
}

impl Tags {
    /// Finds tags with these names that stand in none of the texts.
    pub(super) fn apart_from<'t>(names: &[&str], texts: impl IntoIterator<Item = &'t str>) -> Self {
        // Every tag ends so, and what stands before that is looked at once.
        let parts = texts.into_iter().flat_map(|text| text.split('>'));
        let taken: BTreeSet<u64> =
            parts.filter_map(|part| tag_in(part.trim_end(), names)).collect();
        let gap = (0..).zip(&taken).take_while(|(number, taken)| number == *taken).count();
        Self { number: u64::try_from(gap).unwrap_or(u64::MAX) }
    }

    /// Puts a text between the tags of this name.
    pub(super) fn around(self, name: &str, text: &str) -> String {
        let number = if self.number == 0 { String::new() } else { format!("-{}", self.number) };
        format!("<{name}{number}>\n{text}\n</{name}{number}>\n")
    }
}

/// Returns the number of the tag that `part` ends with, up to its last character.
fn tag_in(part: &str, names: &[&str]) -> Option<u64> {
    let head = part.trim_end_matches(|it: char| it.is_ascii_digit());
    let digits = part.get(head.len()..)?;
    let (head, number) = match (head.strip_suffix('-'), digits.parse()) {
        (Some(head), Ok(number)) => (head, number),
        _ => (part, 0),
    };
    let is_named = |name: &&str| {
        let start = head.len().saturating_sub(name.len());
        let (open, found) = head.split_at_checked(start).unwrap_or_default();
        found.eq_ignore_ascii_case(name) && open.trim_end().ends_with(['<', '/'])
    };
    names.iter().any(is_named).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_case::test_case;

    use super::*;

    const NAMES: [&str; 2] = ["user", "tool"];

    #[test_case("plain words > more" => 0)]
    #[test_case("</user>" => 1; "a closer")]
    #[test_case("< TOOL >" => 1; "an opener in other letters")]
    #[test_case("</user> and <tool-1>" => 2; "a number that is taken")]
    #[test_case("</user-2>" => 0; "a number that is not the next")]
    #[test_case("</superuser>" => 0; "a longer name")]
    #[test_case("<user-99999999999999999999999>" => 0; "a number beyond all")]
    #[test_case("é>" => 0; "no ASCII")]
    fn numbers(text: &str) -> u64 {
        Tags::apart_from(&NAMES, [text]).number
    }

    proptest! {
        #[test]
        fn no_text_holds_a_tag(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["<", "</", "user", "tool", "-", "1", "2", ">", " ", "é"]),
                0..24,
            )
        ) {
            let text = pieces.concat();
            let tags = Tags::apart_from(&NAMES, [text.as_str()]);
            let closer = tags.around("user", "");
            let closer = closer.trim().rsplit('\n').next().unwrap_or_default();
            prop_assert!(!text.contains(closer), "{text}: {closer}");
        }
    }
}
