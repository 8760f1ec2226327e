//! The quotes that people, languages and word processors put around strings.

use crate::json::find;

/// What `'` has more than `"`: one test without these bits finds both.
const SINGLE_BITS: u8 = b'\'' ^ b'"';

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

    /// What has the bits of a quote; one test for both straight quotes finds these too.
    pub(super) const MISTAKEN: [u8; 2] = [b'#', b'&'];

    /// Claims that this style is straight, and that such a quote stands at `at`.
    #[inline]
    pub(super) fn is_straight_at(self, bytes: &[u8], at: usize) -> bool {
        match bytes.get(at) {
            Some(b'"') => self == Self::Double,
            Some(b'\'') => self == Self::Single,
            _ => false,
        }
    }

    /// Finds the next byte from `at` that may end the string, escape something, or need escaping:
    /// quotes, backslashes and control characters; in single quotes also [`Self::MISTAKEN`].
    #[inline]
    pub(super) fn next_mark(self, bytes: &[u8], at: usize) -> Option<usize> {
        match self {
            Self::Double => find(
                bytes,
                at,
                |word| word.equal(b'"') | word.equal(b'\\') | word.below(0x20),
                |byte| byte == b'"' || byte == b'\\' || byte < 0x20,
            ),
            Self::Single => find(
                bytes,
                at,
                |word| word.without(SINGLE_BITS).equal(b'"') | word.equal(b'\\') | word.below(0x20),
                |byte| byte & !SINGLE_BITS == b'"' || byte == b'\\' || byte < 0x20,
            ),
            Self::CurlyDouble | Self::CurlySingle => find(
                bytes,
                at,
                |word| word.equal(0xE2) | word.equal(b'\\') | word.equal(b'"') | word.below(0x20),
                |byte| byte == 0xE2 || byte == b'\\' || byte == b'"' || byte < 0x20,
            ),
        }
    }
}
