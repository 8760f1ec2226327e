//! Whose words a text holds: chat templates name the role before each message, and a server that does not
//! know the token that ends the model's lets it go on with those of others, or repeats the prompt before.
//!
//! A model may also speak of such a header. Only behind a token that ends a message, the first of its kind, is
//! a turn certain; elsewhere the words are judged both ways, and must come to the same.

use std::ops::Range;

use memchr::memmem;

use super::thought::last_close;

/// What stands before the name of a role.
const HEADERS: [&str; 6] = [
    "<|im_start|>",
    "<|start_header_id|>",
    "<start_of_turn>",
    "<|start|>",
    "<|header_start|>",
    "<|start_of_role|>",
];

/// What stands behind it, in some templates.
const HEADER_ENDS: [&str; 3] = ["<|end_header_id|>", "<|header_end|>", "<|end_of_role|>"];

/// The names of the model.
const MODEL: [&str; 2] = ["assistant", "model"];

/// What opens the words of somebody else without a name, and what opens the model's behind them.
const PAIRS: [(&str, &str); 10] = [
    ("[INST]", "[/INST]"),
    ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    ("<|user|>", "<|assistant|>"),
    ("<|system|>", "<|assistant|>"),
    ("<|im_user|>", "<|im_assistant|>"),
    ("<|im_system|>", "<|im_assistant|>"),
    ("<\u{ff5c}User\u{ff5c}>", "<\u{ff5c}Assistant\u{ff5c}>"),
    ("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"),
    ("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", "<|CHATBOT_TOKEN|>"),
];

/// What a text begins with before anything is said.
const BEGINNINGS: [&str; 8] = [
    "<s>",
    "</s>",
    "<bos>",
    "<|begin_of_text|>",
    "<|startoftext|>",
    "<|endoftext|>",
    "<\u{ff5c}begin\u{2581}of\u{2581}sentence\u{ff5c}>",
    "\u{feff}",
];

/// How tokens begin that stand behind an answer.
pub(super) const TOKENS: [&str; 5] = ["<|", "<\u{ff5c}", "</s>", "<end_of_turn>", "<eos>"];

/// How such tokens end.
const TOKEN_ENDS: [&str; 5] = ["|>", "\u{ff5c}>", "</s>", "<end_of_turn>", "<eos>"];

/// How many turns are looked past.
const TURN_LIMIT: usize = 64;

/// Where the model's own words are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) range: Range<usize>,
    /// What else may be the model's: its answer is one only if this comes to the same.
    pub(crate) also: Option<Range<usize>>,
}

/// A turn of somebody else.
struct Turn {
    at: usize,
    end: TurnEnd,
    /// Whether a token ends what is said before, which speaks of no header.
    is_behind_end: bool,
}

