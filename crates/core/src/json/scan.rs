//! The two JSON tokens with inner structure: strings and numbers.
//!
//! The parser, the repairer and the streaming checker all need to know where one ends.

use std::ops::ControlFlow;

use super::word::{Word, find};

/// How a string literal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringEnd {
    /// Closed: the offset behind the closing quote, and whether it holds escapes.
    Closed { end: usize, escaped: bool },
    /// A raw control character at this offset.
    Control { at: usize },
    /// The text ends inside the string.
    Open,
}

/// Finds the end of the string whose opening quote is just before `start`.
///
/// Escapes are skipped, not checked.
#[inline]
pub(crate) fn string_end(bytes: &[u8], start: usize) -> StringEnd {
    let marks = |word: Word| word.quotes_and_controls() | word.equal(b'\\');
    let is_marked = |byte: u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    string_end_at(bytes, start, b'"', |at| find(bytes, at, marks, is_marked))
}

/// Finds the end of the string in single quotes whose opening quote is just before `start`.
///
/// A double quote in it is reported like a control character: JSON has both escaped.
#[inline]
pub(super) fn single_quoted_end(bytes: &[u8], start: usize) -> StringEnd {
    let marks = |word: Word| word.quotes_and_controls() | word.equal(b'\\') | word.equal(b'\'');
    let is_marked = |byte: u8| matches!(byte, b'\'' | b'"' | b'\\' | 0..0x20);
    string_end_at(bytes, start, b'\'', |at| find(bytes, at, marks, is_marked))
}

#[inline]
fn string_end_at(
    bytes: &[u8],
    start: usize,
    quote: u8,
    next_mark: impl Fn(usize) -> Option<usize>,
) -> StringEnd {
    let mut at = start;
    let mut escaped = false;
    loop {
        let Some(mark) = next_mark(at) else {
            return StringEnd::Open;
        };
        match bytes.get(mark) {
            Some(byte) if *byte == quote => return StringEnd::Closed { end: mark + 1, escaped },
            Some(b'\\') => escaped = true,
            _ => return StringEnd::Control { at: mark },
        }
        at = mark + 2;
    }
}

/// Finds the end of the number that starts at `start`, or `None` if none is well formed there.
pub(crate) fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => digits_end(bytes, at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        at = at_least_one_digit(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = at_least_one_digit(bytes, at)?;
    }
    Some(at)
}

fn at_least_one_digit(bytes: &[u8], start: usize) -> Option<usize> {
    let end = digits_end(bytes, start);
    (end > start).then_some(end)
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let run = rest.iter().try_fold(0, |count, byte| {
        if byte.is_ascii_digit() {
            ControlFlow::Continue(count + 1)
        } else {
            ControlFlow::Break(count)
        }
    });
    start
        + match run {
            ControlFlow::Continue(count) | ControlFlow::Break(count) => count,
        }
}
