//! The inside of a string, decoded piece by piece.

use crate::json::ParseErrorKind;

/// What the next bytes of a string are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'b> {
    /// Part of a character or escape; the rest has not come.
    Nothing,
    /// Plain characters.
    Run(&'b str),
    /// A character that was escaped, or whose bytes came one by one.
    Character(char),
    /// The closing quote.
    End,
}

/// Where the reader stands between two pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Plain,
    /// The first bytes of a character, and how many there are.
    Partial([u8; 4], usize),
    Backslash,
    /// Inside `\u`: the value so far, its digits, and the high surrogate before it.
    Unicode {
        unit: u32,
        digits: u8,
        high: Option<u32>,
    },
    /// Behind a high surrogate, before `\`.
    Pair {
        high: u32,
    },
    /// Behind a high surrogate and `\`, before `u`.
    PairBackslash {
        high: u32,
    },
}

/// Decodes strings that arrive in parts.
#[derive(Debug)]
pub(super) struct TextReader(Inside);

impl Default for TextReader {
    fn default() -> Self {
        Self(Inside::Plain)
    }
}

impl TextReader {
    /// Reads one piece, and says how many of `bytes` it took; an error is at the first of them.
    pub(super) fn read<'b>(
        &mut self,
        bytes: &'b [u8],
    ) -> Result<(usize, Piece<'b>), ParseErrorKind> {
        let Some(&byte) = bytes.first() else {
            return Ok((0, Piece::Nothing));
        };
        let piece = match self.0 {
            Inside::Plain => return self.read_plain(byte, bytes),
            Inside::Partial(bytes, length) => self.read_partial(bytes, length, byte)?,
            Inside::Backslash => self.read_escape(byte)?,
            Inside::Unicode { unit, digits, high } => {
                let Some(digit) = char::from(byte).to_digit(16) else {
                    return Err(ParseErrorKind::InvalidEscape);
                };
                self.read_unit(unit * 16 + digit, digits + 1, high)?
            }
            Inside::Pair { high } if byte == b'\\' => self.wait(Inside::PairBackslash { high }),
            Inside::PairBackslash { high } if byte == b'u' => {
                self.wait(Inside::Unicode { unit: 0, digits: 0, high: Some(high) })
            }
            Inside::Pair { .. } | Inside::PairBackslash { .. } => {
                return Err(ParseErrorKind::LoneSurrogate);
            }
        };
        Ok((1, piece))
    }

    fn wait(&mut self, inside: Inside) -> Piece<'static> {
        self.0 = inside;
        Piece::Nothing
    }

    fn read_plain<'b>(
        &mut self,
        byte: u8,
        bytes: &'b [u8],
    ) -> Result<(usize, Piece<'b>), ParseErrorKind> {
        match byte {
            b'"' => return Ok((1, Piece::End)),
            b'\\' => return Ok((1, self.wait(Inside::Backslash))),
            0..0x20 => return Err(ParseErrorKind::ControlCharacter),
            _ => {}
        }
        let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        let length = bytes.iter().position(special).unwrap_or(bytes.len());
        let run = bytes.get(..length).unwrap_or_default();
        let valid = match std::str::from_utf8(run) {
            Ok(run) => run,
            Err(error) => run
                .get(..error.valid_up_to())
                .and_then(|valid| std::str::from_utf8(valid).ok())
                .unwrap_or_default(),
        };
        if valid.is_empty() {
            // Byte by byte, so that a fault is at the same byte however the text is cut.
            return self.read_partial([0; 4], 0, byte).map(|piece| (1, piece));
        }
        Ok((valid.len(), Piece::Run(valid)))
    }

    fn read_partial(
        &mut self,
        mut bytes: [u8; 4],
        length: usize,
        byte: u8,
    ) -> Result<Piece<'static>, ParseErrorKind> {
        let Some(slot) = bytes.get_mut(length) else {
            return Err(ParseErrorKind::InvalidUtf8);
        };
        *slot = byte;
        let length = length + 1;
        match std::str::from_utf8(bytes.get(..length).unwrap_or_default()) {
            Ok(whole) => {
                self.0 = Inside::Plain;
                Ok(whole.chars().next().map_or(Piece::Nothing, Piece::Character))
            }
            Err(error) if error.error_len().is_none() => {
                Ok(self.wait(Inside::Partial(bytes, length)))
            }
            Err(_) => Err(ParseErrorKind::InvalidUtf8),
        }
    }

    fn read_escape(&mut self, byte: u8) -> Result<Piece<'static>, ParseErrorKind> {
        let character = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return Ok(self.wait(Inside::Unicode { unit: 0, digits: 0, high: None })),
            _ => return Err(ParseErrorKind::InvalidEscape),
        };
        self.0 = Inside::Plain;
        Ok(Piece::Character(character))
    }

    fn read_unit(
        &mut self,
        unit: u32,
        digits: u8,
        high: Option<u32>,
    ) -> Result<Piece<'static>, ParseErrorKind> {
        if digits < 4 {
            return Ok(self.wait(Inside::Unicode { unit, digits, high }));
        }
        let scalar = match (high, unit) {
            (None, 0xD800..0xDC00) => return Ok(self.wait(Inside::Pair { high: unit })),
            (None, _) => unit,
            (Some(high), 0xDC00..0xE000) => 0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00),
            (Some(_), _) => return Err(ParseErrorKind::LoneSurrogate),
        };
        self.0 = Inside::Plain;
        char::from_u32(scalar).map(Piece::Character).ok_or(ParseErrorKind::LoneSurrogate)
    }
}