/// What opens the model's words behind a turn.
enum TurnEnd {
    /// The same header, with its name.
    Header(&'static str),
    Mark(&'static str),
}

/// Finds the model's own words: before the first turn of somebody else, or behind the last one if the text
/// begins with such a turn, as where the prompt is repeated.
pub(crate) fn own(text: &str) -> Own {
    let mut start = opened(text, silence(text, 0)).unwrap_or(0);
    // Where the model spoke first behind a prompt: whatever follows it may have made up.
    let mut first = None;
    for _ in 0..TURN_LIMIT {
        let said = silence(text, start);
        let Some(turn) = foreign(text, start, said) else {
            return Own::new(start..text.len(), first, text.len());
        };
        let is_silent = turn.at <= said;
        let next = (is_silent || first.is_some()).then(|| resumes(text, &turn)).flatten();
        match next {
            Some(next) => {
                first = first.filter(|_| !is_silent).or(Some(next));
                start = next;
            }
            None if is_silent => return Own::new(turn.at..turn.at, None, turn.at),
            None => {
                let is_certain = turn.is_behind_end && last_close(text, turn.at).is_none();
                let until = if is_certain { turn.at } else { text.len() };
                return Own::new(start..turn.at, first, until);
            }
        }
    }
    Own::new(start..start, None, start)
}

impl Own {
    fn new(range: Range<usize>, first: Option<usize>, until: usize) -> Self {
        let also = first.unwrap_or(range.start)..until;
        Self { also: (also != range).then_some(also), range }
    }
}

/// Finds the first turn of somebody else from `from` on, where something is `said` first.
fn foreign(text: &str, from: usize, said: usize) -> Option<Turn> {
    // Once a header is spoken of, so may be others.
    let mut is_spoken_of = false;
    marks(text, from).find_map(|at| {
        let end = opens(text.get(at..)?)?;
        let before = text.get(from..at)?;
        if at > said && !is_apart(before) {
            is_spoken_of = true;
            return None;
        }
        let is_behind_end = !is_spoken_of && ends_with_token(before.trim_end());
        Some(Turn { at, end, is_behind_end })
    })
}

/// Finds where the model's words begin behind the turn of somebody else: in the words of the same template.
fn resumes(text: &str, turn: &Turn) -> Option<usize> {
    let behind = text.get(turn.at..)?;
    let words = match turn.end {
        TurnEnd::Header(header) => marks(behind, 1).find_map(|at| {
            let words = words(behind.get(at..)?.strip_prefix(header)?)?;
            is_apart(behind.get(..at)?).then_some(words)
        }),
        TurnEnd::Mark(mark) => {
            let first = behind.get(memmem::find(behind.as_bytes(), mark.as_bytes())?..)?;
            let others = PAIRS.iter().filter(|(_, closes)| *closes == mark);
            let next =
                others.filter_map(|(opens, _)| memmem::find(first.as_bytes(), opens.as_bytes()));
            // The last one before the next turn: somebody else may speak of it.
            let part = first.get(..next.min().unwrap_or(first.len()))?;
            first.get(part.rfind(mark)? + mark.len()..)
        }
    };
    words.map(|words| text.len() - words.len())
}

/// Returns where the model's words begin if a header of it stands at `at`.
fn opened(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let named = HEADERS.iter().find_map(|header| words(rest.strip_prefix(header)?));
    let words = named.or_else(|| PAIRS.iter().find_map(|(_, mark)| rest.strip_prefix(mark)))?;
    Some(text.len() - words.len())
}

/// Returns the words behind the name of the model, if `role` begins with that.
fn words(role: &str) -> Option<&str> {
    let role = role.trim_start();
    let behind = MODEL.iter().find_map(|name| {
        let (start, behind) = role.split_at_checked(name.len())?;
        // The line end behind it may be lost.
        let is_whole = !behind.starts_with(|next: char| next.is_ascii_lowercase());
        (start.eq_ignore_ascii_case(name) && is_whole).then_some(behind)
    })?;
    Some(HEADER_ENDS.iter().find_map(|end| behind.strip_prefix(end)).unwrap_or(behind))
}

/// Returns how the turn of somebody else ends that `rest` begins with.
fn opens(rest: &str) -> Option<TurnEnd> {
    let named = HEADERS.iter().find_map(|header| Some((*header, rest.strip_prefix(header)?)));
    match named {
        Some((header, role)) => words(role).is_none().then_some(TurnEnd::Header(header)),
        None => {
            let pair = PAIRS.iter().find(|(opens, _)| rest.starts_with(opens));
            pair.map(|(_, mark)| TurnEnd::Mark(mark))
        }
    }
}

/// Claims that `before` ends with a line, or with a token: no string of JSON goes on behind a line end.
fn is_apart(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n') || ends_with_token(before)
}

fn ends_with_token(before: &str) -> bool {
    TOKEN_ENDS.iter().any(|end| before.ends_with(end))
}

/// Finds what may be a header from `from` on, in one pass: most texts have none.
fn marks(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let may_open = |offset: &usize| {
        // By the second byte of every header: the last begins a character of three.
        matches!(rest.get(offset + 1), Some(b'|' | b's' | b'I' | b'S' | b'A' | 0xEF))
    };
    memchr::memchr2_iter(b'<', b'[', rest).filter(may_open).map(move |offset| from + offset)
}

/// Returns where something is said first from `from` on.
fn silence(text: &str, from: usize) -> usize {
    let mut rest = text.get(from..).unwrap_or_default().trim_start();
    while let Some(more) = BEGINNINGS.iter().find_map(|beginning| rest.strip_prefix(beginning)) {
        rest = more.trim_start();
    }
    text.len() - rest.len()
}

#[cfg(test)]
mod tests;
