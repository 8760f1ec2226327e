//! Whose words a text holds: chat templates name the role before each message, and a server that does not
//! know the token that ends the model's lets it go on with those of others.

use std::ops::Range;

use memchr::memmem;

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
    let first = |header: &str, is_other: &dyn Fn(&str) -> bool| {
        let rest = text.get(from..)?;
        let mut found = memmem::find_iter(rest.as_bytes(), header).map(|offset| from + offset);
        found.find(|at| {
            let role = text.get(at + header.len()..).unwrap_or_default();
            is_apart(text, *at) && is_other(role)
        })
    };
    let named = HEADERS.iter().filter_map(|header| first(header, &|role| !is_model(role)));
    named.chain(first(INSTRUCTION.0, &|_| true)).min()
}

/// Finds where the model's words begin behind the turn of somebody else at `from`.
fn resumes(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let end = |header: &str, is_own: &dyn Fn(&str) -> bool| {
        let mut found = memmem::find_iter(rest.as_bytes(), header);
        let at = found.find(|at| rest.get(at + header.len()..).is_some_and(is_own))?;
        Some(from + at + header.len())
    };
    let named = HEADERS.iter().filter_map(|header| end(header, &is_model));
    named.chain(end(INSTRUCTION.1, &|_| true)).min()
}

fn is_model(role: &str) -> bool {
    MODEL.iter().any(|name| role.trim_start().starts_with(name))
}
