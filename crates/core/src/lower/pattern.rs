//! How dialects read a `pattern`.

use regex::Regex;

use super::automata;
use super::dialect::Patterns;
use crate::pattern::{Engine, is_read_by_script, translated};

impl Patterns {
    /// Returns `pattern` in the words of the dialect, if it has them.
    pub(super) fn read(&self, pattern: &str) -> Option<String> {
        match *self {
            Self::AsWritten { word_boundaries, repeat } => {
                let is_known = groups_are_plain(pattern, word_boundaries)
                    && repeats_are_small(pattern, repeat);
                is_known.then(|| pattern.to_owned())
            }
            Self::Automata => automata::pattern(pattern),
            Self::Grammar => translated(pattern, Engine::LlamaCpp),
            Self::Script if is_read_by_script(pattern) => Some(pattern.to_owned()),
            Self::Script => translated(pattern, Engine::JavaScript),
        }
    }

    /// Claims that members whose names match `pattern`, which is in the words of the dialect, may be spoken
    /// of beside those that are called `declared`. Ajv refuses the schema if one of these matches, and looks
    /// for that without the flag `u`, by which `\u{1f600}` and letters of two units are others.
    pub(super) fn stands_beside(&self, pattern: &str, declared: &[&str]) -> bool {
        match self {
            Self::AsWritten { .. } | Self::Automata | Self::Grammar => true,
            Self::Script => {
                let needs_flag =
                    !pattern.is_ascii() || pattern.contains("\\u{") || pattern.contains("\\p");
                let rust = jsonschema_regex::to_rust_regex(pattern).ok();
                let regex = rust.and_then(|rust| Regex::new(&rust).ok());
                let is_of_units = |name: &&str| name.chars().any(|it| it.len_utf16() > 1);
                declared.is_empty()
                    || !needs_flag
                        && !declared.iter().any(is_of_units)
                        && regex
                            .is_some_and(|regex| !declared.iter().any(|name| regex.is_match(name)))
            }
        }
    }
}

/// Claims that all groups are plain, and no escape refers to one, or to the border of a word if the
/// dialect does not know these. Our own engine has read the pattern.
fn groups_are_plain(pattern: &str, word_boundaries: bool) -> bool {
    let (mut rest, mut is_class) = (pattern.chars(), false);
    while let Some(character) = rest.next() {
        match character {
            '\\' => match rest.next() {
                Some('1'..='9') => return false,
                Some('b' | 'B') if !word_boundaries && !is_class => return false,
                _ => {}
            },
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class => {
                let behind = rest.as_str();
                if behind.starts_with('?') && !behind.starts_with("?:") {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

fn repeats_are_small(pattern: &str, limit: usize) -> bool {
    let repeats = pattern.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    repeats
        .flat_map(|range| range.split(','))
        .filter_map(|number| number.parse::<usize>().ok())
        .all(|number| number <= limit)
}
