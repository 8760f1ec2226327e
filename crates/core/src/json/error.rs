//! What can be wrong with a text that should be JSON.

use std::fmt;

/// Why a text is not a JSON document, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at line {line} column {column}")]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Byte offset.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// What is wrong with a text that is not a JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// There is nothing but white space.
    Empty,
    /// The text ends too early.
    Truncated,
    /// Something else should stand here.
    Unexpected {
        /// The character that was found.
        found: char,
        /// What could stand here.
        expected: &'static str,
    },
    /// A complete value is followed by more.
    TrailingData,
    /// The text starts with a byte order mark.
    ByteOrderMark,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// A backslash is followed by what JSON does not know.
    InvalidEscape,
    /// Half of a surrogate pair, which stands for no character.
    LoneSurrogate,
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// A number is malformed.
    InvalidNumber,
    /// A number is too large for any machine type.
    NumberOutOfRange,
    /// Too many nested containers.
    TooDeep {
        /// How many are allowed.
        limit: usize,
    },
    /// Too many bytes.
    TooLarge {
        /// How many there are.
        size: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// Too many values.
    TooManyNodes {
        /// How many are allowed.
        limit: usize,
    },
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("no JSON"),
            Self::Truncated => formatter.write_str("unexpected end"),
            Self::Unexpected { found, expected } => {
                write!(formatter, "unexpected `{}`, expected {expected}", found.escape_debug())
            }
            Self::TrailingData => formatter.write_str("more text after the value"),
            Self::ByteOrderMark => formatter.write_str("byte order mark"),
            Self::InvalidUtf8 => formatter.write_str("invalid UTF-8"),
            Self::InvalidEscape => formatter.write_str("invalid escape"),
            Self::LoneSurrogate => formatter.write_str("lone surrogate"),
            Self::ControlCharacter => formatter.write_str("unescaped control character"),
            Self::InvalidNumber => formatter.write_str("invalid number"),
            Self::NumberOutOfRange => formatter.write_str("number out of range"),
            Self::TooDeep { limit } => write!(formatter, "more than {limit} nested levels"),
            Self::TooLarge { size, limit } => {
                write!(formatter, "{size} bytes, over the limit of {limit}")
            }
            Self::TooManyNodes { limit } => write!(formatter, "more than {limit} values"),
        }
    }
}

impl ParseError {
    /// Locates `offset` in `text`.
    pub(crate) fn new(kind: ParseErrorKind, text: &str, offset: usize) -> Self {
        Self::locate(kind, text.as_bytes(), offset)
    }

    fn locate(kind: ParseErrorKind, bytes: &[u8], offset: usize) -> Self {
        let before = bytes.get(..offset.min(bytes.len())).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let in_line = before.get(line_start..).unwrap_or_default();
        let column = in_line.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
        Self { kind, offset, line, column }
    }
}

/// Returns `bytes` as text, or where they stop being UTF-8.
pub(crate) fn as_text(bytes: &[u8]) -> Result<&str, ParseError> {
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        ParseError::locate(ParseErrorKind::InvalidUtf8, bytes, error.valid_up_to())
    })
}
