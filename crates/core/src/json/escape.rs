//! Escapes in strings: what one stands for.

use super::error::ParseErrorKind;

/// Undoes the escapes of JSON, wherever they stand; what is none stays.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) =
        memchr::memchr(b'\\', rest.as_bytes()).and_then(|at| rest.split_at_checked(at))
    {
        out.push_str(before);
        let (character, length) = decode_escape(behind).unwrap_or(('\\', 1));
        out.push(character);
        rest = behind.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Decodes the escape at the start of `text` and returns how long it is.
pub(crate) fn decode_escape(text: &str) -> Result<(char, usize), ParseErrorKind> {
    let plain = match text.as_bytes().get(1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return decode_unicode(text),
        _ => return Err(ParseErrorKind::InvalidEscape),
    };
    Ok((plain, 2))
}

fn decode_unicode(text: &str) -> Result<(char, usize), ParseErrorKind> {
    let unit = |at: usize| -> Result<u32, ParseErrorKind> {
        let digits = text.get(at..at + 4).ok_or(ParseErrorKind::InvalidEscape)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(ParseErrorKind::InvalidEscape);
        }
        u32::from_str_radix(digits, 16).map_err(|_| ParseErrorKind::InvalidEscape)
    };
    let first = unit(2)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 6));
    }
    let is_high = (0xD800..0xDC00).contains(&first);
    if !is_high || text.get(6..8) != Some("\\u") {
        return Err(ParseErrorKind::LoneSurrogate);
    }
    let second = unit(8)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(ParseErrorKind::LoneSurrogate);
    }
    let scalar = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    char::from_u32(scalar).map(|pair| (pair, 12)).ok_or(ParseErrorKind::LoneSurrogate)
}
