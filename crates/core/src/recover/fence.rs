//! Fences and code spans: what stands in them is meant as code.

/// The languages of an answer; a fence without one may hold an answer too.
const LANGUAGES: [&str; 4] = ["", "json", "jsonc", "json5"];

/// Finds the end of the run of equal bytes at `at`.
pub(super) fn run_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let first = rest.first();
    at + rest.iter().take_while(|byte| Some(*byte) == first).count()
}

/// Returns the language behind a fence's marker, and the end of its line; `None` if more words
/// follow than a language.
pub(super) fn tag(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text.get(at..)?;
    let length = memchr::memchr(b'\n', rest.as_bytes())?;
    let tag = rest.get(..length)?.trim();
    let is_tag = |byte: u8| byte.is_ascii_alphanumeric() || b"_+-.#".contains(&byte);
    tag.bytes().all(is_tag).then_some((tag, at + length))
}

/// Claims that a fence with this language holds program code.
pub(super) fn is_code(tag: &str) -> bool {
    !LANGUAGES.iter().any(|language| tag.eq_ignore_ascii_case(language))
}

/// Finds where the block of code that starts at `from` ends: behind its closing fence, or before
/// a fence that opens an answer.
pub(super) fn code_end(text: &str, from: usize, marker: u8) -> Option<usize> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let fence = at + (line.len() - line.trim_start().len());
        let ticks = run_end(text.as_bytes(), fence) - fence;
        if ticks >= 3 && text.as_bytes().get(fence) == Some(&marker) {
            let tag = text.get(fence + ticks..at + line.len())?.trim();
            if tag.is_empty() {
                return Some(fence + ticks);
            }
            if !is_code(tag) {
                return Some(at);
            }
        }
        at += line.len();
    }
    None
}

/// Finds the ticks in the same line that close the span whose ticks are from `start` to `end`.
pub(super) fn span_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let mut at = end;
    loop {
        let rest = bytes.get(at..)?;
        let found = at + memchr::memchr2(b'`', b'\n', rest)?;
        if bytes.get(found) == Some(&b'\n') {
            return None;
        }
        at = run_end(bytes, found);
        if at - found == end - start {
            return Some(found);
        }
    }
}
