//! The quotes that people, languages and word processors put around strings.

use crate::json::find;

/// A style of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// `"`, which is JSON.
    Double,
    /// `'`.
    Single,
    /// `“ ” „ ‟`.
    CurlyDouble,
    /// `‘ ’ ‚ ‛`.
    CurlySingle,
}

impl Quote {
    /// Returns the style of the quote at `at`.
    #[inline]
    pub(super) fn at(bytes: &[u8], at: usize) -> Option<Self> {
        match bytes.get(at)? {
            b'"' => Some(Self::Double),
            b'\'' => Some(Self::Single),
            // U+2018 to U+201F are the eight typographic quotes.
            0xE2 => match (bytes.get(at + 1)?, bytes.get(at + 2)?) {
                (0x80, 0x98..=0x9B) => Some(Self::CurlySingle),
                (0x80, 0x9C..=0x9F) => Some(Self::CurlyDouble),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns how many bytes the quote takes.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Double | Self::Single => 1,
            Self::CurlyDouble | Self::CurlySingle => 3,
        }
    }

    /// Claims that this style is used for apostrophes too.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Self::Single | Self::CurlySingle)
    }

    /// Finds the next byte from `at` that may end the string, escape something, or need escaping:
    /// quotes, backslashes and control characters.
    #[inline]
    pub(super) fn next_mark(self, bytes: &[u8], at: usize) -> Option<usize> {
        let first = match self {
            Self::Double => b'"',
            Self::Single => b'\'',
            Self::CurlyDouble | Self::CurlySingle => 0xE2,
        };
        find(
            bytes,
            at,
            |word| word.equal(first) | word.equal(b'\\') | word.equal(b'"') | word.below(0x20),
            |byte| byte == first || byte == b'\\' || byte == b'"' || byte < 0x20,
        )
    }
}
