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

/// What a text begins with before anything is said.
const BEGINNINGS: [&str; 4] = ["<s>", "<bos>", "<|begin_of_text|>", "\u{feff}"];

/// How many turns of a repeated prompt are looked past.
const TURN_LIMIT: usize = 64;

/// A turn of somebody else.
struct Turn {
    at: usize,
    /// The header that opened it, which another of its kind ends; none is an instruction.
    header: Option<&'static str>,
}

/// Returns where the model's own words are: before the first turn of somebody else, or behind that if
/// nothing was said before it, as where the prompt is repeated.
pub(super) fn own(text: &str) -> Range<usize> {
    let mut start = 0;
    for _ in 0..TURN_LIMIT {
        let said = silence(text, start);
        let Some(other) = foreign(text, start, said) else { return start..text.len() };
        if said < other.at {
            return start..other.at;
        }
        let Some(own) = resumes(text, &other) else { return other.at..other.at };
        start = own;
    }
    start..start
}

/// Finds the first turn of somebody else from `from` on, where something is `said` first.
fn foreign(text: &str, from: usize, said: usize) -> Option<Turn> {
    marks(text, from).find_map(|at| {
        let rest = text.get(at..)?;
        let header = named(rest);
        let is_other = match header {
            Some((_, role)) => !is_model(role),
            None => rest.starts_with(INSTRUCTION.0),
        };
        let opens = is_other && (at <= said || is_apart(text, at));
        opens.then_some(Turn { at, header: header.map(|(header, _)| header) })
    })
}

/// Finds where the model's words begin behind the turn of somebody else: in the words of the same template.
fn resumes(text: &str, turn: &Turn) -> Option<usize> {
    marks(text, turn.at).find_map(|at| {
        let rest = text.get(at..)?;
        let own = match turn.header {
            Some(header) => rest.strip_prefix(header).filter(|role| is_model(role))?,
            None => return rest.strip_prefix(INSTRUCTION.1).map(|own| text.len() - own.len()),
        };
        is_apart(text, at).then(|| text.len() - own.len())
    })
}

/// Finds what may be a header from `from` on, in one pass: most texts have none.
fn marks(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    memchr::memchr2_iter(b'<', b'[', rest).map(move |offset| from + offset)
}

/// Returns the header that `rest` starts with, and what stands behind it.
fn named(rest: &str) -> Option<(&'static str, &str)> {
    HEADERS.iter().find_map(|header| Some((*header, rest.strip_prefix(header)?)))
}

/// Returns where something is said first from `from` on.
fn silence(text: &str, from: usize) -> usize {
    let mut rest = text.get(from..).unwrap_or_default().trim_start();
    while let Some(more) = BEGINNINGS.iter().find_map(|beginning| rest.strip_prefix(beginning)) {
        rest = more.trim_start();
    }
    text.len() - rest.len()
}

fn is_model(role: &str) -> bool {
    let role = role.trim_start();
    let word = role.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(role.len());
    let word = role.get(..word).unwrap_or_default();
    MODEL.iter().any(|name| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const PIECES: [&str; 20] = [
        "<|im_start|>",
        "<|start_header_id|>",
        "<start_of_turn>",
        "<|start|>",
        "[INST]",
        "[/INST]",
        "<s>",
        "<bos>",
        "\u{feff}",
        "user",
        "system",
        "assistant",
        "Model",
        "models",
        "\n",
        " ",
        ">",
        "{}",
        "é",
        "<|im_end|>",
    ];

    /// Says the same of one header at a time, by looking for it.
    fn opens(text: &str, from: usize) -> impl Iterator<Item = usize> {
        let named = HEADERS.iter().flat_map(|header| text.match_indices(header));
        let others = named.filter(|(at, header)| {
            let role = text[at + header.len()..].trim_start().to_lowercase();
            !MODEL.iter().any(|name| {
                let rest = role.strip_prefix(name);
                rest.is_some_and(|rest| !rest.starts_with(|it: char| it.is_alphanumeric()))
            })
        });
        let all = others.chain(text.match_indices(INSTRUCTION.0)).map(|(at, _)| at);
        all.filter(move |at| *at >= from && is_apart(text, *at)).collect::<Vec<_>>().into_iter()
    }

    proptest! {
        #[test]
        fn own_words_end_before_the_first_turn_of_somebody_else(
            pieces in prop::collection::vec(select(&PIECES[..]), 0..24)
        ) {
            let text = pieces.concat();
            let Range { start, end } = own(&text);
            prop_assert!(text.get(start..end).is_some());
            prop_assert!(opens(&text, start).all(|at| at >= end), "{text:?}: {start}..{end}");
            if end < text.len() {
                let rest = &text[end..];
                prop_assert!(named(rest).is_some() || rest.starts_with(INSTRUCTION.0));
            }
            if start > 0 && start < end {
                let before = &text[..start];
                let is_end = |mark: &&str| before.ends_with(*mark);
                prop_assert!(HEADERS.iter().chain([&INSTRUCTION.1]).any(is_end));
            }
        }
    }
}
