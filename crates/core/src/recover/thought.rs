//! Think blocks: what a model says to itself is no answer.

use memchr::memmem;

/// A tag that opens a think block, and the one that closes it.
const TAGS: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// A tag of a think block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thought {
    /// A whole block, or one that never ends; what follows starts at `end`. It opens on a line
    /// of its own: a tag amid a line is only mentioned there.
    Block { end: usize },
    /// A closing tag at the end of a line, whose opening tag is not in the text: some chat
    /// templates put it in the prompt. All before `end` was thought.
    Close { end: usize },
}

/// Returns the thought whose tag is at `at`.
pub(super) fn thought_at(text: &str, at: usize) -> Option<Thought> {
    let rest = text.get(at..)?;
    TAGS.iter().find_map(|(open, close)| {
        if let Some(behind) = rest.strip_prefix(close) {
            let ends_line = behind.trim_start_matches([' ', '\r']).starts_with('\n');
            return ends_line.then_some(Thought::Close { end: at + close.len() });
        }
        let inside = rest.strip_prefix(open)?;
        let before = text.get(..at)?.trim_end_matches([' ', '\t']);
        if !(before.is_empty() || before.ends_with(['\n', '>', '\u{feff}'])) {
            return None;
        }
        let length = memmem::find(inside.as_bytes(), close.as_bytes())
            .map_or(inside.len(), |offset| offset + close.len());
        Some(Thought::Block { end: at + open.len() + length })
    })
}

/// Finds the end of the last closing tag behind `from` that ends its line.
///
/// JSON strings hold no raw line ends, so such a tag is none of a string's.
pub(super) fn last_close(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memrchr_iter(b'<', rest.as_bytes()).find_map(|offset| {
        let tag = rest.get(offset..)?;
        let (_, close) = TAGS.iter().find(|(_, close)| {
            tag.strip_prefix(close).is_some_and(|behind| behind.starts_with('\n'))
        })?;
        Some(from + offset + close.len())
    })
}
