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
pub(crate) fn string_end(bytes: &[u8], start: usize) -> StringEnd {
    string_end_by(bytes, start, b'"', next_mark)
}

/// Finds the end of the string whose opening quote is just before `start`; fails with the place up
/// to which it is plain, if something in it is escaped or should be.
#[inline]
pub(super) fn plain_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    end_at(bytes, next_mark(bytes, start), b'"')
}

/// Finds the end of a string in single quotes like [`plain_end`].
#[inline]
pub(super) fn plain_single_quoted_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    end_at(bytes, next_mark_or_single(bytes, start), b'\'')
}

#[inline]
fn end_at(bytes: &[u8], mark: Option<usize>, quote: u8) -> Result<usize, usize> {
    let mark = mark.unwrap_or(bytes.len());
    if bytes.get(mark) == Some(&quote) { Ok(mark + 1) } else { Err(mark) }
}

/// Finds what means something in a string: a quote, a backslash, a control character.
#[inline]
pub(super) fn next_mark(bytes: &[u8], from: usize) -> Option<usize> {
    let marks = |word: Word| word.quotes_and_controls() | word.equal(b'\\');
    find(bytes, from, marks, |byte| matches!(byte, b'"' | b'\\' | 0..0x20))
}

/// Finds the same, and single quotes: for strings in those, where JSON has both kinds escaped.
#[inline]
pub(super) fn next_mark_or_single(bytes: &[u8], from: usize) -> Option<usize> {
    let marks = |word: Word| word.quotes_and_controls() | word.equal(b'\\') | word.equal(b'\'');
    find(bytes, from, marks, |byte| matches!(byte, b'"' | b'\'' | b'\\' | 0..0x20))
}

/// Finds the end of a string in which `next_mark` finds what means something.
pub(super) fn string_end_by(
    bytes: &[u8],
    start: usize,
    quote: u8,
    next_mark: impl Fn(&[u8], usize) -> Option<usize>,
) -> StringEnd {
    let mut at = start;
    let mut escaped = false;
    loop {
        let Some(mark) = next_mark(bytes, at) else {
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
