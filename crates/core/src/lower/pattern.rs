//! How dialects read a `pattern`.

use super::automata;
use super::dialect::Patterns;
use crate::pattern::{Engine, is_plain_script, translated};

impl Patterns {
    /// Returns `pattern` in the words of the dialect, if it has them.
    pub(super) fn read(&self, pattern: &str) -> Option<String> {
        match *self {
            Self::AsWritten { word_boundaries, repeat } => {
                let is_known =
                    is_plain(pattern, word_boundaries) && repeats_are_small(pattern, repeat);
                is_known.then(|| pattern.to_owned())
            }
            Self::Automata => automata::pattern(pattern),
            Self::Grammar => translated(pattern, Engine::LlamaCpp),
            Self::Script if is_plain_script(pattern) => Some(pattern.to_owned()),
            Self::Script => translated(pattern, Engine::JavaScript),
        }
    }
}

/// Claims that all groups are plain, and no escape refers to one, or to the border of a word if the
/// dialect does not know these. Our own engine has read the pattern.
fn is_plain(pattern: &str, word_boundaries: bool) -> bool {
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
