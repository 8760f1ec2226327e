//! Whether a text was cut off: what is open where it ends may be the answer, and hide that one was begun.
//!
//! It protects drafts and examples from being taken for the answer that never came. What is open around a
//! value, as a fence that is not closed, is no matter.

use memchr::memmem;

use super::{Finder, Opened, fence, role};

/// What the tags are called between which models answer, without what is no letter and no digit.
const ANSWERS: [&str; 15] = [
    "toolcall",
    "toolcalls",
    "tooluse",
    "functioncall",
    "functioncalls",
    "function",
    "invoke",
    "answer",
    "finalanswer",
    "final",
    "output",
    "structuredoutput",
    "response",
    "result",
    "json",
];

/// How long such a tag may be.
const TAG_LIMIT: usize = 64;

/// How far behind a value the fence may stand that closes a block which was opened before the text. Each fence
/// looks back so far.
const GAP_LIMIT: usize = 64;

impl Finder<'_> {
    /// Claims that a block of JSON, a tag or a thought is open at the end, and nothing was said in it. A fence
    /// without a language is one too many, most often.
    pub(super) fn is_open_at_end(&self) -> bool {
        let is_empty = |from: usize| {
            self.text.get(from..).is_some_and(|inside| role::is_tokens(inside.trim()))
        };
        let announced = self.opened.as_ref().filter(|opened| opened.is_json);
        self.is_thinking
            || announced.is_some_and(|opened| is_empty(opened.start))
            || ends_with_tag(self.text)
    }

    /// Claims that the piece at `start`, which cannot be read on at `offset`, runs to the end of the text.
    ///
    /// A bracket that is quoted, as in `the "{" there`, opens nothing.
    pub(super) fn is_cut_at(&self, start: usize, offset: usize) -> bool {
        let rest = self.text.get(offset..).unwrap_or_default();
        let is_end = rest.chars().all(|it| it.is_whitespace() || it == '`' || it == '~');
        let quote = |at: usize| self.bytes.get(at).filter(|byte| b"\"'".contains(byte));
        let before = start.checked_sub(1).and_then(quote);
        is_end && (before.is_none() || before != quote(start + 1))
    }

    /// Notes the fence from `start` to `end`, with nothing but white space behind it on its line.
    pub(super) fn note_fence(&mut self, start: usize, end: usize, tag: &str) {
        if !fence::is_first(self.text, start) {
            return;
        }
        match (&self.opened, tag) {
            (Some(_), "") => self.opened = None,
            // It closes the block that another one stood in.
            (None, "") if self.around > 0 => self.around -= 1,
            // The text begins in a block: the fence that opened it is in the prompt.
            (None, "") if self.closes_prompt(start, end) => {}
            (opened, _) => {
                self.around += usize::from(opened.is_some());
                self.opened = Some(Opened { start: end, is_json: fence::is_json(tag) });
            }
        }
    }

    /// Claims that the fence from `start` to `end` closes a block that was opened before the text, in the
    /// prompt: it is the last one, and stands behind a value.
    pub(super) fn closes_prompt(&self, start: usize, end: usize) -> bool {
        let last = self.found.candidates.last().map(|candidate| candidate.reading.range.end);
        let between = last.and_then(|end| self.text.get(end..start));
        let is_behind = |between: &str| between.len() <= GAP_LIMIT && between.trim().is_empty();
        let is_last = || {
            let behind = self.bytes.get(end..).unwrap_or_default();
            [&b"```"[..], b"~~~"].iter().all(|fence| memmem::find(behind, fence).is_none())
        };
        self.opened.is_none() && self.around == 0 && between.is_some_and(is_behind) && is_last()
    }
}

/// Claims that the last line of `text` opens what models put around an answer.
fn ends_with_tag(text: &str) -> bool {
    let text = text.trim_end();
    let near = text.ceil_char_boundary(text.len().saturating_sub(TAG_LIMIT));
    let near = text.get(near..).unwrap_or_default();
    let line = near.rsplit_once('\n').map_or(near, |(_, line)| line).trim_start();
    let inside = |open: char, close: char| line.strip_prefix(open)?.strip_suffix(close);
    let is_loud = |inside: &&str| {
        inside
            .chars()
            .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || "_- ".contains(it))
    };
    let tag = inside('<', '>').or_else(|| inside('[', ']').filter(is_loud));
    let Some(inside) = tag else { return false };
    // `<function=out>` and `<invoke name="out">`, too.
    let word = inside.split(|it: char| it.is_whitespace() || it == '=').next().unwrap_or_default();
    let name: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_answer = ANSWERS.iter().any(|answer| name.eq_ignore_ascii_case(answer));
    !inside.starts_with(['/', '|']) && is_answer
}
