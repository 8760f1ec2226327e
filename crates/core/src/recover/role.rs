//! Whose words a text holds: chat templates name the role before each message, and a server that does not
//! know the token that ends the model's lets it go on with those of others.

use std::ops::Range;

use super::thought::is_apart;

/// What stands before the name of a role.
const HEADERS: [&str; 4] = ["<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|start|>"];

/// The names of the model.
const MODEL: [&str; 2] = ["assistant", "model"];

/// Opens and closes what a user says, without a name.
const INSTRUCTION: (&str, &str) = ("[INST]", "[/INST]");

/// How many turns of a repeated prompt are looked past.
const TURN_LIMIT: usize = 64;

/// Returns where the model's own words are: before the first turn of somebody else, or behind that if
/// nothing was said before it, as where the prompt is repeated.
pub(super) fn own(text: &str) -> Range<usize> {
    let mut start = 0;
    for _ in 0..TURN_LIMIT {
        let Some(other) = foreign(text, start) else { return start..text.len() };
        let before = text.get(start..other).unwrap_or_default();
        if !before.trim_start_matches('\u{feff}').trim().is_empty() {
            return start..other;
        }
        let Some(own) = resumes(text, other) else { return other..other };
        start = own;
    }
    start..start
}

/// Finds the first turn of somebody else from `from` on.
fn foreign(text: &str, from: usize) -> Option<usize> {
    marks(text, from).find(|at| {
        let rest = text.get(*at..).unwrap_or_default();
        let is_other = match named(rest) {
            Some(role) => !is_model(role),
            None => rest.starts_with(INSTRUCTION.0),
        };
        is_other && is_apart(text, *at)
    })
}

/// Finds where the model's words begin behind the turn of somebody else at `from`.
fn resumes(text: &str, from: usize) -> Option<usize> {
    marks(text, from).find_map(|at| {
        let rest = text.get(at..)?;
        let own = match named(rest) {
            Some(role) => is_model(role).then_some(role),
            None => rest.strip_prefix(INSTRUCTION.1),
        };
        own.map(|own| text.len() - own.len())
    })
}

/// Finds what may be a header from `from` on, in one pass: most texts have none.
fn marks(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    memchr::memchr2_iter(b'<', b'[', rest).map(move |offset| from + offset)
}

/// Returns what stands behind the header that `rest` starts with.
fn named(rest: &str) -> Option<&str> {
    HEADERS.iter().find_map(|header| rest.strip_prefix(header))
}

fn is_model(role: &str) -> bool {
    MODEL.iter().any(|name| role.trim_start().starts_with(name))
}
