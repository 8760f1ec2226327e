//! Think blocks: what a model says to itself is no answer, nor is what a tool told it.

use memchr::memmem;

/// A tag that opens a think block, and the one that closes it, in any case.
const TAGS: [(&str, &str); 15] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<analysis>", "</analysis>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<antThinking>", "</antThinking>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<tool_response>", "</tool_response>"),
    ("◁think▷", "◁/think▷"),
];

/// The first byte of those that are not ASCII.
pub(super) const LEAD: u8 = 0xE2;

/// Opens a message's header in the harmony format, which names the channel.
const CHANNEL: &str = "<|channel|>";

/// Ends that header.
pub(super) const MESSAGE: &str = "<|message|>";

/// The only channel that answers; the others are thoughts and calls of tools.
const FINAL: &str = "final";

/// A tag of a think block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thought {
    /// A block that opens on a line of its own, and may never end; what follows starts at `end`.
    Block { end: usize },
    /// Such a block that never ends, so that all that follows is a thought.
    Endless,
    /// All before `end` was thought, or cannot be told from it: the opening tag is in the prompt,
    /// stands amid a line, or encloses another block.
    Close { end: usize },
}

/// Returns the thought whose tag is at `at`.
pub(super) fn thought_at(text: &str, at: usize) -> Option<Thought> {
    let rest = text.get(at..)?;
    if let Some(header) = rest.strip_prefix(CHANNEL) {
        return Some(channel(header, text.len() - header.len()));
    }
    TAGS.iter().find_map(|(open, close)| {
        if strip_tag(rest, close).is_some() {
            return Some(Thought::Close { end: at + close.len() });
        }
        let inside = strip_tag(rest, open)?;
        let closes = |offset: &usize| {
            inside.get(*offset..).is_some_and(|tag| strip_tag(tag, close).is_some())
        };
        let length = brackets(inside).find(closes).map(|at| at + close.len());
        let is_endless = length.is_none();
        let end = at + open.len() + length.unwrap_or(inside.len());
        Some(match is_apart(text, at) {
            true if is_endless => Thought::Endless,
            true => Thought::Block { end },
            false => Thought::Close { end },
        })
    })
}

/// Claims that a tag at `at` stands at the start of a line, or behind another tag.
pub(super) fn is_apart(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '>', '\u{feff}'])
}

/// Returns the thought that a message with this `header`, which starts at `at`, ends or is.
fn channel(header: &str, at: usize) -> Thought {
    let next = memmem::find(header.as_bytes(), CHANNEL.as_bytes()).unwrap_or(header.len());
    let own = header.as_bytes().get(..next).unwrap_or_default();
    match memmem::find(own, MESSAGE.as_bytes()) {
        Some(body) if header.trim_start().starts_with(FINAL) => {
            Thought::Close { end: at + body + MESSAGE.len() }
        }
        _ => Thought::Block { end: at + next },
    }
}

/// Finds the bytes that a tag may start with.
fn brackets(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    memchr::memchr3_iter(b'<', b'[', LEAD, text.as_bytes())
}

/// Returns what follows `tag` at the start of `text`.
fn strip_tag<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(tag.len())?;
    start.eq_ignore_ascii_case(tag).then_some(rest)
}

/// Finds the end of the last closing tag behind `from` that ends its line.
///
/// JSON strings hold no raw line ends, so such a tag is none of a string's.
pub(super) fn last_close(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    brackets(rest).rev().find_map(|offset| {
        let tag = rest.get(offset..)?;
        let (_, close) = TAGS.iter().find(|(_, close)| {
            strip_tag(tag, close).is_some_and(|behind| behind.starts_with('\n'))
        })?;
        Some(from + offset + close.len())
    })
}
