//! Whose words a text holds: chat templates name the role before each message, and a server that does not
//! know the token that ends the model's lets it go on with those of others, or repeats the prompt before.
//!
//! A model may also speak of such a header. A turn is certain only behind a token that ends a message in which
//! nothing is said but an answer; elsewhere the words are judged both ways, and must come to the same.

use std::ops::Range;

use memchr::memmem;

use super::thought::{MESSAGE, last_close};

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
const PAIRS: [(&str, &str); 13] = [
    ("[INST]", "[/INST]"),
    ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ("<|user|>", "<|assistant|>"),
    ("<|tool|>", "<|assistant|>"),
    ("<|observation|>", "<|assistant|>"),
    ("<|system|>", "<|assistant|>"),
    ("<|im_user|>", "<|im_assistant|>"),
    ("<|im_system|>", "<|im_assistant|>"),
    ("<\u{ff5c}User\u{ff5c}>", "<\u{ff5c}Assistant\u{ff5c}>"),
    ("<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"),
    ("<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>", "<|CHATBOT_TOKEN|>"),
];

/// How the names of tools begin, and what opens their words without a name.
const TOOLS: [&str; 4] = ["tool", "ipython", "function", "observation"];
const TOOL_OPENS: [&str; 3] = ["[TOOL_RESULTS]", "<|tool|>", "<|observation|>"];

/// What stands before the words of a tool where they are put into the user's mouth.
const TOOL_TAG: &str = "<tool_response>";

/// What a text begins with before anything is said.
const BEGINNINGS: [&str; 11] = [
    "<s>",
    "</s>",
    "<bos>",
    "<BOS_TOKEN>",
    "[gMASK]",
    "<sop>",
    "<|begin_of_text|>",
    "<|startoftext|>",
    "<|endoftext|>",
    "<\u{ff5c}begin\u{2581}of\u{2581}sentence\u{ff5c}>",
    "\u{feff}",
];

/// What ends a message, besides tokens with bars.
const ENDS: [&str; 3] = ["</s>", "<end_of_turn>", "<eos>"];

/// How tokens with bars begin and end.
const BARS: [(&str, &str); 2] = [("<|", "|>"), ("<\u{ff5c}", "\u{ff5c}>")];

/// How long a token with bars may be: a hostile text may hold nothing else.
const TOKEN_LIMIT: usize = 64;

/// How many turns are looked past.
const TURN_LIMIT: usize = 64;

/// Where the model's own words are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) range: Range<usize>,
    /// What else may be the model's: its answer is one only if this comes to the same.
    pub(crate) also: Option<Range<usize>>,
    /// What the model said first behind a prompt, if it is not all that it said: another answer there may be
    /// its own, and the last one made up.
    pub(crate) earlier: Option<Range<usize>>,
}

/// A turn of somebody else.
struct Turn {
    at: usize,
    end: TurnEnd,
    /// Whether a tool speaks: what the model said before may have called it, and be no answer.
    is_of_tool: bool,
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
    // What the model said first behind a prompt, as far as that goes.
    let mut first: Option<Range<usize>> = None;
    for _ in 0..TURN_LIMIT {
        let said = silence(text, start);
        let Some(turn) = foreign(text, start, said) else {
            return Own::new(start..text.len(), first, text.len());
        };
        let is_silent = turn.at <= said;
        let next = (is_silent || first.is_some()).then(|| resumes(text, &turn)).flatten();
        match next {
            Some(next) => {
                first = match first {
                    Some(first) if first.end < text.len() => Some(first),
                    Some(first) if !is_silent => Some(first.start..turn.at),
                    _ => Some(next..text.len()),
                };
                start = next;
            }
            None if is_silent => return Own::new(turn.at..turn.at, None, turn.at),
            None => {
                let is_certain =
                    !turn.is_of_tool && text.get(start..turn.at).is_some_and(is_answer);
                let until = if is_certain { turn.at } else { text.len() };
                return Own::new(start..turn.at, first, until);
            }
        }
    }
    Own::new(start..start, None, start)
}

impl Own {
    fn new(range: Range<usize>, first: Option<Range<usize>>, until: usize) -> Self {
        let from = first.as_ref().map_or(range.start, |first| first.start);
        let also = from..until;
        let earlier = first.filter(|first| first.start < range.start);
        Self { also: (also != range).then_some(also), earlier, range }
    }
}

