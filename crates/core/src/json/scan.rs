//! The two JSON tokens with inner structure: strings and numbers.
//!
//! The parser, the repairer and the streaming checker all need to know where one ends.

use std::ops::ControlFlow;

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
    let mut at = start;
    let mut escaped = false;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let run = memchr::memchr2(b'"', b'\\', rest);
        let span = rest.get(..run.unwrap_or(rest.len())).unwrap_or_default();
        // A fold over the minimum is vectorised; a search for the first byte is not.
        if span.iter().fold(u8::MAX, |least, byte| least.min(*byte)) < 0x20 {
            let control = span.iter().position(|byte| *byte < 0x20).unwrap_or_default();
            return StringEnd::Control { at: at + control };
        }
        let Some(run) = run else {
            return StringEnd::Open;
        };
        at += run + 1;
        if rest.get(run) == Some(&b'"') {
            return StringEnd::Closed { end: at, escaped };
        }
        escaped = true;
        at += 1;
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
