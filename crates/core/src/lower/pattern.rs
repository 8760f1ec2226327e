//! How dialects read a `pattern`.

use super::automata;
use super::dialect::Patterns;
use crate::pattern::{Engine, is_plain_script, translated};

impl Patterns {
    /// Returns `pattern` in the words of the dialect, if it has them.
    pub(super) fn read(&self, pattern: &str) -> Option<String> {
        match *self {
            Self::AsWritten { word_boundaries, repeat } => {
                let is_known = groups_are_plain(pattern)
                    && escapes_are_known(pattern, word_boundaries)
                    && repeats_are_small(pattern, repeat);
                is_known.then(|| pattern.to_owned())
            }
            Self::Automata => automata::pattern(pattern),
            Self::Grammar => translated(pattern, Engine::LlamaCpp),
            Self::Script if is_plain_script(pattern) => Some(pattern.to_owned()),
            Self::Script => translated(pattern, Engine::JavaScript),
        }
    }
}

fn groups_are_plain(pattern: &str) -> bool {
    pattern.split("(?").skip(1).all(|rest| rest.starts_with(':'))
}

fn escapes_are_known(pattern: &str, word_boundaries: bool) -> bool {
    let mut escapes = pattern.split('\\').skip(1).filter_map(|rest| rest.chars().next());
    escapes.all(|escape| {
        !('1'..='9').contains(&escape) && (word_boundaries || !matches!(escape, 'b' | 'B'))
    })
}

fn repeats_are_small(pattern: &str, limit: usize) -> bool {
    let repeats = pattern.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    repeats
        .flat_map(|range| range.split(','))
        .filter_map(|number| number.parse::<usize>().ok())
        .all(|number| number <= limit)
}