/// Claims that a message says nothing but an answer, perhaps behind thoughts, and is ended by a token.
fn is_answer(message: &str) -> bool {
    let said = last_close(message, 0).or_else(|| {
        let body = memmem::rfind(message.as_bytes(), MESSAGE.as_bytes())?;
        Some(body + MESSAGE.len())
    });
    let said = message.get(said.unwrap_or(0)..).unwrap_or_default().trim();
    let (mut answer, mut is_ended) = (said, false);
    loop {
        let before = match without_token(answer) {
            Some(before) => {
                is_ended = true;
                before
            }
            None => match BEGINNINGS.iter().find_map(|next| answer.strip_suffix(next)) {
                Some(before) => before,
                None => break,
            },
        };
        answer = before.trim_end();
    }
    let stands = |opens: &[&str], closes: &[&str]| {
        opens.iter().any(|it| answer.starts_with(it))
            && closes.iter().any(|it| answer.ends_with(it))
    };
    let is_scalar = || !answer.contains(char::is_whitespace);
    let is_whole = stands(&["{", "["], &["}", "]"]) || stands(&["```", "~~~"], &["```", "~~~"]);
    is_ended && !answer.is_empty() && (is_whole || is_scalar())
}

/// Finds the first turn of somebody else from `from` on, where something is `said` first.
fn foreign(text: &str, from: usize, said: usize) -> Option<Turn> {
    marks(text, from).find_map(|at| {
        let rest = text.get(at..)?;
        let end = opens(rest)?;
        let is_turn = at <= said || is_apart(text.get(from..at)?);
        is_turn.then(|| Turn { at, end, is_of_tool: is_of_tool(rest) })
    })
}

/// Claims that a tool speaks in the turn that `rest` begins with.
fn is_of_tool(rest: &str) -> bool {
    let Some(role) = HEADERS.iter().find_map(|header| rest.strip_prefix(header)) else {
        return TOOL_OPENS.iter().any(|opens| rest.starts_with(opens));
    };
    let role = role.trim_start();
    let is_named =
        |name: &&str| role.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let words = role.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    let words = HEADER_ENDS.iter().find_map(|end| words.strip_prefix(end)).unwrap_or(words);
    TOOLS.iter().any(is_named) || words.trim_start().starts_with(TOOL_TAG)
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
    if let Some((header, role)) = named {
        return words(role).is_none().then_some(TurnEnd::Header(header));
    }
    let (_, mark) = PAIRS.iter().find(|(opens, _)| rest.starts_with(opens))?;
    Some(TurnEnd::Mark(mark))
}

/// Claims that `before` ends with a line, or with a token: no string of JSON goes on behind a line end.
fn is_apart(before: &str) -> bool {
    let trimmed = |text: &'_ str| text.trim_end_matches([' ', '\t']).len();
    let mut before = before.get(..trimmed(before)).unwrap_or_default();
    // What a text begins with stands before each turn, in some templates.
    while let Some(rest) = BEGINNINGS.iter().find_map(|beginning| before.strip_suffix(beginning)) {
        if ENDS.iter().any(|end| before.ends_with(end)) {
            return true;
        }
        before = rest.get(..trimmed(rest)).unwrap_or_default();
    }
    before.is_empty() || before.ends_with('\n') || without_token(before).is_some()
}

/// Returns `text` without the token that ends it, if one does.
fn without_token(text: &str) -> Option<&str> {
    let end = ENDS.iter().find_map(|end| text.strip_suffix(end));
    end.or_else(|| {
        BARS.iter().find_map(|(opens, closes)| {
            let before = text.strip_suffix(closes)?;
            let near = before.ceil_char_boundary(before.len().saturating_sub(TOKEN_LIMIT));
            let (_, name) = before.get(near..)?.rsplit_once(opens)?;
            is_name(name).then(|| before.get(..before.len() - name.len() - opens.len()))?
        })
    })
}

/// Claims that nothing but tokens and white space is in `text`.
pub(super) fn is_tokens(text: &str) -> bool {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = ENDS.iter().find_map(|end| rest.strip_prefix(end));
        let token = || {
            BARS.iter().find_map(|(opens, closes)| {
                let behind = rest.strip_prefix(opens)?;
                let near = behind.floor_char_boundary(TOKEN_LIMIT);
                let (name, _) = behind.get(..near)?.split_once(closes)?;
                is_name(name).then(|| behind.get(name.len() + closes.len()..))?
            })
        };
        match end.or_else(token) {
            Some(behind) => rest = behind.trim_start(),
            None => return false,
        }
    }
    true
}

/// Claims that a token may be called so.
fn is_name(name: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == '\u{2581}';
    !name.is_empty() && name.chars().all(is_part)
}

/// Finds what may be a header from `from` on, in one pass: most texts have none.
fn marks(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let may_open = |offset: &usize| {
        // By the second byte of every header: the last begins a character of three.
        matches!(rest.get(offset + 1), Some(b'|' | b's' | b'I' | b'S' | b'A' | b'T' | 0xEF))
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
