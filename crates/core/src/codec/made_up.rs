//! Ids for calls whose provider gives none.

/// What made-up ids begin with; digits follow, and a number behind one that repeats.
const PREFIX: &str = "call_";

/// Returns the given id, or one made up for the call at `index` of its answer.
pub(super) fn id_or_made_up(given: Option<&str>, index: usize) -> String {
    given.map_or_else(|| format!("{PREFIX}{index}"), str::to_owned)
}

/// Claims that a provider would not know the id.
pub(super) fn is_made_up(id: &str) -> bool {
    let numbers = id.strip_prefix(PREFIX).unwrap_or_default();
    !numbers.is_empty() && numbers.chars().all(|c| c.is_ascii_digit() || c == '_')
}
