//! Think blocks: what a model says to itself is no answer.

/// A tag that opens a think block, and the one that closes it, in any case.
const TAGS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// A tag of a think block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thought {
    /// A whole block, or one that never ends; what follows starts at `end`. It opens on a line
    /// of its own: a tag amid a line is only mentioned there.
    Block { end: usize },
    /// A closing tag whose opening tag is not in the text, or encloses another block: some chat
    /// templates put it in the prompt. All before `end` was thought.
    Close { end: usize },
}

/// Returns the thought whose tag is at `at`.
pub(super) fn thought_at(text: &str, at: usize) -> Option<Thought> {
    let rest = text.get(at..)?;
    TAGS.iter().find_map(|(open, close)| {
        if strip_tag(rest, close).is_some() {
            return Some(Thought::Close { end: at + close.len() });
        }
        let inside = strip_tag(rest, open)?;
        let before = text.get(..at)?.trim_end_matches([' ', '\t']);
        if !(before.is_empty() || before.ends_with(['\n', '>', '\u{feff}'])) {
            return None;
        }
        let closes = |offset: &usize| {
            inside.get(*offset..).is_some_and(|tag| strip_tag(tag, close).is_some())
        };
        let length = memchr::memchr_iter(b'<', inside.as_bytes())
            .find(closes)
            .map_or(inside.len(), |offset| offset + close.len());
        Some(Thought::Block { end: at + open.len() + length })
    })
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
    memchr::memrchr_iter(b'<', rest.as_bytes()).find_map(|offset| {
        let tag = rest.get(offset..)?;
        let (_, close) = TAGS.iter().find(|(_, close)| {
            strip_tag(tag, close).is_some_and(|behind| behind.starts_with('\n'))
        })?;
        Some(from + offset + close.len())
    })
}
